"""Reads whole and other numbers that answers come to (appendix D.2: numbers without commas and fixed units)."""

import itertools
import re
import sys
from collections.abc import Iterable, Sequence
from math import isfinite
from typing import Any

from gigavqa.answers.abstention import abstains, find_abstention
from gigavqa.answers.counting import chief_among, counts_in, is_bound, is_compared, text_before
from gigavqa.answers.lexicon import Words, words
from gigavqa.answers.negation import Mention, settled
from gigavqa.answers.normalization import passages
from gigavqa.answers.numerals import COUNTED, EITHER, NUMBER, NUMERALS, is_number, value_of, with_plain_digits
from gigavqa.answers.readings import AMBIGUOUS, UNFINISHED, UNPARSABLE, Reading, only_reading, parsed
from gigavqa.answers.text import is_ended, last_sentence, plain, sentences
from gigavqa.answers.withdrawals import behind_retraction

_NONE = frozenset({"none", "no one", "nobody", "nothing"})
"""What counts nothing; to any other kind of question "none" is no answer."""
_LONGEST_BEFORE = 5
_GOES_ON = re.compile(r"[.,'’_]\d|[ \u00a0\u2009\u202f]\d{3}(?!\d)")
_BEGINS_BEFORE = re.compile(r"\d[.,'’_]$|(?<!\d)\d{1,3}[ \u00a0\u2009\u202f]$")
"""What stands around a part of a number that has a decimal comma, or points or gaps between its thousands."""
_INCLUDING = re.compile(rf"[^\d.;]{{0,24}}?{words('including')}")
_PARTS = re.compile(r"[:(（—–]")
_NOTHING = Words("nothing")
_SAYS = re.compile(
    r"(?:=|:|≈|\b(?:is|are|equals|was|were|total(?:s|ing)?|of|has|have|contains?|counted|count|es|son|est|sont|ist|sind"
    r"|beträgt|é|são|vale|vaut|равн[аоы]|составляет)\b)[\s*_`\"'$(]*"
    rf"(?:(?:{words('roughly')}|therefore|thus|of|de|d['’]|à|von)\s*){{0,2}}[*_`$(]*$",
    re.IGNORECASE,
)
_RANGE = re.compile(r"\s?(?:to|or|bis|oder|à|ou|a|o|до|или|至|到|から|〜|~|–|-)\s?\d")
"""What goes on to the other end of a range."""
_COUNTS = re.compile(
    rf"[\s*_`#-]*+(?:[^\W\d][^:：\n]{{0,40}}[:：][\s*_`]*)?(?:{words('existence')}\s*)?[*_`]*(?:{NUMBER.pattern})[*_`]*"
    rf"(?!\s*{words('copula', 'part_behind')})(?:\s?[^\s\d()\[\].,;:!?。；：！？।،]+){{0,3}}[\s*_`.。।!]*+",
    re.IGNORECASE,
)
"""A sentence that is a count: a number and its noun, or a number behind what is counted, "Left: 3"."""
_QUANTITY, _COMMITS, _GUESSES = (
    Words("quantity_asked"),
    Words("commitment", "likely", "guess"),
    Words("likely", "guess"),
)
_DOUBTS = frozenset({"confidence", "probability", "certainty", "score"})
"""Keys of JSON whose number tells how sure an answer is."""
_ORDERS = Words("total", "conclusion", "announcement", "retraction", "holding")
"""What tells that a later number is the outcome."""
_TOTALS, _CONCLUSION = Words("total"), Words("conclusion", "right_is")
_ALONE = re.compile(rf"[\s*_`$(]*+(?:{NUMBER.pattern})[\s*_`$)]*+", re.IGNORECASE)
_BARE = re.compile(rf"[\s*_`$(]*+(?:{NUMBER.pattern})\s?[^\W\d]{{0,3}}[²³]?[\s*_`$)]*+[.。!]", re.IGNORECASE)
"""A number that stands alone, perhaps with a unit, before what is remarked on it."""
_LONGEST_REMARK = 1_000
"""Characters of a text that opens with a count, and remarks on it; a longer one works it out."""


def counts_nothing(value: Any) -> bool:
    """Return whether a value is a word for zero."""
    return isinstance(value, str) and plain(value) in _NONE


def read_integer(value: Any, *, cut_off: bool = False) -> Reading:
    """Read a whole number, or the one that a text comes to, as `read_number` does."""
    if isinstance(value, int) and not isinstance(value, bool):
        return parsed(value)
    reading = read_number(value, whole=True, cut_off=cut_off)
    return _whole(reading.value) if reading.status == "parsed" else reading


def read_number(value: Any, *, whole: bool = False, cut_off: bool = False) -> Reading:
    """Read a number, as a float, or the one that a text's announcement, opening or last sentence with one comes to.

    What is too large for a float is none. Where a `whole` one is asked for, "1.204" is ambiguous. Of a text that was
    `cut_off` amid a sentence, what is neither opened with nor announced is no answer.
    """
    if is_number(value):
        return parsed(float(value)) if abs(value) <= _LARGEST else UNPARSABLE
    if isinstance(value, dict):
        asked = [
            inner for key, inner in value.items() if str(key).lower() not in _DOUBTS and not isinstance(inner, bool)
        ]
        return only_reading(read_number(inner, whole=whole) for inner in asked)
    if not isinstance(value, str):
        return UNPARSABLE
    broken = (cut_off and not is_ended(value)) or value.rstrip().endswith((":", "："))
    value = value[: len(value) - len(last_sentence(value))] if cut_off and broken else value
    reading = _read_number(value, whole, broken) if value.strip() else UNFINISHED
    return reading if reading.status != "parsed" or abs(reading.value) <= _LARGEST else UNPARSABLE


_LARGEST = sys.float_info.max


def _read_number(value: str, whole: bool, broken: bool) -> Reading:
    if counts_nothing(value):
        return parsed(0.0)
    if (known := NUMERALS.get(plain(value).rstrip(COUNTED))) is not None:
        return parsed(float(known))
    value = with_plain_digits(value)
    if NUMBER.search(value) and (found := _number_in(value, whole, broken)):
        return found
    if _NOTHING.search(value.lower()) and not abstains(value):
        return UNFINISHED if broken else parsed(0.0)
    return UNPARSABLE


def _number_in(value: str, whole: bool, broken: bool) -> Reading | None:
    """Read the number that counts; a mere bound is ambiguous, and None stands for no number that can count at all."""
    value = behind_retraction(value, lambda rest: bool(NUMBER.search(rest)))
    for passage in passages(value):
        if passage == value and (opening := _opening_count(value)) is not None:
            return opening
        if passage == value and broken and not _ALONE.fullmatch(value):
            return UNFINISHED
        in_order = [sentence for line in passage.splitlines() for sentence in sentences(line)]
        if told := _first_told(in_order if passage != value else reversed(in_order)):
            sentence, numbers = told
            if passage == value and _is_unknown(in_order, sentence, numbers):
                return AMBIGUOUS
            return _unless_cut(sentence, numbers, _number_of(sentence, numbers), whole)
    return AMBIGUOUS if any(is_bound(value, number) for number in NUMBER.finditer(value)) else None


def _is_unknown(in_order: Sequence[str], told: str, numbers: Sequence[re.Match[str]]) -> bool:
    """Return whether a text says that it cannot tell, and its numbers need not be what was asked for.

    A count with its noun stands, "12 cars. I cannot tell their colours.", and so do an outcome and a best guess.
    """
    if own := find_abstention(told):
        if own.start() > numbers[-1].start():
            rest = told[numbers[-1].end() :].lower()
            return bool(_QUANTITY.search(rest) or _CONCLUSION.search(rest[: own.end() - numbers[-1].end()]))
        return not _COMMITS.search(told[own.end() : numbers[-1].start()].lower())
    if not any(map(find_abstention, in_order)):
        return False
    lowered = told.lower()
    return not (_COUNTS.fullmatch(told) or _ORDERS.search(lowered) or _GUESSES.search(lowered) or "=" in told)


def _first_told(in_order: Iterable[str]) -> tuple[str, list[re.Match[str]]] | None:
    """Return the first sentence with counts, and these; one that tells of a limit only where there is no other."""
    compared = None
    for sentence in in_order:
        if numbers := counts_in(sentence):
            if not is_compared(sentence):
                return sentence, numbers
            compared = compared or (sentence, numbers)
    return compared


def _opening_count(text: str) -> Reading | None:
    """Read the number that a text opens with, as its total or with its noun, where what follows remarks on its parts.

    Of several that are counts alike, "3 left. 4 right.", none is the answer unless the last is what they come to.
    """
    first, *rest = (
        itertools.chain.from_iterable(map(sentences, text.splitlines())) if len(text) < _LONGEST_REMARK else [""]
    )
    is_worked_out = not rest or any(_ORDERS.search(sentence.lower()) for sentence in rest)
    if not is_worked_out and _BARE.fullmatch(first.strip()):
        return parsed(value_of(NUMBER.search(first)[0]))  # type: ignore[index]
    numbers = chief_among(first, counts_in(first))
    remarks = [sentence for sentence in rest if NUMBER.search(sentence)]
    if is_worked_out or len(numbers) != 1 or not remarks:
        return None
    count = value_of(numbers[0][0])
    parts = [value_of(number[0]) for one in remarks for number in chief_among(one, [*NUMBER.finditer(one)])]
    if not _TOTALS.search(first.lower()):
        if not _COUNTS.fullmatch(first) or _ORDERS.search(first.lower()):
            return None
        if all(map(_COUNTS.fullmatch, remarks)):
            *others, outcome = parts
            return parsed(outcome) if outcome == count + sum(others) or {count, *parts} == {count} else AMBIGUOUS
        if any(map(_COUNTS.fullmatch, remarks)):
            return None
    return parsed(count) if max(parts) <= count else None


def _number_of(sentence: str, numbers: list[re.Match[str]]) -> Reading:
    numbers = chief_among(sentence, numbers)
    distinct = {value_of(number[0]) for number in numbers}
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


def _goes_on(sentence: str, result: re.Match[str]) -> bool:
    """Return whether a sentence works on behind an equation, "= 24 cells; two are blank, leaving 22"."""
    return any(NUMBER.search(rest) for rest in _CONCLUSION.split(sentence[result.end() :].lower())[1:])


def _total(sentence: str, numbers: list[re.Match[str]]) -> float | None:
    """Return the number that a sentence begins with, where all others are its parts; None where they are not."""
    first, *parts = (value_of(number[0]) for number in numbers)
    behind = sentence[numbers[0].end() :].lower()
    has_parts = len(parts) > 1 and sum(parts) <= first and _PARTS.search(sentence, numbers[0].end(), numbers[1].start())
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
