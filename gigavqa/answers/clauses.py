"""Clauses of a text that state something, as questions of yes or no are read by them."""

import re
from collections.abc import Iterator
from functools import lru_cache

from gigavqa.answers.abstention import abstains
from gigavqa.answers.asked import Asked, words_in
from gigavqa.answers.lexicon import UNSPACED, words
from gigavqa.answers.text import sentences_of
from gigavqa.answers.withdrawals import is_ascribed, is_conditional, is_first_thought, is_hypothesis

ASKS = ("?", "？", "؟")
_NEVER_APART = frozenset({"zh", "ja", "ko"})
"""Languages whose "and" may stand within a word."""


@lru_cache(maxsize=16)
def _border(language: str) -> re.Pattern[str]:
    """Return what stands between two clauses of one language."""
    joints = rf"(?<=[않없있이])(?:고|으며|며)(?=\s)|\s(?=و(?:لا|ليس|لم)\s)|\s-\s|{words(f'contrast.{language}')}"
    return re.compile(rf"[,，、،;；:：()（）—–|]|{joints}")


def clauses(asked: Asked, text: str) -> Iterator[str]:
    """Yield the clauses of a text that state something; those that an "and" joins apart where one of them denies."""
    negator = words_in(asked.language, "negator")
    for sentence in sentences_of(text):
        if sentence.rstrip().endswith(ASKS) or is_first_thought(sentence):
            continue
        for clause in clauses_of(asked.language, sentence.lower()):
            parts = [clause] if asked.language in _NEVER_APART else words_in(asked.language, "addition").split(clause)
            yield from parts if any(map(negator.search, parts)) else [clause]


def clauses_of(language: str, lowered: str) -> Iterator[str]:
    start = 0
    for border in _border(language).finditer(lowered):
        yield lowered[start : border.end() if UNSPACED.match(border[0]) else border.start()]
        start = border.end()
    yield lowered[start:]


def is_unsure(asked: Asked, clause: str) -> bool:
    """Return whether a clause only seeks, supposes, doubts or cites."""
    return bool(
        is_ascribed(clause.rstrip(" .!。।"))
        or words_in(asked.language, "sought").search(clause)
        or abstains(clause)
        or is_conditional(clause)
        or is_hypothesis(clause)
    )
