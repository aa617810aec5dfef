"""The worked example, to the last digit that the page of it states; and what must hold of every row."""

import pytest

from gigavqa.catalogue.load import load_catalogue
from gigavqa.reports.report import Report, build_report
from tests.benchmarks.atombench.questions import EXAMPLE, FINAL, FIRST, answers
from tests.evaluation.datasets import dataset_of
from tests.evaluation.responses import MODEL
from tests.reports.tables import percents_of, value_of, values_of


@pytest.fixture(scope="module")
def report() -> Report:
    """The report on the worked example."""
    return build_report(dataset_of(EXAMPLE, benchmark="atombench"), answers(), load_catalogue())


def test_table_2_says_what_was_worked_out(report: Report) -> None:
    """Points, raw shares, support, resistance, their mean, and the spread."""
    assert percents_of(report, "table2", model=MODEL) == {
        "clq": 63.33,
        "colq": 28.33,
        "ecs": -35.00,
        "raw_clq": 70.00,
        "raw_colq": 40.00,
        "rcs": 33.33,
        "hi": 50.00,
        "rrs": 20.00,
        "avg": 39.00,
    }


def test_support_by_every_rule(report: Report) -> None:
    """`any` and `each` as worked out; `all` and `location` by hand: I1 and I2 begin right, and none is right in all."""
    found = percents_of(report, "conclusion_rules", model=MODEL)
    assert {key: found[key] for key in ("rcs_any", "hi_any", "rcs_each", "hi_each")} == {
        "rcs_any": 33.33,
        "hi_any": 50.00,
        "rcs_each": 20.00,
        "hi_each": 50.00,
    }
    assert (found["rcs_all"], found["rcs_location"], found["hi_location"]) == (0.0, 33.33, 50.00)
    assert "hi_all" not in found


def test_the_support_curve_falls_where_a_picture_has_too_few_clues(report: Report) -> None:
    """I2 has two of three clues: it counts up to 65 %, and no further; I1 has all."""
    found = percents_of(report, "figure7", model=MODEL)
    assert [found[f"above_{at}"] for at in (0, 65, 70, 75, 95, 100)] == [66.67, 66.67, 33.33, 33.33, 33.33, 33.33]
    area = (13 * 2 / 3 + (2 / 3 + 1 / 3) / 2 + 6 / 3) * 0.05
    assert value_of(report, "figure7", "area", model=MODEL).value == pytest.approx(area)


def test_pairs_of_first_and_final_answers(report: Report) -> None:
    """By difficulty: steadfast and confused among easy ones, corrected, rigid; weights add up to ten."""
    rows = {of: values_of(report, "golden_evidence", difficulty=of) for of in ("easy", "medium", "hard")}
    kinds = ("steadfast", "corrected", "rigid", "confused")
    assert {of: tuple(row[kind] for kind in kinds) for of, row in rows.items()} == {
        "easy": (1, 0, 0, 1),
        "medium": (0, 1, 0, 0),
        "hard": (0, 1, 1, 0),
    }
    assert [row["weight"] for row in rows.values()] == [2, 2, 6]
    assert percents_of(report, "figure8", model=MODEL) == {"correction": 66.67}


def test_supported_conclusions_are_right_ones_less_hallucinated_ones(report: Report) -> None:
    """RCS = P (1 - HI), under every rule that has a right conclusion."""
    found = percents_of(report, "conclusion_rules", model=MODEL)
    for rule in ("any", "each", "location"):
        expected = found[f"concluded_{rule}"] * (1 - found[f"hi_{rule}"] / 100)
        assert found[f"rcs_{rule}"] == pytest.approx(expected, abs=0.01)


def test_final_answers_alone_make_the_resistance(report: Report) -> None:
    """Whatever the first answers were, RRS is the same; what became of them is not."""
    others = {name: "wrong" if outcome == "right" else "right" for name, outcome in FIRST.items()}
    dataset = dataset_of(EXAMPLE, benchmark="atombench")
    other = build_report(dataset, answers(first=others), load_catalogue())
    assert percents_of(other, "table2", model=MODEL)["rrs"] == percents_of(report, "table2", model=MODEL)["rrs"]
    assert percents_of(other, "figure8", model=MODEL) != percents_of(report, "figure8", model=MODEL)
    assert set(FINAL) <= set(FIRST)
