"""Replies with their questions, labelled before any rule read them: what each says of what was asked for."""

import json
from pathlib import Path
from typing import Any

import pytest

from gigavqa.answers.asked import asked_of
from gigavqa.answers.booleans import read_boolean
from gigavqa.answers.normalization import json_value, said
from gigavqa.answers.numbers import read_integer

ROWS = [json.loads(line) for line in (Path(__file__).parent / "replies.jsonl").read_text("utf-8").splitlines()]
"""Each with the labels that a careful reader may give: null for a reply that says nothing of what was asked for."""
READERS = {"integer": read_integer, "boolean": read_boolean}
MISREAD = {"integer": 12, "boolean": 4}
"""By kind, how many are not read as labelled."""
MOST_WRONG = {"integer": 0, "boolean": 2}
"""Of these, how many are read as something else; so are they where no question is known."""


def read(row: dict[str, Any], *, is_asked: bool = True) -> Any:
    """Return what is read of a reply, with its question or without; None where nothing is."""
    asked = asked_of(row["question"]) if is_asked else None
    return READERS[row["kind"]](json_value(said(row["text"]).text), asked=asked).value


def agrees(row: dict[str, Any], value: Any) -> bool:
    """Return whether a value is one of a reply's labels."""
    return any(label == value and type(label) is type(value) for label in row["labels"])


@pytest.mark.parametrize("kind", READERS)
def test_replies_are_read_by_their_question(kind: str) -> None:
    """A miss more than are known is a step back."""
    missed = [row for row in ROWS if row["kind"] == kind and not agrees(row, read(row))]

    assert len(missed) <= MISREAD[kind], missed


@pytest.mark.parametrize("kind", READERS)
def test_hardly_any_reply_is_credited_with_what_it_says_of_something_else(kind: str) -> None:
    """No answer is better than a wrong one, and a question makes none wrong that was right without it."""
    wrong = [row for row in ROWS if row["kind"] == kind and not agrees(row, value := read(row)) and value is not None]
    made_wrong = [row for row in wrong if agrees(row, read(row, is_asked=False))]

    assert len(wrong) <= MOST_WRONG[kind], wrong
    assert not made_wrong, made_wrong
