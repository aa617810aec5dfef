"""Reads whole and other numbers that answers come to (appendix D.2: numbers without commas and fixed units)."""

import re
import sys
from functools import lru_cache
from math import isfinite
from typing import Any

from gigavqa.answers.abstention import abstains
from gigavqa.answers.asked import Asked
from gigavqa.answers.counting import counts_in, is_bound, is_place_alone
from gigavqa.answers.counts_apart import bold_opening, closing_count, is_singled_out, opening_count
from gigavqa.answers.counts_asked import as_asked, compete
from gigavqa.answers.doubts import is_unsafe
from gigavqa.answers.lexicon import Words, phrases, words
from gigavqa.answers.negation import Mention
from gigavqa.answers.normalization import passages
from gigavqa.answers.number_sentences import NO_SUCH, NOTHING, first_told, is_number_alone, is_unknown, last_told
from gigavqa.answers.numerals import COUNTED, NUMBER, NUMERALS, is_number, value_of, with_plain_digits
from gigavqa.answers.open_counts import is_given_up, leaves_open
from gigavqa.answers.other_numbers import of_numbered, with_few_in_digits, without_other_numbers
from gigavqa.answers.parts_of_wholes import with_parts_in_digits
from gigavqa.answers.readings import AMBIGUOUS, UNFINISHED, UNPARSABLE, Reading, only_reading, parsed
from gigavqa.answers.text import is_ended, last_sentence, plain, sentences, sentences_of
from gigavqa.answers.told_numbers import number_told
from gigavqa.answers.withdrawals import behind_retraction

_NONE = frozenset(phrases("none_alone"))
"""What counts nothing; to any other kind of question "none" is no answer."""
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
    is_begun = not value.strip() or _ROW_BEGUN.search(value)
    reading = UNFINISHED if is_begun else _read_number(value, whole, broken, asked)
    if reading.status != "parsed":
        return reading
    if abs(reading.value) > _LARGEST:
        return UNPARSABLE
    return AMBIGUOUS if is_unsafe(_without_other_numbers(value, asked), reading.value, _mentions) else reading


_ROW_BEGUN = re.compile(r"(?:^|\n)[ \t]{0,8}\d{1,3}[.)][^\n]{1,200}\n[ \t]{0,8}\d{1,3}[.)]\s*$")
"""Rows that break off behind the number of the last one."""


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
            return AMBIGUOUS if is_unsure else number_told(*told, whole)
    if (last := last_sentence(value)) and NOTHING.search(_CLAUSE.split(last.lower())[-1]) and not abstains(value):
        return parsed(0.0)
    return AMBIGUOUS if any(is_bound(value, number) for number in NUMBER.finditer(value)) else None


_CLAUSE = re.compile(r"[,;:，；：、]")
_VAGUE = Words("roughly", pattern=rf"{{}}\s{words('vague_article')}\s{words('vague_unit')}")


def _whole(number: float) -> Reading:
    return parsed(int(number)) if isfinite(number) and number == int(number) else UNPARSABLE
