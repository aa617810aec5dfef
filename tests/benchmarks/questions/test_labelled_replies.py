"""Replies that were labelled by people who knew no rule: hardly any is credited with what it does not say."""

import json
from pathlib import Path
from typing import Any

import pytest

from gigavqa.answers.boxes import UNIT_FRAME
from gigavqa.benchmarks.questions.judging import QuestionJudge
from gigavqa.benchmarks.questions.samples import LETTERS_JOINT, Question
from gigavqa.evaluation.replies import reply_of
from tests.evaluation.responses import response

ROWS = [json.loads(line) for line in Path(__file__).with_name("labelled_replies.jsonl").read_text("utf-8").splitlines()]
"""Each with a careful reader's label, null where nothing is to be credited."""
KINDS = {"letter": "choice", "set": "choices", "number": "number", "truth": "yes_no"}
UNREAD = {"plain": 1, "reasoned": 1, "statement": 62, "hard": 49}
"""By style, how many are not read as labelled: a miss more than are known is a step back."""


def read(row: dict[str, Any]) -> str | None:
    """Return what is credited of a reply."""
    asked = {"id": "q", "images": ("a.jpg",), "question": row["question"], "kind": KINDS[row["type"]]}
    question = Question.model_validate(asked | ({"options": row["options"]} if "options" in row else {}))
    return QuestionJudge(question)(reply_of(response("q", row["reply"])), UNIT_FRAME).value


def meant(row: dict[str, Any]) -> str | None:
    """Return the label as verdicts write it."""
    match row["meant"]:
        case None | []:
            return None
        case bool(truth):
            return "yes" if truth else "no"
        case int(number) | float(number):
            return f"{number:.15g}"
        case list(letters):
            return LETTERS_JOINT.join(sorted(letters))
        case label:
            return str(label)


@pytest.mark.parametrize("style", UNREAD)
def test_replies_are_read_as_meant_or_not_at_all(style: str) -> None:
    """No answer is better than a wrong one."""
    found = [(row, read(row)) for row in ROWS if row["style"] == style]
    missed = [row for row, value in found if value != meant(row)]
    wrong = [(row, value) for row, value in found if value not in (None, meant(row))]

    assert not wrong
    assert len(missed) <= UNREAD[style], missed
