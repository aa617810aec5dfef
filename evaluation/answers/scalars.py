"""Reads yes-or-no answers and counts (appendix D.2: numbers without commas and fixed units)."""

import itertools
import re
import sys
from collections.abc import Sequence
from math import isfinite
from typing import Any

from evaluation.answers.abstention import abstains, commits
from evaluation.answers.letters import behind_glue
from evaluation.answers.lexicon import Words, by_language, phrases, words
from evaluation.answers.readings import AMBIGUOUS, UNFINISHED, UNPARSABLE, Reading, parsed
from evaluation.answers.stances import Mention, settled, verdicts
from evaluation.answers.text import is_ended, lines_backwards, plain, sentences
from evaluation.answers.utterances import passages
from evaluation.answers.withdrawals import behind_retraction, is_first_thought

_TRUTH = {
    plain(phrase): truth
    for truth, names in ((True, ("yes", "yes_alone")), (False, ("no",)))
    for name in names
    for phrase in phrases(name)
}
_LONGEST_PAIR = 64
_PAIR = re.compile(rf"[/,，、|]|{words('alternative', 'addition')}")
_OPENING = re.compile(r"[^.,;:!?。，；：！、،।—–\n-]{1,48}")
_PART = re.compile(r"\W*+(?:[^:：]{2,60}|(?<=[^\w:：])[^:：])[:：]\s*(.+)")
"""One line of several that say yes or no of a part each, "upper-left: yes"."""
_SUMS_UP = re.compile(rf"{words('conclusion')}|answer|result|conclusion|答案|结论|respuesta", re.IGNORECASE)
"""What a line says that is of no part, but of all."""

_NUMERALS = {
    word: number for numerals in by_language("numeral").values() for number, word in enumerate(numerals) if word
} | {"两": 2, "俩": 2, "〇": 0}
_COUNTED = "".join(phrases("counted"))
_HAN = rf"(?<!第)(?:十[一二三四五六七八九]|[零〇一二两俩三四五六七八九十])(?={words('counted')})"
_WORD_NUMERALS = "|".join(sorted((re.escape(word) for word in _NUMERALS if word[0] < "\u3000"), key=len, reverse=True))
_NONE = frozenset({"none", "no one", "nobody", "nothing"})
"""What counts nothing; to any other kind of question "none" is no answer."""
_GAPS = r"(?: \d{3})+|(?:['’]\d{3})+|(?:_\d{3})+|(?:[\u00a0\u2009\u202f]\d{3})+"
_THOUSANDS = rf"[1-9]\d{{0,2}}(?:(?:,\d{{3}})+(?:\.\d+)?|(?:\.\d{{3}}){{2,}}|{_GAPS})"
"""Digits in groups of three, by one mark; a point alone could begin decimals."""
_COMMA = r"(?<![(\[])(?:0,\d+|[1-9]\d*,\d{1,2}(?=\s?[^\W\d_]|\s?°))(?![\d.]|,\s?\d)"
"""Decimals behind a comma: they are such behind a zero, and where one or two of them have a unit."""
_DIGITS = rf"(?<![A-Za-z0-9_.])[-−]?(?:{_THOUSANDS}(?!\d)|{_COMMA}|\d+(?:\.\d+)?(?!\d))(?!\s*[%％])"
_NO_PRONOUN = "".join(f"(?<!{word} )" for word in ("this", "that", "the", "each", "every", "another", "which"))
_SCALES = {
    word: factor
    for scales in by_language("scale").values()
    for word, factor in zip(scales, (12, 1e2, 1e3, 1e4, 1e6, 1e8, 1e9), strict=False)
    if word
}
_SCALE = re.compile(rf"\s?{words('scale')}(?![克米瓦赫分])", re.IGNORECASE)
_NUMBER = re.compile(
    rf"{_DIGITS}(?:{_SCALE.pattern})?|\b(?:(?!one\b)|{_NO_PRONOUN})(?:{_WORD_NUMERALS})\b(?!\s+(?:of|by|another|side|de\s+ell[oa]s)\b)|{_HAN}",
    re.IGNORECASE,
)
_MARKS = re.compile(r"[, '’_\u00a0\u2009\u202f]|\.(?=.*\.)|(?<=\.\d{3})\.")
"""What parts thousands; a point does so only beside another."""
_DECIMAL_COMMA = re.compile(r"[-−]?\d+,(?:\d{1,2}|(?<=\b0,)\d+)")
_EITHER = re.compile(r"[-−]?[1-9]\d{0,2}\.\d{3}")
"""A number that is one thing where a point begins decimals, and another where it parts thousands."""
_LONGEST_BEFORE = 5
_GOES_ON = re.compile(r"[.,'’_]\d|[ \u00a0\u2009\u202f]\d{3}(?!\d)")
_BEGINS_BEFORE = re.compile(r"\d[.,'’_]$|(?<!\d)\d{1,3}[ \u00a0\u2009\u202f]$")
"""What stands around a part of a number that has a decimal comma, or points or gaps between its thousands."""
_BOUND = Words("bound", pattern=r"{}[\s*_`$(]{0,8}$")
_COMPARED = re.compile(r".*[<>≤≥][\s*_`$(]{0,8}", re.DOTALL)
_BOUND_BEHIND = re.compile(rf"\+(?!\s*\d)|{words('place_behind')}|\s{{0,3}}[㐀-鿿가-힯]?\s?{words('bound_behind')}")
_FRACTION = re.compile(rf"\d\s{{0,3}}{words('out_of')}\s{{0,3}}\d{{1,9}}")
_INCLUDING = re.compile(rf"[^\d.;]{{0,24}}?{words('including')}")
_PART_BEHIND = re.compile(rf"\s+{words('part_behind')}")
_PARTS = re.compile(r"[:(（—–]")
_NOTHING = Words("nothing")
_REFERENCE = Words("reference", pattern=r"{}\s*$")
_SAYS = re.compile(
    r"(?:=|:|≈|\b(?:is|are|equals|was|were|total(?:s|ing)?|of|has|have|contains?|counted|count)\b)[\s*_`\"'$(]*"
    r"(?:(?:only|exactly|about|therefore|thus)\s+)?[*_`$(]*$",
    re.IGNORECASE,
)
_COUNTS = re.compile(
    rf"[\s*_`#-]*+(?:{words('existence')}\s*)?[*_`]*(?:{_NUMBER.pattern})[*_`]*"
    rf"(?!\s*{words('copula', 'part_behind')})(?:\s?[^\s\d()\[\].,;:!?。；：！？।،]+){{0,3}}[\s*_`.。।!]*+",
    re.IGNORECASE,
)
"""A sentence that is a count: a number and its noun."""
_ORDERS = Words("total", "conclusion", "announcement", "retraction")
"""What tells that a later number is the outcome."""
_TOTALS = Words("total")
_ALONE = re.compile(rf"[\s*_`$(]*+(?:{_NUMBER.pattern})[\s*_`$)]*+", re.IGNORECASE)
_LONGEST_REMARK = 1_000
"""Characters of a text that opens with a count, and remarks on it; a longer one works it out."""
_REACH_BEFORE = 40
"""Characters before a number in which it is told what it is."""


def read_boolean(value: Any, *, cut_off: bool = False) -> Reading:
    """Read a bool, or a text that says yes or no: opening with it, or in its last sentence that says either.

    Of a text that was `cut_off` amid a sentence, what is neither opened with nor announced is no answer.
    """
    if isinstance(value, bool):
        return parsed(value)
    if not isinstance(value, str):
        return parsed(bool(value)) if value in (0, 1) else UNPARSABLE
    if (known := _truth(value)) is not None:
        return parsed(known)
    if len(value) <= _LONGEST_PAIR and _says_both(value):
        return AMBIGUOUS
    value = behind_retraction(value, lambda rest: _last_verdict(rest).status != "unparsable", short=True)
    for passage in passages(value):
        for told in (passage,) if passage is value else (passage, behind_glue(passage)):
            opening = _OPENING.match(told)
            if opening and (known := _truth(opening[0])) is not None and not _is_withdrawn(told):
                return parsed(known)
    return UNFINISHED if cut_off and not is_ended(value) else _last_verdict(value)


def _says_both(text: str) -> bool:
    """Whether a text is nothing but yes and no."""
    known: set[bool | None] = set()
    for part in _PAIR.split(text):
        known.add(_truth(part))
        if None in known:
            return False
    return len(known) > 1


def _truth(text: str) -> bool | None:
    return _TRUTH.get(plain(text))


def _known(text: str) -> frozenset[bool]:
    known = _truth(text)
    return frozenset() if known is None else frozenset({known})


def _is_withdrawn(text: str) -> bool:
    """Whether the first sentence tells of a first impression, or that no answer can be given."""
    first = next(iter(sentences(text.partition("\n")[0])), "")
    return is_first_thought(first) or (abstains(first) and not commits(first))


def _last_verdict(text: str) -> Reading:
    lines = list(lines_backwards(text))
    if _is_of_parts(lines):
        return AMBIGUOUS
    for line in lines:
        for sentence in reversed(sentences(line)):
            said = verdicts(sentence) or _known(sentence)
            if said and (not abstains(sentence) or commits(sentence)):
                return parsed(*said) if len(said) == 1 else AMBIGUOUS
    return UNPARSABLE


def _is_of_parts(lines: Sequence[str]) -> bool:
    """Whether each of several lines says yes or no of a part, and not all the same."""
    said: set[frozenset[bool]] = set()
    for line in lines:
        part = _PART.fullmatch(line)
        if part is None or _SUMS_UP.search(line) or not (told := verdicts(part[1]) or _known(part[1])):
            return False
        said.add(told)
    return len(said) > 1


def counts_nothing(value: Any) -> bool:
    """Whether a value is a word for zero."""
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
    if isinstance(value, int | float) and not isinstance(value, bool):
        return parsed(float(value)) if abs(value) <= _LARGEST else UNPARSABLE
    reading = _read_number(value, whole, cut_off and not is_ended(value)) if isinstance(value, str) else UNPARSABLE
    return reading if reading.status != "parsed" or abs(reading.value) <= _LARGEST else UNPARSABLE


_LARGEST = sys.float_info.max


def _read_number(value: str, whole: bool, broken: bool) -> Reading:
    if counts_nothing(value):
        return parsed(0.0)
    if (known := _NUMERALS.get(plain(value).rstrip(_COUNTED))) is not None:
        return parsed(float(known))
    if _NUMBER.search(value) and (found := _number_in(value, whole, broken)):
        return found
    if _NOTHING.search(value.lower()) and not abstains(value):
        return UNFINISHED if broken else parsed(0.0)
    return UNPARSABLE


def _number_in(value: str, whole: bool, broken: bool) -> Reading | None:
    """Read the number that counts; a mere bound is ambiguous, and None stands for no number that can count at all."""
    value = behind_retraction(value, lambda rest: bool(_NUMBER.search(rest)))
    for passage in passages(value):
        if passage == value and (opening := _opening_count(value)) is not None:
            return opening
        if passage == value and broken and not _ALONE.fullmatch(value):
            return UNFINISHED
        lines = passage.splitlines() if passage != value else list(lines_backwards(value))
        for line in lines:
            parts = sentences(line)
            for sentence in parts if passage != value else reversed(parts):
                if numbers := _numbers_in(sentence):
                    return _unless_cut(sentence, numbers, _number_of(sentence, numbers), whole)
    return AMBIGUOUS if any(_is_bound(value, number) for number in _NUMBER.finditer(value)) else None


def _opening_count(text: str) -> Reading | None:
    """Read the number that a text opens with, as its total or with its noun, where what follows remarks on its parts.

    Of several that are counts alike, "3 left. 4 right.", none is the answer unless the last is what they come to.
    """
    first, *rest = (
        itertools.chain.from_iterable(map(sentences, text.splitlines())) if len(text) < _LONGEST_REMARK else [""]
    )
    numbers, remarks = _numbers_in(first), [sentence for sentence in rest if _NUMBER.search(sentence)]
    if len(numbers) != 1 or not remarks or any(_ORDERS.search(sentence.lower()) for sentence in rest):
        return None
    count = _value(numbers[0][0])
    parts = [_value(number[0]) for one in remarks for number in _NUMBER.finditer(one)]
    if not _TOTALS.search(first.lower()):
        if not _COUNTS.fullmatch(first) or _ORDERS.search(first.lower()):
            return None
        if all(map(_COUNTS.fullmatch, remarks)):
            *others, outcome = parts
            return parsed(outcome) if outcome == count + sum(others) or {count, *parts} == {count} else AMBIGUOUS
        if any(map(_COUNTS.fullmatch, remarks)):
            return None
    return parsed(count) if max(parts) <= count else None


def _numbers_in(sentence: str) -> list[re.Match[str]]:
    """The numbers of a sentence that can be counts: no names of steps, no bounds, no parts of a whole."""
    found = list(_NUMBER.finditer(sentence))
    return [number for number in found if not _names(sentence, number) and not _is_bound(sentence, number)]


def _names(sentence: str, number: re.Match[str]) -> bool:
    return bool(_REFERENCE.search(sentence[max(0, number.start() - 12) : number.start()].lower()))


def _is_bound(sentence: str, number: re.Match[str]) -> bool:
    """Whether a number is a bound, a place in an order, or belongs to a share, "at least 7", "7th", "7 out of 10"."""
    before = _before(sentence, number).lower()
    behind = sentence[number.start() : number.end() + _REACH_BEFORE].lower()
    if _BOUND.search(before) or _COMPARED.fullmatch(before) or _BOUND_BEHIND.match(behind, len(number[0])):
        return True
    return any(
        share.start() < len(before) + len(number[0]) and len(before) < share.end()
        for share in _FRACTION.finditer(before + behind)
    )


def _number_of(sentence: str, numbers: list[re.Match[str]]) -> Reading:
    whole = [number for number in numbers if not _PART_BEHIND.match(sentence.lower(), number.end())]
    numbers = whole or numbers
    distinct = {_value(number[0]) for number in numbers}
    if len(distinct) == 1:
        return parsed(distinct.pop())
    result = [number for number in numbers if _before(sentence, number).rstrip(" *_$").endswith(("=", "＝"))]
    if result:
        return parsed(_value(result[-1][0]))
    if (total := _total(sentence, numbers)) is not None:
        return parsed(total)
    mentions = [Mention(*number.span(), _value(number[0])) for number in numbers]
    meant = settled(sentence, mentions)
    if len(meant) == 1:
        return parsed(float(str(next(iter(meant)))))
    told = {_value(number[0]) for number in numbers if _is_told(sentence, number, numbers)}
    return parsed(told.pop()) if len(told) == 1 else AMBIGUOUS


def _total(sentence: str, numbers: list[re.Match[str]]) -> float | None:
    """Return the number that a sentence begins with, where all others are its parts; None where they are not."""
    first, *parts = (_value(number[0]) for number in numbers)
    behind = sentence[numbers[0].end() :].lower()
    is_sum = len(parts) > 1 and sum(parts) == first and _PARTS.search(sentence, numbers[0].end(), numbers[1].start())
    return first if is_sum or (max(parts) <= first and _INCLUDING.match(behind)) else None


def _is_told(sentence: str, number: re.Match[str], numbers: list[re.Match[str]]) -> bool:
    """Whether what stands before a number says that it is the one; a colon does of the last one alone."""
    before = _before(sentence, number)
    return bool(_SAYS.search(before)) and (number is numbers[-1] or not before.rstrip(" *_$").endswith(":"))


def _before(sentence: str, number: re.Match[str]) -> str:
    """What stands before a number, as far as it can say of it."""
    return sentence[max(0, number.start() - _REACH_BEFORE) : number.start()]


def _unless_cut(sentence: str, numbers: list[re.Match[str]], reading: Reading, whole: bool) -> Reading:
    """Return a reading, or that it is ambiguous where its number can be read otherwise, or is part of one: "0,5"."""
    read = [number for number in numbers if _value(number[0]) == reading.value]
    unsure = (_is_cut(sentence, number) or (whole and _EITHER.fullmatch(number[0])) for number in read)
    return AMBIGUOUS if read and all(unsure) else reading


def _is_cut(sentence: str, number: re.Match[str]) -> bool:
    if not number[0][-1].isdigit():
        return False
    before = sentence[max(0, number.start() - _LONGEST_BEFORE) : number.start()]
    return bool(_GOES_ON.match(sentence, number.end()) or _BEGINS_BEFORE.search(before))


def _value(text: str) -> float:
    known = _NUMERALS.get(text.lower())
    if known is not None:
        return float(known)
    if scale := _SCALE.search(text.lower()):
        return _value(text[: scale.start()]) * _SCALES[scale[0].strip()]
    if _DECIMAL_COMMA.fullmatch(text):
        text = text.replace(",", ".")
    return float(_MARKS.sub("", text).replace("−", "-"))


def _whole(number: float) -> Reading:
    return parsed(int(number)) if isfinite(number) and number == int(number) else UNPARSABLE
