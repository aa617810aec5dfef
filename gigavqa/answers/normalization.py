"""Brings a step's raw answer to what is said: thinking, code fences and JSON wrappers off, announcements found."""

import json
import re
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from gigavqa.answers.lexicon import lazy_pattern, phrases
from gigavqa.answers.loose_json import is_deep
from gigavqa.answers.markers import Marker, answer_markers, clause_before, final_markers
from gigavqa.answers.numerals import EITHER
from gigavqa.answers.text import answer_of, plain
from gigavqa.answers.withdrawals import is_conditional

_FENCE = re.compile(r"```[a-zA-Z0-9]*\s*\n?(.*?)(?:```|$)", re.DOTALL)
_BRACED = r"\s*\{([^{}]*)\}"
_WORDED, _BOXED = lazy_pattern(rf"\\(?:text|mathrm){_BRACED}"), lazy_pattern(rf"\\f?boxed{_BRACED}")
_WRAPPERS = frozenset(
    {"answer", "final_answer", "final answer", "value", "result", "response", "step_answer", "output", "prediction"}
    | {*phrases("announcement"), *phrases("announcement_direct"), *phrases("announcement_final")}
)
_BLANKS = frozenset(
    {
        "null",
        "none",
        "nil",
        "n/a",
        "n.a",
        "na",
        "nan",
        "blank",
        "left blank",
        "empty",
        "not applicable",
        "undefined",
    }
    | {"无", "不适用", "not present", "absent"}
)
_EMPTY = re.compile(r"\[\s*\]|\(\s*\)|\{\s*\}")
_LONGEST_BLANK = 16
_OPENS_BLANK = re.compile(r"[\s*_`\"'(\[]*(?:n/a|not applicable)\b", re.IGNORECASE)
_COPULA = re.compile(r"\A[是为為は]\s{0,2}[:：]\s{0,2}")
_LEADING = " \t\n*_`:：=→-"


class NormalizedAnswer(NamedTuple):
    """The text of an answer, or the reason that nothing is read of it: thinking without end, or too much that announces
    nothing.
    """

    text: str
    silence: Literal["unfinished", "too_long"] | None = None


def said(raw: str) -> NormalizedAnswer:
    """Return the answer without thinking, fences and boxes; of one that is too long the end, if it announces."""
    answer = answer_of(raw)
    if answer is None:
        return NormalizedAnswer("", "unfinished")
    if answer.before and not (final_markers(answer.text) or answer_markers(answer.text)):
        return NormalizedAnswer("", "too_long")
    return NormalizedAnswer(_bare(answer.text))


_ECHO = re.compile(
    r"[\"“«„「'‘](?<!\w.)"  # in this order the search skips from mark to mark
    r"(?=[^\"”»“」\n]{0,200}?\b(?:how many|(?:answer|reply|respond) (?:with|in|by)|true or false)\b)"
    r"[^\"”»“」\n]{1,240}[\"”»“」'’](?!\w)",
    re.IGNORECASE,
)
"""The request in quotation marks, "Answer with true or false." """
_BEGINS = re.compile(r"(?:right|okay|ok|alright|well)\s?[,.!]\s+(?=let\b)", re.IGNORECASE)
"""A word by which a text only begins, "Right, let's see."."""


def _bare(text: str) -> str:
    text = _BEGINS.sub("", text, count=1) if _BEGINS.match(text) else text
    if _ECHO.search(text) and any(map(str.isalnum, rest := _ECHO.sub(" ", text))):
        text = rest
    if "`" not in text and "\\" not in text:
        return text
    text = _without_fences(text) if "```" in text else text
    if "\\" not in text:
        return text
    text = _WORDED.sub(r" \1 ", text.replace("{,}", ","))
    alone = _BOXED.fullmatch(text.strip(" $"))
    return f" {alone[1]} " if alone else _BOXED.sub(r"\\boxed: \1 ", text)


def _without_fences(text: str) -> str:
    """Return what a fence holds, where it is the answer: an object or list of JSON, or the end of the text.

    Of a text that goes on behind a table or a program in a fence, all is kept but the marks.
    """
    fences = [fence for fence in _FENCE.finditer(text) if fence[1].strip()]
    if not fences:
        return text
    held = fences[-1][1].strip()
    is_json = held.startswith(("{", "[")) or fences[-1][0].startswith("```json")
    is_last = not any(map(str.isalnum, text[fences[-1].end() :]))
    return held if is_last or is_json else _FENCE.sub(r"\1", text)


def json_value(text: str) -> Any:
    """Decode a text that is JSON, out of an object that only wraps it; any other text comes back as it is."""
    if not text or text[0] not in '[{"-0123456789tfn' or EITHER.fullmatch(text):
        return text
    try:
        value = json.loads(text)
        return text if is_deep(value, text) else _unwrapped(value)
    except (ValueError, RecursionError):  # a model in a loop nests brackets without end
        return text


def _unwrapped(value: Any) -> Any:
    if isinstance(value, dict):
        found = [inner for key, inner in value.items() if str(key).strip().lower() in _WRAPPERS]
        if len(found) == 1:
            return _unwrapped(found[0])
        if len(value) == 1 and re.fullmatch(r"[SQ]\d+(?:\.\d+)?", next(iter(value))):
            return _unwrapped(next(iter(value.values())))
    return value


def is_blank(value: Any) -> bool:
    """Return whether a value says that there is no answer to give: null, [], "N/A" and the like."""
    if value is None or value in ([], {}):
        return True
    if not isinstance(value, str):
        return False
    short = len(value) <= _LONGEST_BLANK
    return (short and (plain(value) in _BLANKS or _is_empty_list(value))) or bool(_OPENS_BLANK.match(value))


def is_unanswered(value: Any) -> bool:
    """Return whether a value is a text that says nothing.

    Empty, or mere markup and punctuation. "[]" says something.
    """
    if not isinstance(value, str) or any(map(str.isalnum, value)):
        return False
    return not plain(value) and not _EMPTY.search(value)


def _is_empty_list(text: str) -> bool:
    return not plain(text) and bool(_EMPTY.search(text))


def passages(text: str) -> tuple[str, ...]:
    """Return where an answer may stand, best first: behind the last announcements, then the whole text."""
    return (*_announced(text), text)


@lru_cache(maxsize=64)
def _announced(text: str) -> tuple[str, ...]:
    last = (
        next((one for one in reversed(found) if not is_conditional(clause_before(text, one))), None)
        for found in (final_markers(text), answer_markers(text))
    )
    return tuple(_behind(text, marker) for marker in last if marker is not None)


def _behind(text: str, marker: Marker) -> str:
    return _COPULA.sub("", text[marker.end :].lstrip(_LEADING), count=1)
