"""Replies as models write them, labelled without knowledge of the rules: nearly all are read as meant."""

import json
from pathlib import Path
from typing import Any

import pytest

from gigavqa.answers.answer_space import AnswerSpace
from gigavqa.answers.boxes import UNIT_FRAME
from gigavqa.answers.final import parse_answer
from gigavqa.answers.matching import IOU_THRESHOLD, iou, matched
from gigavqa.answers.readings import Reading
from gigavqa.benchmarks.ultravr.step_judge import read_step


def replies(name: str) -> list[dict[str, Any]]:
    """Return labelled replies by the name of their file."""
    return [json.loads(line) for line in (Path(__file__).parent / name).read_text("utf-8").splitlines()]


ROWS = replies("labelled_replies.jsonl")
DOUBTFUL = replies("doubtful_replies.jsonl")
"""Replies that take back, quote, suppose or contradict what they say; half of them are clear all the same."""
FORMATS = {"single": "single_choice", "multi": "multi_select", "boxes": "bbox_coordinates_list", "regions": "roi_list"}
MOST_WRONG = 4
"""Of 1,684 replies; all are of those that were written to be hard for a program."""
MISREAD_DOUBTFUL, MOST_WRONG_DOUBTFUL = 10, 1
"""Of 121 replies."""
KINDS = sorted({row["kind"] for row in ROWS})
MISREAD = {"letter": 7, "integer": 13, "single": 2, "multi": 2, "box": 2, "boxes": 0, "regions": 1, "boolean": 6}
"""By kind, how many are not read as labelled."""


def read(row: dict[str, Any]) -> Any:
    """Return what is read of a reply: a value as labels have it, or None where nothing is."""
    cut_off = row.get("cut_off", False)
    if row["kind"] == "letter":
        return parse_answer(row["text"], row["options"], cut_off=cut_off).value
    space = AnswerSpace(row.get("choices", ()), {})
    reading: Reading = read_step(FORMATS.get(row["kind"], row["kind"]), space, row["text"], UNIT_FRAME, cut_off)
    if reading.status == "blank" and row["kind"] == "boxes":
        return ()
    return reading.value if reading.status == "parsed" else None


def agree(kind: str, label: Any, value: Any) -> bool:
    """Return whether a value is what a label says."""
    if label is None or value is None:
        return label is value
    if kind == "box":
        return iou(value, tuple(label)) >= IOU_THRESHOLD
    if kind == "boxes":
        return matched(list(value), [tuple(box) for box in label]) == len(value) == len(label)
    if kind in ("multi", "regions"):
        return set(value) == set(label)
    return type(value) is type(label) and value == label


@pytest.mark.parametrize("kind", KINDS)
def test_replies_are_read_as_they_are_meant(kind: str) -> None:
    """A miss more than are known is a step back."""
    rows = [row for row in ROWS if row["kind"] == kind]
    missed = [row["text"] for row in rows if not agree(kind, row["label"], read(row))]

    assert len(missed) <= MISREAD[kind], missed


@pytest.mark.slow
def test_hardly_any_reply_is_credited_with_what_it_does_not_mean() -> None:
    """No answer is better than a wrong one."""
    wrong = [
        row["text"] for row in ROWS if not agree(row["kind"], row["label"], value := read(row)) and value is not None
    ]

    assert len(wrong) <= MOST_WRONG, wrong


def test_doubt_is_told_from_what_is_clear() -> None:
    """What is unclear has no answer, and what only looks so has its own."""
    missed = [row["text"] for row in DOUBTFUL if not agree(row["kind"], row["label"], read(row))]

    assert len(missed) <= MISREAD_DOUBTFUL, missed


def test_doubtful_replies_are_not_credited_with_what_they_do_not_mean() -> None:
    """No answer is better than a wrong one."""
    wrong = [
        row["text"]
        for row in DOUBTFUL
        if not agree(row["kind"], row["label"], value := read(row)) and value is not None
    ]

    assert len(wrong) <= MOST_WRONG_DOUBTFUL, wrong


@pytest.mark.parametrize("text", ["True. Scratch that.", "It is true. Forget that.", "False. Scratch that."])
def test_a_truth_that_is_taken_back_is_none(text: str) -> None:
    """Unless another stands in its place."""
    assert read({"kind": "boolean", "text": text}) is None
    assert read({"kind": "boolean", "text": f"{text} False."}) is False
