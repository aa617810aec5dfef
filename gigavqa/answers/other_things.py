"""Takes out of a text what it says of another thing than its question asks for: of camera 2, where 3 was meant."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gigavqa.answers.asked import Asked
from gigavqa.answers.content_words import named, tokens
from gigavqa.answers.lexicon import Words, lazy_pattern, words
from gigavqa.answers.text import sentences_of

_CLAUSES = lazy_pattern(
    rf"[;；]|[,，、،]?(?<![^\W_]){words('set_against')}|[,，](?=\s?{words('contrast')})", re.IGNORECASE
)
_CONCLUDES = Words("conclusion", "summing_up", "exception", "exception_behind")
_BEHIND = re.compile(
    r"(?P<noun>[^\W\d_]+)\s?(?:№|#|no\.?|nr\.?|n[.º°]+)?\s?(?P<number>\d{1,4})(?![\d%]|[.,:]\d)", re.IGNORECASE
)
_BEFORE = re.compile(r"(?<![\d.,])(?P<number>\d{1,4})\s?[号號番번호]+\s?(?:の)?(?P<noun>[^\W\d_]{1,4})")


def without_others(text: str, asked: Asked, options: Iterable[str]) -> str:
    """Return a text without the clauses that speak of another thing than its question: of another number, or colour.

    The text itself where there are none. What options tell apart is told by them, and is nothing else.
    """
    meant = _Meant(asked, _numbers_asked(asked), named(tokens(" ; ".join(options).lower(), asked.language)))
    if not meant.numbers and not asked.told_apart:
        return text
    parts = sentences_of(text)
    kept = [clause for sentence in parts for clause in _told(sentence, meant)]
    return text if kept == parts else " ".join(kept)


class _Meant(NamedTuple):
    asked: Asked
    numbers: dict[str, str]
    optional: frozenset[str]
    """Words of the options."""


def _numbers_asked(asked: Asked) -> dict[str, str]:
    found: dict[str, set[str]] = {}
    for noun, number in _numbered(asked.text, asked.language):
        found.setdefault(noun, set()).add(number)
    return {noun: numbers.pop() for noun, numbers in found.items() if len(numbers) == 1}


def _told(sentence: str, meant: _Meant) -> Iterator[str]:
    """Yield a sentence, or those of its clauses that do not speak of others alone."""
    clauses = [clause for clause in _CLAUSES.split(sentence) if clause.strip()]
    if not any(_is_of_others(clause, meant) for clause in clauses):
        yield sentence
        return
    yield from (clause for clause in clauses if not _is_of_others(clause, meant))


def _is_of_others(clause: str, meant: _Meant) -> bool:
    lowered = clause.lower()
    if _CONCLUDES.search(lowered):
        return False
    numbered = _numbered(lowered, meant.asked.language) if meant.numbers else ()
    if any(number != meant.numbers.get(noun, number) for noun, number in numbered):
        return True
    if not meant.asked.told_apart:
        return False
    said = named(tokens(lowered, meant.asked.language))
    return bool(said & meant.asked.words) and meant.asked.is_contrary_to(said - meant.optional)


def _numbered(lowered: str, language: str) -> Iterator[tuple[str, str]]:
    """Yield the things of a lower-case text that have a number, by their noun's form."""
    for pattern in (_BEHIND, _BEFORE):
        for found in pattern.finditer(lowered):
            for noun in named(tokens(found["noun"], language)):
                yield noun, found["number"]
