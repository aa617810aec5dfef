"""The tables of one's own questions: accuracies beside chance, letters that are answered, and tests of differences."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.responses import Response
from gigavqa.evaluation.datasets import Dataset
from gigavqa.evaluation.metrics.estimates import Estimate
from gigavqa.evaluation.tables import Row, Table
from gigavqa.reports.report import Report, build_report
from tests.benchmarks.questions.files import ask_about
from tests.evaluation.responses import response

FIRST, SECOND = "qwen3-vl-8b", "demo-qwen3-vl"


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    """Eight choices of four options or two, four a category, and an open question."""
    choices = [
        {"id": f"q{at}", "image": "red.jpg", "question": "Which?", "options": list("wxyz")[: 4 if at < 4 else 2],
         "answer": at % 2, "category": "small" if at % 2 else "large", "split": "dev" if at < 4 else "test"}
        for at in range(8)
    ]  # fmt: skip
    return ask_about(tmp_path, *choices, {"id": "open", "image": "red.jpg", "question": "Why?"})


def reported(dataset: Dataset, letters: Mapping[tuple[str, str], str]) -> Report:
    """The report of replies: of each model and condition, the letters that were answered to q0, q1 ..."""
    found: list[Response] = [
        response(
            f"q{at}", f"Final answer: {letter}", condition, model=model, protocol="direct",
            request_id=f"q{at}:direct-{condition}:{model}:0",
        )
        for (model, condition), told in letters.items()
        for at, letter in enumerate(told)
    ]  # fmt: skip
    return build_report(dataset, found, load_catalogue())


def row_of(report: Report, table: str, **keys: str) -> dict[str, object]:
    """The values of the one row of a table that has these keys, by column."""
    found = report.table(table)
    assert isinstance(found, Table)
    rows: list[Row] = [row for row in found.rows if keys.items() <= row.keys.items()]
    assert len(rows) == 1, [row.keys for row in found.rows]
    return dict(zip((column.key for column in found.columns), rows[0].values, strict=True))


def value_of(value: object) -> tuple[float | None, int]:
    """An estimate's value and what it rests on."""
    assert isinstance(value, Estimate)
    return value.value, value.count


def test_accuracy_stands_beside_chance(dataset: Dataset) -> None:
    """Chance is a quarter for four options and a half for two; the open question counts nowhere."""
    row = row_of(reported(dataset, {(FIRST, "V2"): "ABABABBB"}), "accuracy", model=FIRST)
    assert value_of(row["accuracy"]) == (7 / 8, 8)
    assert value_of(row["chance"]) == (3 / 8, 8)
    assert value_of(row["above"]) == (4 / 8, 8)


def test_accuracy_is_told_by_category_and_by_every_further_group(dataset: Dataset) -> None:
    """A column a cell; what sorts questions beside their category stands in long forms."""
    report = reported(dataset, {(FIRST, "V2"): "ABABABBB", (FIRST, "V0"): "AAAAAAAA"})
    large, small = (row_of(report, "by_category", category=name) for name in ("large", "small"))
    assert value_of(large[f"{FIRST} direct V2"]) == (3 / 4, 4) and value_of(small[f"{FIRST} direct V2"]) == (1.0, 4)
    assert value_of(small[f"{FIRST} direct V0"]) == (0.0, 4)
    assert value_of(row_of(report, "by_split", split="dev")[f"{FIRST} direct V2"]) == (1.0, 4)
    assert [table.detail for table in report.tables if table.name.startswith("by_")] == [False, True]


def test_letters_are_counted_by_the_true_one(dataset: Dataset) -> None:
    """Who answers A to everything has A eight times, of which four are true; what names no letter has a column."""
    report = reported(dataset, {(FIRST, "V2"): "AAAAAAA?"})
    assert row_of(report, "letters", truth="B") == {"A": 3, "B": 0, "C": 0, "D": 0, "none": 1, "true": 4}
    assert row_of(report, "letters", truth="all") == {"A": 7, "B": 0, "C": 0, "D": 0, "none": 1, "true": 8}


def test_two_models_are_compared_over_the_same_questions(dataset: Dataset) -> None:
    """Six that only the first has right against none: McNemar's exact p is 2 / 64, with nothing to correct."""
    report = reported(dataset, {(FIRST, "V2"): "ABABABAB", (SECOND, "V2"): "BABABAAB"})
    row = row_of(report, "models_paired", model=SECOND, less=FIRST)
    assert (row["first"], row["second"], row["p"], row["p_holm"]) == (0, 6, "0.031", "0.031")
    assert value_of(row["difference"]) == (-6 / 8, 8)
    assert "makes 1 comparison:" in str(report.table("models_paired"))


def test_conditions_are_compared_and_corrected_for_their_number(dataset: Dataset) -> None:
    """Three pairs of conditions of one model: the smallest p is taken three times."""
    report = reported(dataset, {(FIRST, "V0"): "BABABAAB", (FIRST, "V1"): "ABABABAB", (FIRST, "V2"): "ABABABAB"})
    row = row_of(report, "conditions_paired", condition="V1", less="direct V0")
    assert (row["p"], row["p_holm"]) == ("0.031", "0.094")
    same = row_of(report, "conditions_paired", condition="V2", less="direct V1")
    assert (same["first"], same["second"], same["p"], same["p_holm"]) == (0, 0, "1.000", "1.000")


def test_open_questions_are_said_to_count_nowhere(dataset: Dataset) -> None:
    """A reader knows before the numbers."""
    report = reported(dataset, {(FIRST, "V2"): "ABABABAB"})
    assert any("1 of 9 questions are open" in caveat.text for caveat in report.caveats)
