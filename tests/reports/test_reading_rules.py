"""Reports count answers by the rule that read them, and old tallies, which tell of none, are still read."""

import json
from typing import Any

import pytest

from gigavqa.answers.boxes import BoxFrame
from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.responses import Response, TurnResponse
from gigavqa.evaluation.installed import find_benchmark
from gigavqa.evaluation.replies import reply_of
from gigavqa.reports.report import Report, report_on_replies, report_on_tally, tally_replies
from gigavqa.reports.tallies import dump_tally, merge_tally
from gigavqa.reports.writers.verdict_columns import VerdictFileLayout
from tests.answers.readers import examples
from tests.benchmarks.ultravr.test_process import DATASET
from tests.evaluation.responses import response

CATALOGUE = load_catalogue()
SAMPLE = DATASET.samples[0]
SAID = {
    "Final answer: B": "announced",
    "\\boxed{B}": "box",
    '{"choice": "B"}': "json",
    "B\nThe wall is behind it.": "opening",
    "A: wrong\nB: right\nC: wrong\nD: wrong": "verdicts",
    "Option B is correct. Option A describes the mirrored scene.": "affirmed",
    "The wall is behind. Therefore it is B.": "concluded",
    "A, C and D are wrong, and B is there.": "only left",
    "The tower is on the left, at B.": "last",
    "B describes the scene.": "described",
}
"""Replies, and the rule by which the answer of each is read."""


def said(text: str, number: int, **changes: Any) -> Response:
    """A reply to a request of its own."""
    turn = TurnResponse(text=text, finish_reason=changes.pop("finish_reason", "stop"))
    return response(SAMPLE.id, text, turns=(turn,), request_id=f"r{number}", repeat=number, **changes)


def replies() -> list[Response]:
    """One reply of each rule, and one that answers nothing."""
    return [said(text, number) for number, text in enumerate([*SAID, "Who knows."])]


def counted(report: Report) -> dict[str, Any]:
    """The table's one row, by its columns."""
    table = report.table("reading_rules")
    assert table is not None
    (row,) = table.rows
    return dict(zip((column.key for column in table.columns), row.values, strict=True))


def test_a_report_counts_answers_by_the_rule_that_read_them() -> None:
    """One of each; what was not read counts nowhere."""
    report = report_on_replies(DATASET, map(reply_of, replies()), CATALOGUE)

    assert counted(report) == dict.fromkeys(SAID.values(), 1)
    assert report.cells[0].rules == dict.fromkeys(SAID.values(), 1)


def test_tallies_that_were_written_count_the_same() -> None:
    """To the last reply."""
    tally = tally_replies(DATASET, (), CATALOGUE)
    written = json.loads(json.dumps(dump_tally(tally_replies(DATASET, map(reply_of, replies()), CATALOGUE))))
    merge_tally(tally, "j", written, DATASET.benchmark)

    assert counted(report_on_tally(DATASET, tally, CATALOGUE)) == dict.fromkeys(SAID.values(), 1)


def test_files_of_verdicts_tell_the_rule() -> None:
    """In a column of their own."""
    assert VerdictFileLayout().columns["rule"] == "text"


@pytest.mark.parametrize("name", ["atombench", "questions", "ultravr"])
def test_every_benchmark_that_reads_options_knows_what_was_cut_off(name: str) -> None:
    """A reply that breaks off while it goes through the options has not chosen the last of them."""
    text = "First, option A: the wall is in front. Then, option B: the station is"
    sample = next(one for one in examples()[name] if one.options)
    judge = find_benchmark(name).judge(sample)
    verdicts = [judge(reply_of(said(text, 0, finish_reason=reason)), BoxFrame()) for reason in ("length", "stop")]

    assert [verdict.status for verdict in verdicts] == ["unfinished", "last"]
