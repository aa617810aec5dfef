"""Reads whole and other numbers that answers come to (appendix D.2: numbers without commas and fixed units)."""

import re
import sys
from functools import lru_cache
from math import isfinite
from typing import Any

from gigavqa.answers.abstention import abstains
from gigavqa.answers.asked import Asked
from gigavqa.answers.counting import chief_among, counts_in, is_bound, is_place_alone, text_before
from gigavqa.answers.counts_asked import as_asked, compete
from gigavqa.answers.doubts import is_unsafe
from gigavqa.answers.lexicon import Words, lazy_pattern, phrases, words
from gigavqa.answers.negation import Mention, settled
from gigavqa.answers.normalization import passages
from gigavqa.answers.number_sentences import (
    BOLD,
    CONCLUSION,
    NO_SUCH,
    NOTHING,
    bold_opening,
    closing_count,
    denies_existence,
    first_told,
    is_number_alone,
    is_singled_out,
    is_unknown,
    last_told,
    opening_count,
)
from gigavqa.answers.numerals import COUNTED, EITHER, NUMBER, NUMERALS, is_number, value_of, with_plain_digits
from gigavqa.answers.open_counts import is_given_up, leaves_open
from gigavqa.answers.other_numbers import of_numbered, with_few_in_digits, without_other_numbers
from gigavqa.answers.parts_of_wholes import with_parts_in_digits
from gigavqa.answers.readings import AMBIGUOUS, UNFINISHED, UNPARSABLE, Reading, only_reading, parsed
from gigavqa.answers.text import is_ended, last_sentence, plain, sentences, sentences_of
from gigavqa.answers.withdrawals import behind_retraction

_NONE = frozenset(phrases("none_alone"))
"""What counts nothing; to any other kind of question "none" is no answer."""
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
_DOUBTS = frozenset({"confidence", "probability", "certainty", "score"})
"""Keys of JSON whose number tells how sure an answer is."""


def counts_nothing(value: Any) -> bool:
    """Return whether a value is a word for zero."""
    return isinstance(value, str) and plain(value) in _NONE


def opens_with_none(text: str) -> bool:
    """Return whether the sentence that opens a text counts nothing, "None. There are only trucks."."""
    first, *rest = sentences(text.partition("\n")[0]) or [""]
    return bool(rest) and plain(first) in _NONE and not any(map(abstains, rest))


def read_integer(value: Any, *, cut_off: bool = False, asked: Asked | None = None) -> Reading:
    """Read a whole number, or the one that a text comes to, as `read_number` does."""
    if isinstance(value, int) and not isinstance(value, bool):
        return parsed(value)
    reading = read_number(value, whole=True, cut_off=cut_off, asked=asked)
    return _whole(reading.value) if reading.status == "parsed" else reading


def read_number(value: Any, *, whole: bool = False, cut_off: bool = False, asked: Asked | None = None) -> Reading:
    """Read a number, as a float, or the one that a text's announcement, opening or last sentence with one comes to.

    Of several, that of which the text says what was `asked` for. What is too large for a float is none. Where a `whole`
    one is asked for, "1.204" is ambiguous. Of a text that was `cut_off` amid a sentence, what is neither opened with
    nor announced is no answer.
    """
    if is_number(value):
        return parsed(float(value)) if abs(value) <= _LARGEST else UNPARSABLE
    if isinstance(value, dict):
        return _read_object(value, whole, asked)
    if not isinstance(value, str):
        return UNPARSABLE
    broken = (cut_off and not is_ended(value)) or value.rstrip().endswith((":", "："))
    value = value[: len(value) - len(last_sentence(value))] if cut_off and broken else value
    reading = _read_number(value, whole, broken, asked) if value.strip() else UNFINISHED
    if reading.status != "parsed":
        return reading
    if abs(reading.value) > _LARGEST:
        return UNPARSABLE
    return AMBIGUOUS if is_unsafe(_without_other_numbers(value, asked), reading.value, _mentions) else reading


@lru_cache(maxsize=64)
def _without_other_numbers(text: str, asked: Asked | None) -> str:
    """Return a text in plain digits, and without those that count nothing of what was asked for."""
    text = with_plain_digits(text)
    if asked is None:
        return text
    text = of_numbered(asked, text)
    text = with_parts_in_digits(text) if asked.counts_things else text
    return without_other_numbers(asked, with_few_in_digits(asked, text))


def _read_object(value: dict[str, Any], whole: bool, asked: Asked | None) -> Reading:
    told = {
        key: inner for key, inner in value.items() if str(key).lower() not in _DOUBTS and not isinstance(inner, bool)
    }
    reading = only_reading(read_number(inner, whole=whole) for inner in told.values())
    if asked is None or reading.status != "ambiguous":
        return reading
    return as_asked(asked, [f"{key}: {inner}" for key, inner in told.items()], reading) or reading


def _mentions(sentence: str) -> list[Mention]:
    return [Mention(*number.span(), value_of(number[0])) for number in counts_in(sentence)]


_LARGEST = sys.float_info.max


def _read_number(value: str, whole: bool, broken: bool, asked: Asked | None) -> Reading:
    known = 0 if counts_nothing(value) or opens_with_none(value) else NUMERALS.get(plain(value).rstrip(COUNTED))
    if known is not None:
        return parsed(float(known))
    if _VAGUE.search(value.lower()):
        return AMBIGUOUS
    value = _without_other_numbers(value, asked)
    if NUMBER.search(value) and (found := _number_in(value, whole, broken, asked)):
        return found
    if (NOTHING.search(value.lower()) or NO_SUCH.search(value.lower())) and not abstains(value):
        return UNFINISHED if broken else parsed(0.0)
    return UNPARSABLE


def _number_in(value: str, whole: bool, broken: bool, asked: Asked | None) -> Reading | None:
    """Read the number that counts; a mere bound is ambiguous, and None stands for no number that can count at all."""
    value = behind_retraction(value, lambda rest: bool(NUMBER.search(rest)))
    found = _told_number(value, whole, broken)
    told = _number_asked(asked, value, found, broken)
    if asked is None or told is None or told.status != "parsed":
        return told
    is_open = is_given_up(value, told.value) or (not _is_told_apart(value) and leaves_open(asked, value, told.value))
    return AMBIGUOUS if is_open else told


def _is_told_apart(text: str) -> bool:
    """Return whether a text announces its number, or sets it apart: alone, in bold, or as its last line."""
    if passages(text)[0] != text or is_number_alone(text):
        return True
    return bold_opening(text) is not None or closing_count(text) is not None


def _number_asked(asked: Asked | None, value: str, found: Reading | None, broken: bool) -> Reading | None:
    """Return what was found, where it is what was asked for; else what is, or ambiguous."""
    if asked and asked.is_of_one_count and found and found.status == "parsed" and is_place_alone(value, found.value):
        return AMBIGUOUS
    if asked is None or broken or bold_opening(value) is not None or not compete(asked, value, found):
        return found
    if passages(value)[0] == value and (closing := closing_count(value)) is not None:
        return closing
    told = as_asked(asked, _deciding(value), found)
    if told is not found or found is None or found.status != "parsed" or is_singled_out(asked, value, found.value):
        return told
    return AMBIGUOUS


def _deciding(text: str) -> list[str]:
    """Return the announced sentence with counts, or else all sentences of a text."""
    for passage in passages(text):
        in_order = sentences_of(passage)
        if passage != text and (told := first_told(in_order)):
            return [told[0]]
    return in_order


def _told_number(value: str, whole: bool, broken: bool) -> Reading | None:
    for passage in passages(value):
        if passage == value and (opening := opening_count(value)) is not None:
            return opening
        if passage == value and broken and not is_number_alone(value):
            return UNFINISHED
        in_order = sentences_of(passage)
        if told := first_told(in_order) if passage != value else last_told(in_order):
            is_unsure = not told[1] or (passage == value and is_unknown(in_order, *told))
            return AMBIGUOUS if is_unsure else _number_told(*told, whole)
    if (last := last_sentence(value)) and NOTHING.search(_CLAUSE.split(last.lower())[-1]) and not abstains(value):
        return parsed(0.0)
    return AMBIGUOUS if any(is_bound(value, number) for number in NUMBER.finditer(value)) else None


def _number_told(sentence: str, numbers: list[re.Match[str]], whole: bool) -> Reading:
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


_VAGUE = Words("roughly", pattern=rf"{{}}\s{words('vague_article')}\s{words('vague_unit')}")
_CLAUSE = re.compile(r"[,;:，；：、]")


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


def _whole(number: float) -> Reading:
    return parsed(int(number)) if isfinite(number) and number == int(number) else UNPARSABLE
