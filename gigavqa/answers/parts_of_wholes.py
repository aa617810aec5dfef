"""Finds the counts that a question tells apart: parts and the wholes that they are counted of among them.

"5 of the 14 cars", "two of them", "Of the 14 cars, 5 are red", "텐트 14개 중 5개".
"""

import re
from functools import lru_cache
from itertools import pairwise

from gigavqa.answers.content_words import function_words
from gigavqa.answers.counting import counts_in, is_bound, numbers_in
from gigavqa.answers.lexicon import by_language, lazy_pattern, words
from gigavqa.answers.numerals import NUMERALS

_WHOLE_BEHIND = lazy_pattern(rf"\s*{words('part_of')}\s+(?:{words('article')}\s+)?", re.IGNORECASE)
_WHOLE_BEFORE = lazy_pattern(rf"\s?{words('counted')}?\s?(?:중|中|のうち)에?서?\s?")
_AMONG = re.compile("中|중|うち|में से")
"""What stands between a whole and its part where the whole is told first."""
_PART_IN_WORDS = lazy_pattern(
    rf"\b(?:{'|'.join(sorted((word for word in NUMERALS if word.isascii() and ' ' not in word), key=len)[::-1])})"
    r"(?=\s+(?:of|de\s+ell[oa]s)\b)",
    re.IGNORECASE,
)
"""A number in words before its whole, "two of them"."""


_ALTERNATIVE = lazy_pattern(rf"\s?(?:{words('alternative', 'range_to')}|[–~〜/-])\s?", re.IGNORECASE)
_PRONOUN = re.compile(r"(?:(?<=er )|(?<=est )|(?<=red )|(?<=other ))one\b", re.IGNORECASE)
"""No number, "the larger one"."""


def weighed_in(language: str, sentence: str) -> list[re.Match[str]] | None:
    """Return the counts of a sentence, parts and wholes among them; None beside a bound or a choice."""
    numbers = {one.start(): one for one in (*counts_in(sentence), *_shares_in(sentence))}
    if any(one.start() not in numbers and is_bound(sentence, one) for one in numbers_in(sentence)):
        return None
    empty = function_words(language)
    kept = [
        one for one in numbers.values() if one[0].lower() not in empty and not _PRONOUN.match(sentence, one.start())
    ]
    kept.sort(key=re.Match.start)
    return None if any(_is_choice(sentence, *pair) for pair in pairwise(kept)) else kept


def _is_choice(sentence: str, one: re.Match[str], other: re.Match[str]) -> bool:
    return one[0] != other[0] and bool(_ALTERNATIVE.fullmatch(sentence, one.end(), other.start()))


def _shares_in(sentence: str) -> list[re.Match[str]]:
    """Return the numbers of parts and of wholes that stand right beside each other, "5 of the 14 cars"."""
    joints = (_WHOLE_BEHIND, _WHOLE_BEFORE)
    return [
        number
        for one, other in pairwise(numbers_in(sentence))
        if any(joint.fullmatch(sentence, one.end(), other.start()) for joint in joints)
        for number in (one, other)
    ]


def has_whole(lowered: str, part: re.Match[str], whole: re.Match[str]) -> bool:
    """Return whether a number is a part of the one behind it, "5 of the 14"."""
    return bool(_WHOLE_BEHIND.fullmatch(lowered, part.end(), whole.start()))


def is_among(lowered: str, whole: re.Match[str], part: re.Match[str]) -> bool:
    """Return whether a number is a part of the one before it, as Chinese, Japanese, Korean and Hindi put it."""
    return bool(_AMONG.search(lowered, whole.end(), part.start()))


def is_whole(language: str, before: str, behind: str) -> bool:
    """Return whether a number is a whole by what stands about it in its clause: "Of the 14", "14人のうち"."""
    return opens_with_whole(language, before) or bool(_AMONG_AT_END.search(behind))


_AMONG_AT_END = re.compile(r"(?:中|중|うち|में से)에?서?\s*$")


def opens_with_whole(language: str, before: str) -> bool:
    """Return whether what a sentence begins with makes its first number a whole, "Of the 14 cars, 5 are red"."""
    return bool(_opening(language).fullmatch(before))


@lru_cache(maxsize=16)
def _opening(language: str) -> re.Pattern[str]:
    if not by_language("part_of").get(language):
        return re.compile(r"(?!)")
    article = words(f"article.{language}") if language in by_language("article") else "(?!)"
    return re.compile(rf"\W*{words(f'part_of.{language}')}\s+(?:{article}\s+)?(?:[^\W\d_]+['’]s?\s+)?")


def with_parts_in_digits(text: str) -> str:
    """Return a text with the number of a part in digits, "2 of them"."""
    lowered = text.lower()
    if " of " not in lowered and " de ell" not in lowered:
        return text
    return _PART_IN_WORDS.sub(lambda word: f"{NUMERALS[word[0].lower()]}", text)
