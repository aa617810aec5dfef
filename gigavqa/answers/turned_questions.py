"""Answers to questions of yes or no that deny, ask whether something is false, or ask for a change (decision 0010).

A plain yes or no to one is an answer as it stands. A statement says no to what it goes against: "Is there no tree?"
"There are two trees.". Words of truth and falsehood alone can mean either.
"""

import re
from collections.abc import Callable
from functools import lru_cache

from gigavqa.answers.asked import Asked, asked_of, words_in
from gigavqa.answers.lexicon import Words
from gigavqa.answers.numerals import NUMBER, value_of
from gigavqa.answers.plain_truths import opens_against_denial, says_plainly
from gigavqa.answers.readings import AMBIGUOUS, UNPARSABLE, Reading, parsed
from gigavqa.answers.text import sentences_of

Stated = Callable[[Asked, str, Reading], Reading]
_CLAUSES = re.compile(r"[,;，；、،](?=\D)")
_LONGEST = 1_000


def as_turned(asked: Asked, text: str, reading: Reading, stated: Stated) -> Reading | None:
    """Return what a text answers to a question that turns its statement, as `stated` reads that; None of any other."""
    if not _is_turned(asked):
        return None
    if asked.find("truth_denied_asked"):
        return AMBIGUOUS if reading.status == "parsed" else reading
    if found := asked.find("falsehood_asked"):
        inner = asked_of(asked.text[found.end() :].lstrip(" ,")) or asked_of(asked.text[: found.start()])
        return _turned(text, reading, inner, stated)
    if asked.is_denied and asked.existing:
        return AMBIGUOUS if opens_against_denial(text) else _turned(text, reading, asked.affirmed, stated)
    if reading.status == "parsed" and says_plainly(text, bool(reading.value)):
        return None
    return _changed(asked, text)


@lru_cache(maxsize=1 << 12)
def _is_turned(asked: Asked) -> bool:
    if asked.find("truth_denied_asked") or asked.find("falsehood_asked") or _direction(asked.text):
        return True
    return asked.is_denied and bool(asked.existing)


def _turned(text: str, reading: Reading, inner: Asked | None, stated: Stated) -> Reading:
    """Return the contrary of what a text states of what is denied; a plain yes or no as it is."""
    if reading.status == "parsed" and says_plainly(text, bool(reading.value)):
        return reading
    told = stated(inner, text, UNPARSABLE) if inner else UNPARSABLE
    if told.status == "parsed":
        return parsed(not told.value)
    return AMBIGUOUS if reading.status == "parsed" else reading


def _changed(asked: Asked, text: str) -> Reading | None:
    """Return whether numbers of a text change as a question asks, "rose from 17 to 21"; None where none do."""
    risings = _direction(asked.text)
    if len(risings) != 1 or asked.is_denied or len(text) > _LONGEST:
        return None
    said = {
        rising
        for sentence in sentences_of(text)
        for clause in _CLAUSES.split(sentence)
        if (rising := _rising(asked, clause)) is not None
    }
    return parsed(said == risings) if len(said) == 1 else None


def _rising(asked: Asked, clause: str) -> bool | None:
    """Return whether a clause tells by two numbers and a word that something becomes more, or less."""
    lowered = clause.lower()
    risings, values = _direction(lowered), [value_of(one[0]) for one in NUMBER.finditer(clause)]
    if len(risings) != 1 or len(values) != 2 or words_in(asked.language, "negator").search(lowered):
        return None
    rising = next(iter(risings))
    return rising if values[0] != values[1] and (values[0] < values[1]) == rising else None


def _direction(lowered: str) -> frozenset[bool]:
    return frozenset(truth for truth, words in ((True, _RISING), (False, _FALLING)) if words.search(lowered))


_RISING, _FALLING = Words("rising"), Words("falling")
