"""Reads the answer out of a raw response: what is said under the key `answer`, then the core's rules for letters.

The prompts ask for JSON, whose printed form is a misprint that models imitate: `["answer": "..." }]`. Where a text
is, or ends with, such an object, whole, fenced, unclosed or misprinted, its answer is read, else the whole text. An
option's own words count as its letter, where no letter is named: the paper takes such an answer (Figure 13).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from gigavqa.answers.final import parse_answer
from gigavqa.answers.loose_json import TruncatedJson, read_objects, unescaped
from gigavqa.answers.parsed_answers import ParsedAnswer
from gigavqa.answers.text import Answer, answer_of

READER_VERSION = "atombench-answers/2"
_KEY = "answer"
_KEYED = re.compile(r"[{\[,]\s*[\"'“`]?answer[\"'”`]?\s*:\s*", re.IGNORECASE)
_LETTER = r"(?:[Oo]ption\s+[*_(\[]*+)?([A-Z])[*_)\]]*[.):][*_]*+\s"
_OPENING = re.compile(rf"[\s*_\"'(\[]*+{_LETTER}")
_LISTED = re.compile(rf"^[-•]?(?:[^\S\n]|[*_\"'(\[])*+{_LETTER}", re.MULTILINE)
_CONCLUDES = re.compile(r"(?:therefore|thus|hence|so|overall|in conclusion)\b", re.IGNORECASE)
"""How a last sentence begins that sums up what comes before it, whatever that opens with."""
_BEHIND_WORDS = re.compile(r"\W*")
_CLOSERS = re.compile(r"[\s`}\]]*")
_CLOSED = re.compile(r"[\s`}\],]*")
_QUOTES = {'"': '"', "'": "'", "“": "”", "`": "`"}


def read_answer(raw: str, options: Mapping[str, str], *, cut_off: bool = False) -> ParsedAnswer:
    """Read a raw response to a question with lettered options, which may be cut off; `value` is a letter, or None."""
    answer = answer_of(raw)
    if answer is None or answer.before:
        return _read_long_answer(raw, answer, options)
    wrapped = unwrap_answer(answer.text)
    said = answer.text if wrapped is None else wrapped
    found = parse_answer(said, options, cut_off=cut_off and wrapped is None)
    if found.status != "marker" and (letter := _opening_letter(said, options)) and not _concludes(said):
        return ParsedAnswer(letter, "last", rule="opening")
    if found.quoted:
        return ParsedAnswer(found.quoted, "option_text", rule="option text")
    return found if wrapped is None or found.value is None else replace(found, rule="json")


def _read_long_answer(raw: str, answer: Answer | None, options: Mapping[str, str]) -> ParsedAnswer:
    """Return what the core reads, but nothing where an answer that is too long to be read whole opens with a letter."""
    found = parse_answer(raw, options)
    opening = _OPENING.match(answer.before) if answer else None
    if opening and opening[1] in options and found.status != "marker":
        return ParsedAnswer(None, "too_long")
    return ParsedAnswer(found.quoted, "option_text", rule="option text") if found.quoted else found


def _concludes(said: str) -> bool:
    """Return whether the last sentence sums up."""
    body = _strip_end(said, _BEHIND_WORDS)
    stop = max(map(body.rfind, ".!?"))
    last = body[stop + 1 :]
    return bool(_CONCLUDES.match(last.lstrip())) and last[:1].isspace() == (stop >= 0)


def _strip_end(text: str, end: re.Pattern[str]) -> str:
    """Return a text without what stands at its end, found from there in one go."""
    found = end.match(text[::-1])
    return text[: len(text) - (found.end() if found else 0)]


def _opening_letter(said: str, options: Mapping[str, str]) -> str | None:
    """Return the letter that an answer opens with before it explains, "B.

    On these plates ..."; not the first of a list.
    """
    opening = _OPENING.match(said)
    if opening is None or opening[1] not in options:
        return None
    listed = {letter for letter in _LISTED.findall(said) if letter in options}
    return opening[1] if listed <= {opening[1]} else None


def unwrap_answer(text: str) -> str | None:
    """Return what stands under the key `answer` of the object that a text is or ends with; None where there is none."""
    if _KEY not in text.lower():
        return None
    objects = list(read_objects(text))
    for placed in reversed(objects):
        value = placed.value
        if isinstance(value, dict) and (said := _keyed_text(value)) is not None:
            return said if _CLOSERS.fullmatch(text, placed.end) else None
    return _unclosed_text(text, [placed.start for placed in objects if isinstance(placed.value, TruncatedJson)])


def _keyed_text(value: Mapping[str, Any]) -> str | None:
    """Return what an object says under its key, as one text; None without the key."""
    found = [inner for key, inner in value.items() if str(key).strip().lower() == _KEY]
    return "\n".join(_texts(found[-1])) if found else None


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)
    elif value is not None:
        yield str(value)


def _unclosed_text(text: str, starts: list[int]) -> str | None:
    """Return the text behind the key of an object that breaks off, holds quotes within its text, or begins as a list
    does.
    """
    keyed = next((one for one in _KEYED.finditer(text) if text[one.start()] == "[" or starts), None)
    if keyed is None:
        return None
    said = _strip_end(text[keyed.end() :], _CLOSED)
    closing = _QUOTES.get(said[:1], "")
    return unescaped(said[1:].removesuffix(closing) if closing else said)
