"""Split a sentence that counts into clauses, each with its counts and the words that tell of what they are."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from gigavqa.answers.asked import words_in
from gigavqa.answers.content_words import Token, is_content, tokens
from gigavqa.answers.counting import numbers_in
from gigavqa.answers.lexicon import Words, phrases, words
from gigavqa.answers.numerals import NUMERALS, value_of

_COUNTERS = frozenset(phrases("counted"))


class CountClause(NamedTuple):
    """A clause of a sentence: its place, its numbers and its words, with those of a clause before it that has none."""

    start: int
    end: int
    numbers: list[re.Match[str]]
    spoken: list[Token]


def count_clauses(language: str, lowered: str, numbers: Sequence[re.Match[str]]) -> list[CountClause]:
    """Split a sentence at its counts; what has neither a count nor a denial goes on with the clause before it."""
    every = _without_numbers(language, lowered)
    found: list[CountClause] = []
    lead: list[Token] = []
    for start, end in _spans(language, lowered, numbers):
        own = [one for one in numbers if start <= one.start() < end]
        spoken = [one for one in every if start <= one.start < end]
        if own or (zero_in(language).search(lowered[start:end]) and any(map(is_content, spoken))):
            found.append(CountClause(start, end, own, lead + spoken))
            lead = []
        elif found and found[-1].numbers:
            found[-1] = found[-1]._replace(end=end, spoken=found[-1].spoken + spoken)
        else:
            lead += spoken
    return found


@lru_cache(maxsize=16)
def zero_in(language: str) -> Words:
    """Return what finds a denial that there is any, in one language."""
    return words_in(language, "nothing", "no_such", "none_alone", "none_there", "none_behind")


def _without_numbers(language: str, lowered: str) -> list[Token]:
    """Return the words of a sentence without its numbers, their measure words, and verbs of posture."""
    numbers = numbers_in(lowered)
    ends = {one.end() for one in numbers}
    several = {one.end() for one in numbers if value_of(one[0]) > 1}

    def is_spoken(one: Token) -> bool:
        said = lowered[one.start : one.end]
        if one.is_posture and language == "en" and said.endswith("s") and one.start - 1 in several:
            return True  # "11 stands" are things, "one stands" tells where it is
        if one.is_posture or one.stem.isdigit() or said in NUMERALS or (one.start in ends and said in _COUNTERS):
            return False
        return not any(number.start() <= one.start < number.end() for number in numbers)

    return [one for one in tokens(lowered, language) if is_spoken(one)]


def _spans(language: str, lowered: str, numbers: Sequence[re.Match[str]]) -> Iterator[tuple[int, int]]:
    """Yield the places of clauses; a border that opens is one only behind a count, "Trucks: 12"."""
    start = 0
    for border in _border(language).finditer(lowered):
        at = border.start()
        if any(one.start() < border.end() and at < one.end() for one in numbers):
            continue
        if not border["open"] or any(start <= one.start() < at for one in numbers):
            yield start, at
            start = at
    yield start, len(lowered)


@lru_cache(maxsize=16)
def _border(language: str) -> re.Pattern[str]:
    """Return what stands between two clauses of one language."""
    joints = words(f"addition.{language}", f"contrast.{language}")
    return re.compile(rf"(?P<open>[:：(（|—–])|[,，、،;；)）]|\s-\s|{joints}")
