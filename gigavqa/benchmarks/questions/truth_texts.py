"""The texts that a value lists as truths, whether in a list, an object or a cell; and words for no truth at all."""

import json
from collections.abc import Callable
from typing import Any

from gigavqa.answers.numerals import is_number
from gigavqa.benchmarks.questions.columns import parse_list, text_of
from gigavqa.benchmarks.questions.samples import AnswerKind

NO_TRUTHS = frozenset(
    ("nan", "n/a", "#n/a", "<na>", "nat", "null", "inf", "+inf", "-inf", "infinity", "+infinity", "-infinity")
)
MAY_BE_NONE = frozenset(("none", "na", "nil"))
"""What tables write where there is no value, and what may also be a true text."""


def list_truths(value: Any, *, typed: bool, kind: AnswerKind | None = None) -> list[str]:
    """Return the truths that a value lists, each once; in a table without types they are listed with | between them.

    Raises ValueError for a list of numbers, of which nothing tells whether it is one truth, and for objects without an
    answer.
    """
    value = parse_list(value)
    if isinstance(value, str) and not typed:
        value = value.split("|")
    values = value if isinstance(value, list) else [] if value is None else [value]
    if kind != "number" and len(values) > 1 and all(is_number(one) for one in values) and len({*values}) > 1:
        raise ValueError(
            f"{as_written(value)} is a list of numbers, one truth or several of which each is right; name the column "
            "answer_text where the list is the truth, or write several as texts"
        )
    inner = [one.get("answer") if isinstance(one, dict) else one for one in values]
    for one, told in zip(values, inner, strict=True):
        if isinstance(told, dict | list) or (isinstance(one, dict) and told is None):
            raise ValueError(f"{as_written(one)[:80]} is no truth: it must be a text, or an object with an `answer`")
    return [text for text in dict.fromkeys(map(text_of, inner)) if text]


def as_written(value: Any) -> str:
    """Return a value as a text, lists and objects as JSON writes them."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else text_of(value)


def list_literal_truths(value: Any, *, typed: bool) -> list[str]:
    """Truths that are meant as they are written: of a table also a list of texts, or texts with | between them."""
    told = parse_list(value) if not typed else value
    if isinstance(told, list) and all(isinstance(one, str) for one in told):
        return list_truths(told, typed=True)
    if isinstance(value, str) and not typed:
        return list_truths(value, typed=False) if not isinstance(told, list | dict) else [value.strip()]
    return [text] if (text := as_written(value)) else []


def known_truths(name: str, texts: list[str], kind: AnswerKind | None, note: Callable[[str], None]) -> list[str]:
    """Return the texts that are truths, and a note on those that say that there is none, or may say so.

    Where the truths are declared to be texts, all are.
    """
    none = NO_TRUTHS if kind != "text" else frozenset()
    for text in texts:
        if text.lower() in none:
            note(f"{name}: '{text}' is taken as no truth; name the column answer_text where it is one")
        elif text.lower() in NO_TRUTHS | MAY_BE_NONE:
            note(f"{name}: '{text}' is taken as a true text; leave the cell empty where no truth is known")
    return [text for text in texts if text.lower() not in none]
