"""What the version before has stored is read and scored as it was: a Parquet part of its sink, and lines of its stream.

`recorded_before/` holds what it wrote: 45 responses to five samples under every protocol and condition, by a worker
whose engine answered from a script, among them an S4 chat that failed at its third turn, one that outgrew its context,
an answer that was cut off, and S3 chats that were told one example or none. `report.csv` is its report on them.
"""

from pathlib import Path

import pytest

from evaluation.recorded import read_replies
from evaluation.report import render_csv
from evaluation.score import score_files

BEFORE = Path(__file__).parent / "recorded_before"
PART, LINES = BEFORE / "part.parquet", BEFORE / "lines.ndjson"


def test_a_part_of_the_version_before_scores_as_it_did() -> None:
    """Every number of the report is the same to its last digit."""
    report = score_files(BEFORE / "samples.jsonl", PART)
    assert render_csv(report).splitlines() == (BEFORE / "report.csv").read_text().splitlines()


def test_the_examples_that_it_told_are_still_counted() -> None:
    """One of the S3 chats was told no example, for want of one on another image; the report says so."""
    warnings = score_files(BEFORE / "samples.jsonl", PART).warnings
    assert any("S3 V2: 1 of 5 responses were told no example" in warning for warning in warnings)


@pytest.mark.parametrize("number", range(4))
def test_lines_of_the_version_before_read_as_its_part_does(number: int, tmp_path: Path) -> None:
    """A line of the stream and the row of the part that holds the same response are the same reply."""
    line = tmp_path / "line.ndjson"
    line.write_bytes(LINES.read_bytes().splitlines()[number])
    (reply,) = read_replies([line])
    assert reply in list(read_replies([PART]))


def test_what_its_turns_answered_is_known() -> None:
    """The steps of the chat that outgrew its context are there by their names, its final answer is not."""
    (reply,) = (reply for reply in read_replies([LINES]) if reply.overflowed)
    assert [name for name, _ in reply.steps] == ["S1", "S2", "S3", "S4", "S5"]
    assert (reply.text, reply.failure) == (None, None)
