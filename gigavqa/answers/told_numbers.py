"""Read the number that one sentence of a text comes to."""

import re

from gigavqa.answers.counting import chief_among, text_before
from gigavqa.answers.lexicon import lazy_pattern, words
from gigavqa.answers.negation import Mention, settled
from gigavqa.answers.number_sentences import (
    BOLD,
    CONCLUSION,
    denies_existence,
)
from gigavqa.answers.numerals import EITHER, NUMBER, value_of
from gigavqa.answers.readings import AMBIGUOUS, Reading, parsed

_LONGEST_BEFORE = 5


_GOES_ON = re.compile(r"[.,'’_]\d|[ \u00a0\u2009\u202f]\d{3}(?!\d)")


_BEGINS_BEFORE = re.compile(r"\d[.,'’_]$|(?<!\d)\d{1,3}[ \u00a0\u2009\u202f]$")
"""What stands around a part of a number that has a decimal comma, or points or gaps between its thousands."""


_INCLUDING = lazy_pattern(rf"[^\d.;]{{0,24}}?{words('including')}")


_PARTS = re.compile(r"[:(（—–]")


_SAYS = lazy_pattern(
    r"(?:=|:|≈|\b(?:is|are|equals|was|were|total(?:s|ing)?|of|has|have|contains?|counted|count|es|son|est|sont|ist|sind"
    r"|beträgt|é|são|vale|vaut|равн[аоы]|составляет)\b)[\s*_`\"'$(]*"
    rf"(?:(?:{words('roughly')}|therefore|thus|of|de|d['’]|à|von)\s*){{0,2}}[*_`$(]*$",
    re.IGNORECASE,
)


_RANGE = re.compile(r"\s?(?:to|or|bis|oder|à|ou|a|o|до|или|至|到|から|〜|~|–|-)\s?\d")
"""What goes on to the other end of a range."""


def number_told(sentence: str, numbers: list[re.Match[str]], whole: bool) -> Reading:
    if denies_existence(sentence, numbers):
        return parsed(0.0)
    return _unless_cut(sentence, numbers, _number_of(sentence, numbers), whole)


def _number_of(sentence: str, numbers: list[re.Match[str]]) -> Reading:
    bold = {value_of(found[1]) for found in BOLD.finditer(sentence)}
    if len(numbers) > 1 and len(bold) != 1 and (choices := _choices(sentence, numbers)) is not None:
        return choices
    numbers = chief_among(sentence, numbers)
    for distinct in ({value_of(number[0]) for number in numbers}, bold):
        if len(distinct) == 1:
            return parsed(distinct.pop())
    result = [number for number in numbers if text_before(sentence, number).rstrip(" *_$").endswith(("=", "＝", "≈"))]
    if result and not _goes_on(sentence, result[-1]):
        return parsed(value_of(result[-1][0]))
    if (total := _total(sentence, numbers)) is not None:
        return parsed(total)
    mentions = [Mention(*number.span(), value_of(number[0])) for number in numbers]
    meant = settled(sentence, mentions)
    if len(meant) == 1:
        return parsed(float(str(next(iter(meant)))))
    told = {value_of(number[0]) for number in numbers if _is_told(sentence, number, numbers)}
    return parsed(told.pop()) if len(told) == 1 else AMBIGUOUS


def _choices(sentence: str, numbers: list[re.Match[str]]) -> Reading | None:
    """Return that a sentence is ambiguous whose last numbers stand for choice, "it could have 3, 4 or 5"."""
    *_, before, last = numbers
    between = sentence[before.end() : last.start()].lower()
    is_choice = value_of(before[0]) != value_of(last[0]) and _OR.fullmatch(between)
    return AMBIGUOUS if is_choice else None


_OR = lazy_pattern(rf"\s?(?:{words('alternative')}|to|–|-|bis|à|até|~|〜)\s?(?:{words('roughly')}\s)?")


def _goes_on(sentence: str, result: re.Match[str]) -> bool:
    """Return whether a sentence works on behind an equation, "= 24 cells; two are blank, leaving 22"."""
    return any(NUMBER.search(rest) for rest in CONCLUSION.split(sentence[result.end() :].lower())[1:])


def _total(sentence: str, numbers: list[re.Match[str]]) -> float | None:
    """Return the number that a sentence begins with, where all others are its parts; None where they are not."""
    first, *parts = (value_of(number[0]) for number in numbers)
    behind = sentence[numbers[0].end() :].lower()
    between = sentence[numbers[0].end() : numbers[1].start()]
    has_parts = (
        (len(parts) > 1 or ":" in between)
        and sum(parts) <= first
        and _PARTS.search(sentence, numbers[0].end(), numbers[1].start())
    )
    return first if has_parts or (max(parts) <= first and _INCLUDING.match(behind)) else None


def _is_told(sentence: str, number: re.Match[str], numbers: list[re.Match[str]]) -> bool:
    """Return whether what stands before a number says that it is the one; a colon does of the last one alone."""
    before = text_before(sentence, number)
    if _RANGE.match(sentence, number.end()):
        return False
    return bool(_SAYS.search(before)) and (number is numbers[-1] or not before.rstrip(" *_$").endswith(":"))


def _unless_cut(sentence: str, numbers: list[re.Match[str]], reading: Reading, whole: bool) -> Reading:
    """Return a reading, or that it is ambiguous where its number can be read otherwise, or is part of one: "0,5"."""
    read = [number for number in numbers if value_of(number[0]) == reading.value]
    either = EITHER if whole else _EITHER_COMMA if not _LETTERS.search(sentence) else None
    unsure = (_is_cut(sentence, number) or (either and either.fullmatch(number[0])) for number in read)
    return AMBIGUOUS if read and all(unsure) else reading


_EITHER_COMMA = re.compile(r"[-−]?[1-9]\d{0,2},\d{3}")
"""A number of which no word tells whether its comma parts thousands or begins decimals."""


_LETTERS = re.compile(r"[^\W\d_]")


def _is_cut(sentence: str, number: re.Match[str]) -> bool:
    if not number[0][-1].isdigit():
        return False
    before = sentence[max(0, number.start() - _LONGEST_BEFORE) : number.start()]
    return bool(_GOES_ON.match(sentence, number.end()) or _BEGINS_BEFORE.search(before))
