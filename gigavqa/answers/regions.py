"""Reads numbers of regions, 1 to 36, that an answer names (appendix D.2)."""

import re
from collections.abc import Iterator
from typing import Any

from gigavqa.answers.lexicon import Words, lazy_pattern, words
from gigavqa.answers.negation import Mention, stances
from gigavqa.answers.normalization import is_blank, passages
from gigavqa.answers.readings import BLANK, UNPARSABLE, Reading, parsed
from gigavqa.answers.sentence_forms import CONCLUSION
from gigavqa.answers.text import sentences_of
from gigavqa.answers.value_lists import LISTING, listed_values

_REGION = re.compile(r"(?<![\d.])\d{1,3}(?![\d%]|\.\d)")
_RANGE = lazy_pattern(
    rf"(?<![\d.])(\d{{1,2}})\s*(?:[-–—~〜]|{words('range_to')})\s*(\d{{1,2}})(?!\d|[.,]\d)", re.IGNORECASE
)
_DIGIT = re.compile(r"\d")
_REGIONS = range(1, 37)
_GRID = re.compile(
    r"\b6\s*[x×*]\s*6\b|\b1\s*(?:-|–|to)\s*36\b|\bQ2(?:\.1)?\b|\b36\s+(?:\w+\s)?regions\b", re.IGNORECASE
)
"""What an answer may say of the question: the grid, its numbers, the step's own id."""
_SERIES = rf"\d{{1,3}}(?:\s?(?:,|{words('addition', 'alternative')})\s?\d{{1,3}}){{0,8}}(?![\d%]|\.\d)"
_LEFT_OUT = Words("left_out", pattern=rf"{{}}\s+(?:[^\W\d]{{1,12}}\s)?(?P<series>{_SERIES})")
"""Regions that are taken out of a range, "4 through 6, without 5"."""
_COUNTED = lazy_pattern(
    rf"{words('counted_noun')}\s\d{{1,2}}(?=\s(?!{words('addition', 'alternative', 'copula')})[^\W\d_])", re.IGNORECASE
)
"""A number that counts what stands in the regions, "the 2 swans"."""


def read_regions(value: Any) -> Reading:
    """Read numbers of regions, 1 to 36; a number outside is kept, and makes the answer incorrect."""
    if isinstance(value, dict):
        lists = [inner for inner in value.values() if isinstance(inner, list)]
        return read_regions(lists[0] if len(lists) == 1 else list(value.values()) if len(value) == 1 else "")
    if isinstance(value, list | tuple):
        numbers = [number for item in value for number in _region_numbers(str(item))]
        return parsed(tuple(sorted(set(numbers)))) if numbers else UNPARSABLE
    if isinstance(value, int) and not isinstance(value, bool):
        return parsed((value,))
    if not isinstance(value, str):
        return UNPARSABLE
    value = _without_counts(_GRID.sub(" ", value))
    for passage in passages(value):
        told = (
            _listed_regions(value) or _concluded_regions(value)
            if passage is value
            else next((line for line in passage.splitlines() if _DIGIT.search(line)), "")
        )
        listed = [found for found in LISTING.findall(told) if _DIGIT.search(found)]
        if named := {*_region_numbers(listed[-1] if listed else told)} - _denied_regions(told):
            return parsed(tuple(sorted(named)))
    return BLANK if is_blank(value.strip(" .")) else UNPARSABLE


def _without_counts(text: str) -> str:
    """Return a text without what it counts, unless no other number stands in it."""
    rest = _COUNTED.sub(" ", text)
    return rest if _REGION.search(rest) else text


def _listed_regions(text: str) -> str:
    """Return the regions that one sentence lists, as a text; empty where none does, or several do."""
    has_brackets = any(map(_DIGIT.search, LISTING.findall(text)))
    return "" if has_brackets else ", ".join(map(str, listed_values(text, _mentions)))


def _mentions(sentence: str) -> list[Mention]:
    if "%" in sentence or "[" in sentence or _RANGE.search(sentence):
        return []
    return [Mention(*one.span(), int(one[0])) for one in _REGION.finditer(sentence) if int(one[0]) in _REGIONS]


def _concluded_regions(text: str) -> str:
    """Return the last sentence that names regions where it concludes; else the text."""
    named = [one for one in sentences_of(text) if _REGION.search(one)]
    return named[-1] if named and CONCLUSION.search(named[-1].lower()) else text


def _denied_regions(text: str) -> frozenset[Any]:
    denied = stances(text, [Mention(*region.span(), int(region[0])) for region in _REGION.finditer(text)]).denied
    left_out = {int(one) for found in _LEFT_OUT.finditer(text.lower()) for one in _REGION.findall(found["series"])}
    return denied | left_out


def _region_numbers(text: str) -> Iterator[int]:
    for first, last in _RANGE.findall(text):
        if int(first) in _REGIONS and int(last) in _REGIONS:
            yield from range(int(first), int(last) + 1)
    yield from (int(number) for number in _REGION.findall(text))
