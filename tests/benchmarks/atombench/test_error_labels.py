"""Kinds of errors that people found in wrong replies are counted beside those that nobody looked at."""

import json
from typing import Any

import pytest

from gigavqa.benchmarks.atombench.benchmark import AtomBench
from gigavqa.catalogue.load import load_catalogue
from gigavqa.evaluation.datasets import Dataset
from gigavqa.evaluation.tables import Row
from gigavqa.reports.report import build_report
from tests.benchmarks.atombench.questions import EXAMPLE
from tests.evaluation.responses import response

CLUES = [sample for sample in EXAMPLE if sample.level == "clue"][:4]


def label(request: str, error: str, present: bool = True, job: str = "job") -> dict[str, Any]:
    """A line of the file."""
    return {"job": job, "request": request, "error": error, "present": present}


def table_of(*lines: dict[str, Any], wrong: int = 3) -> tuple[Row, ...]:
    """The table's rows, where so many of four replies are wrong."""
    benchmark = AtomBench().configured({"errors.jsonl": "\n".join(map(json.dumps, lines))})
    dataset = Dataset("tiny", benchmark, "Tiny", "", tuple(EXAMPLE), "0" * 64)
    replies = []
    for at, sample in enumerate(CLUES):
        letter = next(one for one in sample.options or () if (one == sample.answer) is (at >= wrong))
        replies.append(response(sample.id, f'{{"answer": "{letter}"}}', protocol="A0", request_id=f"r{at}", repeat=0))
    found = build_report(dataset, replies, load_catalogue()).table("errors")
    return found.rows if found else ()


def test_errors_are_counted_by_kind() -> None:
    """One reply may have two; shares are of those that were looked at for the kind."""
    (row,) = table_of(
        label("r0", "post_hoc"),
        label("r0", "perception"),
        label("r1", "post_hoc", present=False),
        label("r2", "anchoring"),
    )
    wrong, labelled, *rest = row.values
    assert (wrong, labelled) == (3, 3)
    assert list(rest[::2]) == [1, 1, 1]
    assert [share.value for share in rest[1::2]] == [0.5, 1.0, 1.0]  # type: ignore[union-attr]


def test_labels_of_right_replies_and_other_jobs_count_nothing() -> None:
    """A reply that a newer reader takes for right is no error any more."""
    assert table_of(label("r3", "post_hoc"), label("r0", "post_hoc", job="other")) == ()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("x", "line 1: is not JSON"),
        ('{"job": "a", "request": "b"}', "line 1: must be an object with the texts job, request and error"),
        (json.dumps(label("r", "bad")), "line 1: error 'bad' is none of post_hoc, anchoring, perception"),
        (
            "\n".join(json.dumps(label("r", "post_hoc", present=said)) for said in (True, False)),
            "line 2: another line says the opposite of 'r'",
        ),
    ],
)
def test_a_line_that_cannot_be_used_is_named(line: str, told: str) -> None:
    """By file and line."""
    with pytest.raises(ValueError, match=f"errors.jsonl: {told}"):
        AtomBench().configured({"errors.jsonl": line})
