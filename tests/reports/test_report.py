"""Tables 1 and 2 over a small data set whose every number is worked out here.

Five samples: two of CCTV comparison (c1, c2), one of RS logical verification (r1), one of AD with a coordinate (a1),
and one of WSI that awaits its answer (w1). The right answers: c1 B, c2 B, r1 B, a1 (3, 7).
"""

import csv
import io
import json
import random
from datetime import UTC, datetime
from html import unescape
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gigavqa.answers.final import READER_VERSION
from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.jobs import JobSpec
from gigavqa.contract.requests import Sampling
from gigavqa.contract.responses import EngineInfo, RemoteInfo, Response
from gigavqa.evaluation.cell_scores import CellScore
from gigavqa.reports.report import Report, build_report
from gigavqa.reports.writers.exports import render_csv, render_json, render_latex
from gigavqa.reports.writers.markdown import render_markdown
from gigavqa.reports.writers.page.page import render_html
from tests.benchmarks.ultravr.good_records import good_sample
from tests.evaluation.datasets import dataset_of
from tests.evaluation.responses import MODEL, response
from tests.reports.pages import raster
from tests.reports.tables import caveats_of, estimates_of, row_of, value_of, values_of

CATALOGUE = load_catalogue()
DATASET = dataset_of(
    [
        good_sample("cctv-comparison", id="c1"),
        good_sample("cctv-comparison", id="c2"),
        good_sample("rs-logic", id="r1"),
        good_sample("ad-coordinate", id="a1"),
        good_sample("wsi-comparison", id="w1", answer=""),
    ]
)
FULL = [
    response("c1", "Final answer: B"),
    response("c2", "Final answer: A"),
    response("r1", "B"),
    response("a1", "Row 3, column 7"),
    response("w1", "Final answer: C"),
]
TEXT_ONLY = [
    response("c1", "not sure", "V0"),
    response("c2", "Final answer: B", "V0"),
    response("r1", "A or B", "V0"),
    response("a1", "I cannot determine this.", "V0"),
    response("w1", "Final answer: A", "V0"),
]


def report_of(responses: list[Response], **spec: Any) -> Report:
    """Report on responses, with a job's spec if any of it is given."""
    jobs = [JobSpec.model_validate({"dataset": "tiny", "models": [MODEL], **spec})] if spec else []
    return build_report(DATASET, responses, CATALOGUE, *jobs)


def cell(report: Report, condition: str) -> CellScore:
    """Return the score of S0 under a condition."""
    return next(score for score in report.cells if score.condition == condition)


def test_table1_holds_the_worked_numbers() -> None:
    """CCTV 1/2, RS 1/1, AD 1/1: macro (0.5 + 1 + 1) / 3 = 0.8333. Text only: CCTV 1/2, RS 0/1, AD 0/1: macro 0.1667.

    The visual gap is 0.6667; 2 of 5 text-only responses abstain.
    """
    row = estimates_of(report_of(FULL + TEXT_ONLY), "table1")

    assert {name: row[name].value for name in ("cctv", "rs", "ad")} == {"cctv": 0.5, "rs": 1.0, "ad": 1.0}
    assert "wsi" not in row
    assert row["macro"].value == pytest.approx(5 / 6)
    assert row["text_only"].value == pytest.approx(1 / 6)
    assert row["visual_gap"].value == pytest.approx(4 / 6)
    assert (row["abstention"].value, row["abstention"].count) == (0.4, 5)


def test_table1_takes_the_budget_from_the_catalogue() -> None:
    """Qwen3-VL: 16,777,216 pixels are 16,384 tokens of 32 x 32, a square of 4,096."""
    report = report_of(FULL)
    row = values_of(report, "table1")

    assert row_of(report, "table1").title == "Qwen3-VL-8B-Instruct"
    assert (row["max_visual_tokens"], row["effective_resolution"]) == (16384, 4096)


def test_table2_holds_the_worked_gaps() -> None:
    """V1 all wrong 0; V2 5/6; V3 all right 1; V4 only r1 right 1/3: res 5/6, access 1/6, aug -1/2."""
    right = {"c1": "B", "c2": "B", "r1": "B", "a1": "(3, 7)"}
    thumbnails = [response(name, "Final answer: D" if name != "a1" else "(1, 1)", "V1") for name in right]
    local = [response(name, f"Final answer: {answer}", "V3") for name, answer in right.items()]
    together = [response(name, f"Final answer: {'B' if name == 'r1' else 'C'}", "V4") for name in right]

    row = estimates_of(report_of(FULL + thumbnails + local + together), "table2")

    assert [row[name].value for name in ("V1", "V2", "V3", "V4")] == pytest.approx([0, 5 / 6, 1, 1 / 3])
    gaps = [row[f"gap_{name}"].value for name in ("res", "access", "aug")]
    assert gaps == pytest.approx([5 / 6, 1 / 6, -1 / 2])


def test_a_domain_without_samples_is_left_out_and_named() -> None:
    """WSI has no sample with an answer: it is no zero in the macro average."""
    report = report_of(FULL)

    assert cell(report, "V2").absent_groups == ("wsi",)
    assert any("leave out wsi" in warning for warning in caveats_of(report))


def test_a_sample_that_awaits_its_answer_is_counted_but_not_scored() -> None:
    """w1 is in no accuracy, and listed as left out."""
    report = report_of(FULL)
    (exclusion,) = cell(report, "V2").excluded

    assert report.awaiting_expert == ("w1",)
    assert (exclusion.reason, exclusion.count, exclusion.samples) == ("the answer awaits an expert", 1, ("w1",))
    assert cell(report, "V2").accuracy.count == 4


def test_unparsable_is_wrong_but_failed_is_left_out() -> None:
    """c1 answers nonsense: CCTV is 0/2. r1 failed: RS has no value, and the failure is listed by its type."""
    score = cell(report_of([response("c1", "hmm"), *FULL[1:2], response("r1", None), *FULL[3:]]), "V2")

    assert (score.groups["cctv"].overall.value, score.groups["cctv"].overall.count) == (0.0, 2)
    assert score.groups["rs"].overall.value is None
    assert {(exclusion.reason, exclusion.samples) for exclusion in score.excluded} >= {
        ("failed: EngineDiedError", ("r1",))
    }
    assert score.statuses["none"] == 1


def test_missing_responses_are_counted_against_the_job() -> None:
    """Of a job over five samples, two conditions and two repeats, only the first repeat of V2 is there."""
    report = report_of(FULL, plan="table1", repeats=2)

    assert [(score.condition, score.expected, score.answered) for score in report.cells] == [
        ("V0", 10, 0),
        ("V2", 10, 5),
    ]
    assert "15 of 20 requests have no response (qwen3-vl-8b S0 V0, qwen3-vl-8b S0 V2)" in caveats_of(report)


def test_samples_that_the_job_did_not_ask_are_not_missing() -> None:
    """A job over c1 alone is complete with one response."""
    report = report_of(FULL[:1], cells=[{"protocol": "S0", "condition": "V2"}], samples=["c1"])

    assert cell(report, "V2").excluded == ()


def test_repeats_are_averaged() -> None:
    """c1 right, wrong, right, right is 0.75; with c2 wrong once, CCTV is 0.375."""
    texts = ["Final answer: B", "Final answer: A", "Final answer: B", "Final answer: B"]
    repeats = [response("c1", text, repeat=number) for number, text in enumerate(texts)]

    score = cell(report_of([*repeats, FULL[1]]), "V2")

    assert (score.groups["cctv"].overall.value, score.groups["cctv"].overall.count) == (0.375, 2)


def test_a_second_copy_of_a_response_counts_nothing() -> None:
    """And where one copy is a failure, the answer stands."""
    score = cell(report_of([*FULL, response("c1", None), FULL[0]]), "V2")

    assert score.groups["cctv"].overall.value == 0.5
    assert (score.answered, score.duplicates) == (5, 2)


def test_the_last_turn_is_the_answer() -> None:
    """Earlier turns of a chat answer steps."""
    turns = [
        {"text": "Final answer: A", "finish_reason": "stop", "asks": "S1"},
        {"text": "B", "finish_reason": "stop"},
    ]

    assert cell(report_of([response("r1", "", turns=turns)]), "V2").groups["rs"].overall.value == 1.0


def test_a_response_to_an_unknown_sample_is_listed() -> None:
    """It counts in nothing."""
    score = cell(report_of([*FULL, response("zzz", "B")]), "V2")

    assert ("the data set has no such sample", ("zzz",)) in {(part.reason, part.samples) for part in score.excluded}
    assert score.answered == 5


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"model": "demo-qwen3-vl"}, "its weights are random"),
        ({"engine": EngineInfo(name="simulated", version="1", simulated=True)}, "come from the simulated engine"),
        ({"turns": [{"text": "B", "finish_reason": "length"}]}, "cut off at the limit of output tokens (S0 V2)"),
        ({"sampling": Sampling(temperature=0.0)}, "sampled with different parameters"),
        ({"engine": EngineInfo(name="vllm", version="0.31.0")}, "different engines or versions"),
    ],
)
def test_what_a_reader_must_know_is_said_plainly(changes: dict[str, Any], told: str) -> None:
    """Random weights, a simulated engine, cut-off answers, and mixed conditions."""
    report = report_of([*FULL[1:], response("c1", "B", **changes)])

    assert any(told in warning for warning in caveats_of(report))
    assert told in render_markdown(report)


def test_provenance_says_what_made_the_responses() -> None:
    """Engine, version and sampling, without the seeds, and the reader's version."""
    report = report_of(FULL)
    (origin,) = report.provenance

    assert (origin.engine, origin.version, origin.responses) == ("vllm", "0.32.0", 5)
    assert origin.sampling["temperature"] == 0.7
    assert "seed" not in origin.sampling
    assert report.versions["answers"] == READER_VERSION
    assert "- qwen3-vl-8b: 5 responses, vllm 0.32.0, " in render_markdown(report)


def test_provenance_tells_apart_what_was_sampled_by_and_what_was_not_sent() -> None:
    """A server that takes no temperature was told none."""
    asked = RemoteInfo(
        endpoint="https://api.example/v1", model="m", dialect="openai", pictures="png", not_sent=("temperature", "seed")
    )
    report = report_of([response("c1", "B", engine=EngineInfo(name="remote", version="1", remote=asked))])
    (origin,) = report.provenance

    assert "temperature" not in origin.sampling
    assert origin.not_sent == ("temperature", "seed")
    assert "not sent: temperature, seed" in render_markdown(report)


def test_provenance_says_how_the_model_was_asked() -> None:
    """Whether it thinks, its visual budget, the detail of pictures and what else was sent."""
    remote = RemoteInfo(endpoint="https://api.example/v1", model="m", dialect="vllm", pictures="png", detail="high",
                        extra={"reasoning_effort": "low"})  # fmt: skip
    template = {"enable_thinking": True}
    engine = EngineInfo(name="remote", version="1", budget="qwen max_pixels 99", chat_template=template, remote=remote)
    report = report_of([response("c1", "B", engine=engine)])
    told = 'budget qwen max_pixels 99, detail high, template enable_thinking true, also sent reasoning_effort "low"'
    assert told in render_markdown(report)
    assert told in unescape(render_html(report, [], lambda key: None))


def test_departures_from_the_paper_stand_beside_provenance() -> None:
    """Each item with what is printed and what is asked, in Markdown, JSON and on the page."""
    report = report_of(FULL)
    assert {"AD under V3 and V4", "output limit", "thinking"} <= {one.item for one in report.departures}
    assert [one["item"] for one in json.loads(render_json(report))["departures"]] == [
        one.item for one in report.departures
    ]
    page = unescape(render_html(report, [], lambda key: None))
    for one in report.departures:
        assert f"- {one.item}: printed {one.printed}; here {one.asked}" in unescape(render_markdown(report))
        assert f"printed: {one.printed}<br>here: {one.asked}" in page


def test_json_round_trips() -> None:
    """The JSON form holds the whole report."""
    report = report_of(FULL + TEXT_ONLY)

    assert Report.model_validate(json.loads(render_json(report))) == report


def test_csv_has_one_number_a_line() -> None:
    """The macro accuracy of Table 1 is on a line of its own, as a fraction with interval and count."""
    lines = list(csv.DictReader(io.StringIO(render_csv(report_of(FULL + TEXT_ONLY)))))
    (macro,) = [line for line in lines if line["table"] == "table1" and line["metric"] == "macro_accuracy"]

    assert (macro["model"], macro["value"], macro["count"]) == (MODEL, "0.833333", "4")


def test_csv_holds_every_value_of_every_table() -> None:
    """Rates, counts and words alike, each on a line with its column's keys."""
    report = report_of(FULL + TEXT_ONLY)
    told = [value for table in report.tables for row in table.rows for value in row.values]
    lines = list(csv.DictReader(io.StringIO(render_csv(report))))

    assert len(lines) == len(told)
    for line, value in zip(lines, told, strict=True):
        if isinstance(value, int):
            assert (line["value"], line["count"], line["text"]) == (str(value), "", "")
        elif isinstance(value, str):
            assert (line["value"], line["text"]) == ("", value)
    assert any(isinstance(value, int) for value in told)
    assert all(line["metric"] for line in lines)


def test_markdown_prints_percentages_with_intervals_and_counts() -> None:
    """As the paper prints them, one decimal."""
    text = render_markdown(report_of(FULL + TEXT_ONLY))

    assert "## Table 1" in text
    assert "| 83.3 [" in text
    assert "| +66.7 [" in text


def test_latex_has_the_tables_with_texts_that_are_no_commands() -> None:
    """One line a model between the rules of booktabs; signs of its own are escaped."""
    hostile = r"50%_of \input{x} & more"
    text = render_latex(report_of([response("c1", "B"), response("c1", "B", model=hostile)]))

    assert r"\toprule" in text
    assert r"\input" not in text
    assert r"50\%\_of \textbackslash{}input\{x\} \& more & 100.0" in text


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 1000))
def test_the_order_of_responses_changes_nothing(seed: int) -> None:
    """Shuffled responses, failures and later copies among them, give the same report."""
    later = [
        response("r1", letter, created_at=datetime(2026, 11, day, tzinfo=UTC)) for day, letter in ((22, "D"), (23, "C"))
    ]
    responses = [*FULL, *TEXT_ONLY, response("c1", None), *later, later[0], response("zzz", "A")]
    shuffled = random.Random(seed).sample(responses, len(responses))

    assert report_of(shuffled) == report_of(responses)


@settings(deadline=None, max_examples=30)
@given(names=st.sets(st.sampled_from(["c1", "c2", "r1", "a1"]), min_size=1))
def test_a_perfect_responder_scores_everything(names: set[str]) -> None:
    """Whatever samples are answered, and so whatever domains are present, all right is 100 %."""
    answers = {sample.id: sample.answer for sample in DATASET.samples}
    score = cell(report_of([response(name, f"Final answer: {answers[name]}") for name in sorted(names)]), "V2")

    assert score.accuracy.value == 1.0
    assert score.accuracy.count == len(names)


def test_unreadable_answers_have_a_rate_and_a_warning() -> None:
    """Of five under V2 one is ambiguous and one says nothing: 40 %; an abstention is readable."""
    answers = [response("c1", "A or B"), response("c2", "hm"), *FULL[2:], response("r1", "not sure", "V0")]

    report = report_of(answers)

    unreadable = value_of(report, "table1", "unreadable")
    assert (unreadable.value, unreadable.count) == (0.4, 5)
    assert [score.unreadable.value for score in report.cells] == [0.0, 0.4]
    warnings = [warning for warning in caveats_of(report) if "no single clear answer" in warning]
    assert len(warnings) == 1
    assert "40 % of 5 in S0 V2" in warnings[0]
    assert "V0" not in warnings[0]
    assert "unreadable_rate,0.400000" in render_csv(report)
    assert "| unreadable (V2) |" in render_markdown(report)


def test_an_unfinished_job_is_one_warning() -> None:
    """Of a whole plan nothing is there yet but one answer: no dozen of lines."""
    report = report_of(FULL[:1], plan="ultravr")

    told = [warning for warning in caveats_of(report) if "no response" in warning]
    assert len(told) == 1
    assert told[0].startswith("49 of 50 requests have no response (")
    assert len(caveats_of(report)) <= 3


def test_a_picture_that_was_replaced_is_told() -> None:
    """c1 was asked over two contents of one picture, c2 over one and the same twice."""
    old, new = (raster().model_copy(update={"digest": digest * 16}) for digest in ("a1b2", "c3d4"))
    asked = [
        response("c1", "B", rasters=(old,)),
        response("c1", "B", "V4", rasters=(new,)),
        response("c2", "B", rasters=(old,)),
        response("c2", "B", "V4", rasters=(old,)),
    ]

    (told,) = [warning for warning in caveats_of(report_of(asked)) if "different contents" in warning]

    assert told.startswith("1 of 5 samples")
    assert f"c1 over '{old.view.image}' with the digests a1b2a1b2a1b2 and c3d4c3d4c3d4" in told


def test_a_digest_of_an_earlier_release_is_no_other_content() -> None:
    """A job that was begun before an upgrade has both forms; of one form, two are two contents."""
    earlier, now, other = (raster().model_copy(update={"digest": digest}) for digest in ("a" * 32, "b" * 64, "c" * 64))
    mixed = [response("c1", "B", rasters=(earlier,)), response("c1", "B", "V4", rasters=(now,))]
    assert not [told for told in caveats_of(report_of(mixed)) if "different contents" in told]
    mixed.append(response("c1", "B", "V3", rasters=(other,)))
    assert [told for told in caveats_of(report_of(mixed)) if "different contents" in told]


def test_the_same_number_has_the_same_interval_everywhere() -> None:
    """S0 under V2 stands in three tables and among the cells, whatever else is in the report."""
    more = [response(name, "Final answer: B", "V3") for name in ("c1", "c2", "r1")]
    steps = [response(name, "Final answer: D", protocol="S1") for name in ("c1", "r1")]
    alone, among = report_of(FULL), report_of(FULL + TEXT_ONLY + more + steps)

    macro = value_of(alone, "table1", "macro")
    assert macro == value_of(among, "table1", "macro") == cell(among, "V2").accuracy
    assert macro == value_of(among, "table2", "V2") == value_of(among, "table3", "S0")


def test_texts_of_a_csv_are_no_formulas() -> None:
    """What a spreadsheet would run begins with an apostrophe; numbers, also negative ones, stay numbers."""
    lines = list(csv.reader(io.StringIO(render_csv(report_of([response("c1", "B", model="=HYPERLINK(1)")])))))

    assert {line[1] for line in lines[1:]} == {"'=HYPERLINK(1)"}
    gap = report_of([*FULL, response("c2", "B", "V0"), response("c1", "B", "V0"), response("r1", "B", "V0")])
    assert any(",-0." in line for line in render_csv(gap).splitlines())


def test_texts_of_markdown_are_no_markup() -> None:
    """Neither a model's name nor a sample's id becomes an element, a link or another line."""
    hostile = "<img src=x onerror=alert(1)>[a](javascript:b)\n# title"

    text = render_markdown(report_of([response(hostile, "B", model=hostile)]))

    assert "<img" not in text
    assert "](javascript" not in text
    assert "\n# title" not in text
    assert "&lt;img" in text
