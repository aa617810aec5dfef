"""Scripted replies to signs of known sizes: every number of the report is known beforehand."""

import json
import re
from collections.abc import Sequence
from typing import Any

import pytest

from gigavqa.contract.requests import Condition
from gigavqa.contract.responses import Response
from gigavqa.evaluation.metrics.estimates import Estimate
from gigavqa.evaluation.replies import reply_of
from gigavqa.reports.report import Report, build_report, report_on_tally, tally_replies
from gigavqa.reports.tallies import dump_tally, merge_tally
from gigavqa.tiling.views import View
from gigavqa_acuity.benchmark import Acuity
from gigavqa_acuity.judging import pixels_per_optotype
from gigavqa_acuity.samples import AcuitySample, Optotype
from gigavqa_acuity.taxonomy import LETTERS, Attribute
from plugins.acuity.tests.signs import (
    SIDE,
    answered,
    around,
    chart,
    letter_of,
    record_of,
    report_of,
    rings,
    signs_of,
    views_of,
)
from tests.evaluation.responses import MODEL
from tests.reports.tables import caveats_of, percent_of, percents_of, table_of, value_of, values_of

LARGE, SMALL = 4096, 32
"""Rings of 8, 24 and 96 pixels in the rasters of V1, V2 and V3; and of less than one, less than one, and 32."""
SIGNS = list(signs_of(rings([LARGE] * 16 + [SMALL] * 16), around))


def wrong(sign: AcuitySample) -> str:
    """The letter behind the right one."""
    return LETTERS[(LETTERS.index(sign.answer) + 1) % 4]


def reads_sixteen(sign: AcuitySample, condition: Condition, pixels: float) -> str:
    """Reads what has 16 pixels, takes the option behind the right one for what has fewer, and guesses A."""
    return "A" if condition == "V0" else sign.answer if pixels >= 16 else wrong(sign)


@pytest.fixture(scope="module")
def report() -> Report:
    """The report of who reads what has 16 pixels."""
    return report_of(SIGNS, reads_sixteen)


def test_accuracies_and_gaps_are_known_to_the_last_digit(report: Report) -> None:
    """A quarter by chance, none of the thumbnails, the larger half of the full images, and all of the evidence."""
    assert percents_of(report, "accuracy") == {
        "V0": 25.0, "V1": 0.0, "V2": 50.0, "V3": 100.0, "V4": 100.0, "chance": 25.0,
        "visual": 25.0, "access": 50.0, "resolution": 50.0,
    }  # fmt: skip
    for gap in ("access", "resolution"):
        estimate = value_of(report, "accuracy", gap)
        assert estimate.count == 32
        assert 0 < (estimate.low or 0) < 0.5 < (estimate.high or 0)


def test_accuracy_stands_by_octaves_of_pixels(report: Report) -> None:
    """The large rings have 8, 24 and 96 pixels, the small ones less than one or 32; chance has a row."""
    rows = {name: percents_of(report, "by_size", condition=name) for name in ("V1", "V2", "V3")}
    assert rows == {
        "V1": {"0-1": 0.0, "8-16": 0.0},
        "V2": {"0-1": 0.0, "16-32": 100.0},
        "V3": {"32-64": 100.0, "64-128": 100.0},
    }
    assert set(percents_of(report, "by_size", model="chance").values()) == {25.0}
    assert value_of(report, "by_size", "16-32", condition="V2").count == 32


def test_accuracy_stands_by_place_and_by_scene(report: Report) -> None:
    """Large rings are as often at each place and on each kind of scene as small ones."""
    for table in ("by_place", "by_scene"):
        assert set(percents_of(report, table, condition="V2").values()) == {50.0}
        assert {estimate.count for estimate in table_values(report, table, condition="V2")} == {16}


def table_values(report: Report, table: str, **keys: str) -> list[Estimate]:
    """The estimates of a row."""
    return [value for value in values_of(report, table, **keys).values() if isinstance(value, Estimate)]


def test_letters_tell_a_preference(report: Report) -> None:
    """Without a picture all answers are A, which is true in a quarter."""
    found = percents_of(report, "letters", condition="V0")
    assert found == {"A": 100.0, "B": 0.0, "C": 0.0, "D": 0.0, "none": 0.0} | {f"true_{at}": 25.0 for at in LETTERS}


def test_the_one_line_tells_the_threshold_and_what_it_means(report: Report) -> None:
    """The threshold lies between what was read and what was not; a sign of 1 % has 1.92 pixels in V2."""
    summary = values_of(report, "summary", model=MODEL)
    assert re.fullmatch(
        r"reads 50 % at \d+ pixels \(\d+(\.\d)?-\d+\); a sign of 1 % of a 26753-pixel picture needs V3",
        str(summary["line"]),
    )
    threshold = summary["threshold"]
    assert isinstance(threshold, Estimate) and 8 < (threshold.value or 0) < 24
    assert summary["faults"] == "none"
    assert Report.model_validate_json(report.model_dump_json()) == report


def test_a_sharper_eye_needs_less(report: Report) -> None:
    """Who reads one pixel reads such a sign in the full image, who reads all in the thumbnail."""
    sizes = [16 * 2 ** (at / 3) for at in range(32)]
    signs = list(signs_of(rings(sizes), around))
    one = report_of(signs, lambda sign, _, pixels: sign.answer if pixels >= 1 else wrong(sign), ("V1", "V2"))
    assert line_of(one).endswith("; a sign of 1 % of a 26753-pixel picture can be read in V2")
    every = report_of(signs, lambda sign, *_: sign.answer, ("V1", "V2"))
    assert line_of(every) == (
        "reads 50 % below 0.031 pixels, the smallest shown; a sign of 1 % of a 26753-pixel picture can be read in V1"
    )


def line_of(report: Report) -> str:
    """What the model sees."""
    return str(values_of(report, "summary")["line"])


def test_who_sees_nothing_is_told_so() -> None:
    """A letter for everything is chance at every size, and no fault but that."""
    report = report_of(SIGNS, lambda *_: "A")
    assert line_of(report) == "reads nothing: at chance at every size"
    assert values_of(report, "symptoms", condition="V3")["fault"] == "nothing seen"
    assert any("fit the fault 'nothing seen'" in text for text in caveats_of(report))


def test_who_says_no_letter_is_told_so() -> None:
    """It tells nothing of pictures, neither that they are seen nor that they are not."""
    report = report_of(SIGNS, lambda *_: "I")
    assert line_of(report) == "cannot be told: most answers hold no single letter"
    assert values_of(report, "symptoms", condition="V3")["fault"] == "no letter said"


def test_who_sees_colours_alone_is_told_so() -> None:
    """The other question is at chance, and the line is about the one."""
    report = report_of(
        SIGNS, lambda sign, _, pixels: sign.answer if sign.attribute == "colour" and pixels >= 16 else "A"
    )
    assert line_of(report).startswith("of colour alone reads 50 % at ")
    assert percent_of(report, "symptoms", "colour", condition="V3") == 100.0
    assert percent_of(report, "symptoms", "direction", condition="V3") == 25.0


def test_without_pictures_there_is_no_threshold() -> None:
    """V0 alone fills the tables that it can."""
    report = report_of(SIGNS, reads_sixteen, ("V0",))
    assert line_of(report) == "cannot be told: too few answers"
    assert {table.name for table in report.tables} == {
        "summary", "accuracy", "by_place", "by_scene", "letters", "cells", "reading_rules",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("attribute", "first", "second", "column", "fault"),
    [
        ("colour", "red", "blue", "red_blue", "swapped channels"),
        ("direction", "left", "right", "left_right", "mirrored left to right"),
        ("direction", "up", "down", "up_down", "mirrored upside down"),
    ],
)
def test_swaps_are_counted_and_named(attribute: Attribute, first: str, second: str, column: str, fault: str) -> None:
    """Two options taken for each other in everything readable; the others are read."""
    swap = {first: second, second: first}

    def swapping(sign: AcuitySample, condition: Condition, pixels: float) -> str:
        true = getattr(sign.optotype, sign.attribute)
        return letter_of(sign, swap.get(true, true)) if sign.attribute == attribute else sign.answer

    report = report_of(SIGNS, swapping, ("V3",))
    assert percent_of(report, "symptoms", column, condition="V3") == 100.0
    assert values_of(report, "symptoms", condition="V3")["fault"] == fault
    confused = percents_of(report, f"{attribute}s", truth=first)
    assert confused[second] == 100.0
    assert sum(confused.values()) == 100.0
    assert percent_of(report, "symptoms", attribute, condition="V3") == 50.0


@pytest.mark.parametrize(("quarters", "column"), [(1, "turned_90"), (2, "turned_180"), (3, "turned_270")])
def test_turns_are_told_from_mirrors(quarters: int, column: str) -> None:
    """Every direction is taken for the one so many quarters further."""
    report = report_of(SIGNS, lambda sign, *_: turned(sign, quarters), ("V3",))
    assert percents_of(report, "turns", condition="V3")[column] == 100.0
    assert values_of(report, "symptoms", condition="V3")["fault"] == "turned"


def turned(sign: AcuitySample, quarters: int) -> str:
    """The letter of the direction that lies so many quarters beyond the true one; of a colour, the right letter."""
    if sign.attribute == "colour":
        return sign.answer
    words = ("up", "right", "down", "left")
    return letter_of(sign, words[(words.index(sign.optotype.direction) + quarters) % 4])


def test_failures_count_nothing_and_what_cannot_be_read_is_wrong() -> None:
    """Of four answers one failed, and one names no letter."""
    signs = SIGNS[:4]
    rasters = [record_of(view) for view in views_of(signs[0], "V3")[0]]
    texts = [signs[0].answer, None, "It is a ring.", wrong(signs[3])]
    found = [answered(sign, "V3", text, rasters) for sign, text in zip(signs, texts, strict=True)]
    report = build_report(chart(signs), found, {})
    assert value_of(report, "accuracy", "V3").count == 3
    assert percent_of(report, "accuracy", "V3") == 33.33
    assert percent_of(report, "letters", "none", condition="V3") == 33.33


def test_enlarging_adds_no_pixels() -> None:
    """A ring of 8 in a region of 32 that fills a raster of 64 has 8 pixels; in a thumbnail of 32 what that has."""
    ring = Optotype(x=64, y=64, diameter=8, colour="red", direction="up")
    evidence, thumbnail = View(image="p.tif", region="60,60,32,32"), View(image="p.tif", sizing="longest:32")
    assert record_of(evidence).raster_size == record_of(thumbnail).raster_size == (64, 64)
    assert pixels_per_optotype(ring, [record_of(evidence)]) == 8
    assert pixels_per_optotype(ring, [record_of(thumbnail)]) == 8 * 32 / SIDE
    assert pixels_per_optotype(ring, [record_of(View(image="p.tif")), record_of(evidence)]) == 8


def test_views_that_miss_the_ring_show_none_of_it() -> None:
    """They count as nothing shown, and a caveat tells of them."""
    beside = record_of(View(image=SIGNS[0].images[0], region="20000,20000,64,64"))
    assert pixels_per_optotype(SIGNS[0].optotype, [beside]) == 0
    report = build_report(chart(SIGNS), [answered(SIGNS[0], "V3", "A", [beside])], {})
    assert any("1 of 1 answers were shown no view that holds the whole ring" in text for text in caveats_of(report))


def test_a_kept_tally_says_the_same() -> None:
    """What was judged once and written down fills the same tables."""
    dataset, found = chart(SIGNS), responses(SIGNS)
    tally = tally_replies(dataset, map(reply_of, found), {})
    again = tally_replies(dataset, [], {})
    told: dict[str, Any] = json.loads(json.dumps(dump_tally(tally)))
    merge_tally(again, "job", told, Acuity())
    assert report_on_tally(dataset, again, {}).tables == report_on_tally(dataset, tally, {}).tables


def responses(signs: Sequence[AcuitySample]) -> list[Response]:
    """Right answers to all under V2 and V3."""
    conditions: tuple[Condition, ...] = ("V2", "V3")
    return [
        answered(sign, condition, sign.answer, [record_of(view) for view in views_of(sign, condition)[0]])
        for condition in conditions
        for sign in signs
    ]


def test_figures_draw_what_the_tables_hold(report: Report) -> None:
    """Every figure's columns are its table's."""
    for figure in report.figures:
        assert set(figure.columns) <= {column.key for column in table_of(report, figure.table).columns}
    assert {figure.name for figure in report.figures} == {"by_size", "colours", "directions"}
