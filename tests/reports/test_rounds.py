"""Chats with rounds: cells that differ by them alone are told apart, wherever a cell is named."""

import csv
import io
import json
from pathlib import Path

import pytest

from gigavqa.contract.jobs import Cell
from gigavqa.contract.responses import Failure, Response
from gigavqa.evaluation.outcomes import sample_outcomes
from gigavqa.evaluation.replies import reply_of
from gigavqa.evaluation.score_frame import CellKey
from gigavqa.reports.report import Report, build_report, report_on_tally, tally_replies
from gigavqa.reports.score import score_files
from gigavqa.reports.tallies import dump_tally, merge_tally
from gigavqa.reports.writers.exports import render_csv
from gigavqa.reports.writers.markdown import render_markdown
from gigavqa.reports.writers.verdict_columns import VerdictFileLayout
from gigavqa.reports.writers.verdict_files import write_verdicts
from tests.benchmarks.ultravr.good_records import GOOD
from tests.evaluation.folders import write_dataset
from tests.evaluation.responses import MODEL, response
from tests.reports.chats import chat
from tests.reports.pages import CATALOGUE, DATASET

GONE = Failure(type="CrashLoopError", message="gone")


def chats() -> list[Response]:
    """Three of four are right with ten rounds, and one of two with six, where another failed."""
    answers = {10: "BBBA", 6: "BA"}
    told = [
        chat(limit, answer=f"Final answer: {letter}", repeat=at)
        for limit, letters in answers.items()
        for at, letter in enumerate(letters)
    ]
    return [*told, chat(6, None, repeat=2, turns=(), failure=GONE), response("c1", "Final answer: B", protocol="S1")]


@pytest.fixture(scope="module")
def report() -> Report:
    """What is said of them."""
    return build_report(DATASET, chats(), CATALOGUE)


def test_numbers_of_rounds_are_cells_of_their_own(report: Report) -> None:
    """Fewer rounds come first; a failure stands in the cell that it was asked in; a cell without a loop has none."""
    found = {str(cell.key): (cell.accuracy.value, cell.answered, cell.rounds) for cell in report.cells}

    assert list(found) == [f"{MODEL} S0 V2 n6", f"{MODEL} S0 V2 n10", f"{MODEL} S1 V2"]
    assert [*found.values()] == [(0.5, 2, 6), (0.75, 4, 10), (1.0, 1, None)]
    assert [part.reason for part in report.cells[0].excluded if part.count == 1] == ["failed: CrashLoopError"]


def test_tallies_that_were_written_keep_them_apart(report: Report) -> None:
    """Written, read and merged they fill the same report."""
    tally = tally_replies(DATASET, (), CATALOGUE)
    merge_tally(
        tally,
        "job",
        json.loads(json.dumps(dump_tally(tally_replies(DATASET, map(reply_of, chats()), CATALOGUE)))),
        DATASET.benchmark,
    )

    assert report_on_tally(DATASET, tally, CATALOGUE) == report


def test_writers_name_them(report: Report) -> None:
    """A column of the CSV behind the condition, which is empty for cells without; the names of cells elsewhere."""
    rows = list(csv.DictReader(io.StringIO(render_csv(report))))

    assert list(rows[0])[:5] == ["table", "model", "protocol", "condition", "rounds"]
    assert {(row["protocol"], row["rounds"]) for row in rows if row["table"] == "cells"} == {
        ("S0", "6"),
        ("S0", "10"),
        ("S1", ""),
    }
    assert f"{MODEL} S0 V2 n6: 1 × failed: CrashLoopError" in render_markdown(report)
    plain = build_report(DATASET, [response("c1", "Final answer: B")], CATALOGUE)
    assert "rounds" not in render_csv(plain).splitlines()[0]


def test_files_of_verdicts_tell_the_most_rounds_of_each(tmp_path: Path) -> None:
    """A number, and none for a chat without a loop."""
    write_verdicts(
        sample_outcomes(DATASET, chats(), CATALOGUE), tmp_path / "v.jsonl", "jsonl", VerdictFileLayout.of(DATASET)
    )
    rows = [json.loads(line) for line in (tmp_path / "v.jsonl").read_text().splitlines()]

    assert [row["max_rounds"] for row in rows] == [10] * 4 + [6] * 3 + [None]


def test_lines_of_ones_own_with_other_rounds_are_no_repeats(tmp_path: Path) -> None:
    """Nor copies of each other; more rounds than may be asked for here count, too."""
    lines = [
        {"sample_id": GOOD["rs-logic"]["id"], "text": "B", "stop": "answered", "max_rounds": number}
        for number in (6, 6, 100)
    ]
    (tmp_path / "own.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

    found = score_files(write_dataset(tmp_path / "tiny", GOOD["rs-logic"]), tmp_path / "own.jsonl").cells
    assert [(cell.rounds, cell.answered, cell.repeats is not None) for cell in found] == [(6, 2, True), (100, 1, False)]


def test_a_cell_is_written_alike_by_people_and_in_ids() -> None:
    """As ids of requests have it, in words; and back to the cell that was asked."""
    cell = Cell(protocol="search", condition="V2", rounds=10)
    key = CellKey.of("m", cell)

    assert (key.how, str(key), str(cell)) == ("search V2 n10", "m search V2 n10", "search:V2:10")
    assert key.cell == cell
    assert key.keys == {"model": "m", "protocol": "search", "condition": "V2", "rounds": "10"}
    assert "rounds" not in key._replace(rounds=0).keys
