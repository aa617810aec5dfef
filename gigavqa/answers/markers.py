"""Find where a response announces its final answer, in the languages that models answer in (appendix D.2)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from gigavqa.answers.lexicon import phrases

Announcement = Literal["announced", "box", "json"]
"""In words, in a box, or under a key of JSON."""


@dataclass(frozen=True)
class Marker:
    """One announcement: `end` is where the answer may begin; `direct` wants the answer right there."""

    start: int
    end: int
    direct: bool
    form: Announcement = "announced"


CLAUSE_REACH = 160
"""Characters about a marker in which its clause is looked for."""
_CLAUSE = re.compile(r"[.!?;。！？;।\n]")


def clause_before(text: str, marker: Marker) -> str:
    """Return what stands before an announcement in its clause."""
    return _CLAUSE.split(text[max(0, marker.start - CLAUSE_REACH) : marker.start])[-1].strip()


class _MarkerPhrases:
    """Phrases of one strength, lower case. `connector` wants "is", ":" or the like behind them.

    ASCII ones are kept by a stem that each of them holds: looking for the stems spares most texts the phrases.
    """

    def __init__(self, name: str, *, direct: bool, connector: bool) -> None:
        ascii_ones = [phrase for phrase in phrases(name) if phrase.isascii()]
        ends = {re.split(r"[\s_]", phrase.strip("\\<>."))[-1] for phrase in ascii_ones}
        stems = [end for end in ends if not any(other in end and other != end for other in ends)]
        by_stem = {phrase: next(stem for stem in stems if stem in phrase) for phrase in ascii_ones}
        self.ascii = [(stem, [phrase for phrase in ascii_ones if by_stem[phrase] == stem]) for stem in stems]
        self.other = tuple(phrase for phrase in phrases(name) if not phrase.isascii())
        self.direct, self.connector = direct, connector

    def candidates(self, text: str) -> list[str]:
        """Return the phrases that may stand in a text, each once."""
        found = [] if text.isascii() else list(self.other)
        for stem, ones in self.ascii:
            if stem in text:
                found += ones
        return found


_FINAL = _MarkerPhrases("announcement_final", direct=False, connector=False)
_ANSWER = _MarkerPhrases("announcement", direct=False, connector=True)
_CHOICE = _MarkerPhrases("announcement_direct", direct=True, connector=False)
_DENIALS = frozenset({*phrases("denial_before"), *phrases("negation"), "wrong", "incorrect"})
_NOT = frozenset("不非無无未")
_JOINED_TO_WORDS, _PREFIXES = re.compile(r"[\u0400-\u052f\u0600-\u06ff\u0900-\u097f]"), frozenset("وف")
"""Scripts whose words end at spaces, and the letters that are words and are written in one with the next."""
_FILLERS = frozenset(phrases("filler"))

_CONNECTOR = re.compile(
    r"(?:\s+(?:correcta|correcte|correta|corretta|final|finale|richtige|đúng|الصحيحة|is\s+therefore)\b)?"
    r"[\s*_`\"'”’»)\]}>]*(?:[:：=→⇒]|-+>|[—–]|-\s|[*_`\"”»)\]}>]+\s|\s*\n|は|是|为|為|है|là|هي|هو|היא|คือ"
    r"|,?\s+[(\[*\"'`]*[a-h](?=[)\]*\"'`]*\s*(?:[^\w\s'’]|$|\n|['’]d[iı]r|[^\W\da-zà-ɏЀ-ӿ])|\s+(?:qui|que|qu'|la\s+que)\b)|\s+to\s+[(\[*\"'`]*[a-h](?=[)\]*\"'`]*(?:[.,;!]|\s*$))"
    r"|\b(?:is|was|are|would|should|must|will|seems|appears|remains|stays|est|ist|lautet|wäre|bleibt|reste|es|sería|é"
    r"|è|será|sarà|adalah|är|je)\b"
    r"|\bto\s+(?:the|this)\s+question\s+(?:is|would|should|must)\b)",
    re.IGNORECASE,
)
_LONGEST_CONNECTOR = 40
_REACH_BEFORE = 24
_KEYED = re.compile(
    r"[\"'“](?:(?:final|correct|selected|chosen|predicted|best)[_ ]?)?(?:answer|choice|option|prediction|result|letter)"
    r"(?:[_ ]?letter)?[\"'”]\s{0,8}:\s{0,8}(?=[\"'“(\[{*]{0,3}[a-z](?![a-z0-9]))",
    re.IGNORECASE,
)
"""A key of JSON whose value begins with a letter that stands alone."""
_ANSWER_KEYED = re.compile(r"[\"']answer[\"']", re.IGNORECASE)


_MOST = 64
"""Announcements that are looked at, from the end: a model that runs in circles writes thousands."""


def final_markers(text: str) -> list[Marker]:
    """Find the last announcements of a final answer, in order."""
    found = [*_find(_FINAL, text, text.lower()), *_keys(text)]
    return sorted(found, key=lambda marker: marker.end)[-_MOST:]


def answer_markers(text: str) -> list[Marker]:
    """Find the last announcements of an answer that do not say that it is final, in order."""
    lowered = text.lower()
    found = [*_find(_ANSWER, text, lowered), *_find(_CHOICE, text, lowered)]
    return sorted(found, key=lambda marker: (marker.end, marker.start))[-_MOST:]


def _keys(text: str) -> Iterator[Marker]:
    if '"' in text or "'" in text:
        yield from (Marker(*key.span(), direct=False, form="json") for key in _ANSWER_KEYED.finditer(text))
        if "{" in text:
            yield from (Marker(*key.span(), direct=True, form="json") for key in _KEYED.finditer(text))


def _find(phrases: _MarkerPhrases, text: str, lowered: str) -> Iterator[Marker]:
    # Lower-casing may lengthen a text (İ); positions are then of no use, and the text itself is searched.
    searched = lowered if len(lowered) == len(text) else text
    for phrase in phrases.candidates(searched):
        position, found = searched.rfind(phrase), 0
        while position >= 0 and found < _MOST:
            end = position + len(phrase)
            if _counts(phrases, phrase, searched, position, end):
                found += 1
                yield Marker(position, end, phrases.direct, "box" if phrase[0] == "\\" else "announced")
            position = searched.rfind(phrase, 0, position)


def _counts(phrases: _MarkerPhrases, phrase: str, text: str, start: int, end: int) -> bool:
    if phrase[0].isalpha() and phrase.isascii() and _letter_at(text, start - 1):
        return False
    if phrase[-1].isalpha() and phrase.isascii() and _letter_at(text, end):
        return False
    before = text[max(0, start - 1) : start]
    if before in _NOT or (_JOINED_TO_WORDS.match(phrase) and before.isalpha() and before not in _PREFIXES):
        return False
    if phrases.connector and not _CONNECTOR.match(text, end, end + _LONGEST_CONNECTOR):
        return False
    return not _is_denied(text, start)


def _is_denied(text: str, start: int) -> bool:
    """Return whether the words before an announcement deny it, "and not the answer B"."""
    before = text[max(0, start - _REACH_BEFORE) : start].split()
    while before and before[-1] in _FILLERS and before[-1] not in _DENIALS:
        before.pop()
    return bool(before) and before[-1] in _DENIALS


def _letter_at(text: str, position: int) -> bool:
    return 0 <= position < len(text) and text[position].isascii() and text[position].isalpha()
