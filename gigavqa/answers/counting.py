"""Choose the numbers of a sentence that can be its result: not those that name a step, or are a bound of it.

Beside others give way: numbers that tell where, when, of which part, on what premise, by which measure or rate, or
with what they are compared.
"""

import re
from functools import lru_cache

from gigavqa.answers.abstention import abstains
from gigavqa.answers.lexicon import Words, by_language, lazy_pattern, words
from gigavqa.answers.numerals import NUMBER, value_of

REACH_BEFORE = 40
"""Characters before a number in which it is told what it is."""
_SHORT_REACH = 14
_CLAUSE_REACH = 160
_BOUND = Words("bound", pattern=r"{}[\s*_`$(]{0,8}$")
_COMPARED = re.compile(r".*[<>≤≥][\s*_`$(]{0,8}", re.DOTALL)
_BOUND_BEHIND = lazy_pattern(rf"\+(?!\s*\d)|{words('place_behind')}|\s{{0,3}}[㐀-鿿가-힯]?\s?{words('bound_behind')}")
_WORDS = "|".join(word for word in by_language("numeral")["en"] if word)
_FRACTION = lazy_pattern(
    rf"(?:\d|\b(?:{_WORDS}))\s{{0,3}}{words('out_of')}\s{{0,3}}\d{{1,9}}|\b(?:{_WORDS})\s+out\s+of\s+[a-z]+"
)
_UNREAD_BEFORE = Words("unread_numeral", pattern=r"{}(?:\s+(?:e|y|et|und|and|و))?[\s-]+$")
_UNREAD_BEHIND = lazy_pattern(
    rf"[\s-]+(?:(?:e|y|et|and)\s+)?{words('unread_numeral')}"
    r"|\s+[^\W\d_]{1,14}\s+(?:y medi[oa]|e mei[oa]|et demie?|and a half|с половиной)(?!\w)"
)
_REFERENCE = Words("reference", pattern=r"{}\s*$")
_PART_BEHIND = lazy_pattern(rf"\s+{words('part_behind')}")
_JOINT = rf"\d{{1,4}}\s?(?:[,–-]|{words('addition', 'alternative', 'range_joint')})\s?"
_PLACE = Words("place", pattern=rf"{{}}\s*(?:{_JOINT}){{0,6}}$")
"""A word of places behind which a number stands, or a list of numbers: "in tiles 27 and 28"."""
_PLACE_SIGN = re.compile(r"(?:№|#|n°|nº|\bnr\.|\bno\.(?=\s?$))\s*$")
_TIME_BEFORE, _TIME_BEHIND = re.compile(r"(?<!\d)\d{1,2}:$"), re.compile(r":\d{2}(?!\d)")
_SIZE_BEFORE, _SIZE_BEHIND = re.compile(r"\d\s?[x×]\s?$"), re.compile(r"\s?[x×]\s?\d")
_PREMISE = Words("premise", pattern=r"{}\s[^.;]{0,24}?[^\W\d_]\w?\s*=\s*$")
_RATE = lazy_pattern(rf"\s?[^\W\d]{{1,12}}\s?{words('per')}\s?{words('pixels')}")
_PIXELS = lazy_pattern(rf"\s?-?{words('pixels')}")
_CAUSE = Words("cause", pattern=r"[,;，；、—–]\s*(?!for\s+an?\b|as\b){}(?![^\W\d_])")
_MORE_BEHIND = lazy_pattern(
    rf"\s(?:[^\W\d]+\s){{0,2}}?(?:{words('more_than')}\s(?:[^\W\d]+\s){{0,2}}?than\b|{words('more_than_whole')})"
)
_THAN_BEFORE = lazy_pattern(rf"(?:{words('more_than')}|\b\w{{3,}}er)\sthan\s[^.,;:\d]{{0,24}}\($")
_RANGE_OPENS = Words("range_opens", pattern=r"{}\s+(?:\w+\s)?$")
_RANGE_BEFORE = Words(
    "range_opens", pattern=rf"{{}}\s+(?:\w+\s)?(?:(?i:{NUMBER.pattern}))\s+{words('range_joint')}\s+$"
)
_RANGE_GOES_ON = lazy_pattern(rf"\s+{words('range_joint')}\s")
"""A number of a range, "between 15 and 18"."""
_MONEY = re.compile(r"(?<=\d)\s?cents\b")
_SOMEBODY = lazy_pattern(rf"one\s{words('one_who')}", re.IGNORECASE)
_NOT_ONE = re.compile(r"一[㐀-鿿つ]{0,2}[も也]|한\s?[가-힣]{1,2}도")
"""What is counted of that which there is none of: 一台もない."""
_OTHERS_BEFORE = Words("others_before", pattern=r"{}\s?$")
_OTHERS_BEHIND = lazy_pattern(rf"\s{words('others_behind')}")
_SHARE_OF = re.compile(r"[%％]\s?(?:of|der|von|des?|du|d[eo]s|das|delle|из|от|من)?\s?(?:the|all|los|las|les|den)?\s?$")
_YARDSTICK = Words("yardstick")
_CLAUSES = lazy_pattern(rf"[,;:，；：、(（—–]|{words('contrast')}", re.IGNORECASE)


def counts_in(sentence: str) -> list[re.Match[str]]:
    """Return the numbers of a sentence that can be counts: no names of steps, no bounds."""
    return list(_counts_in(sentence))


@lru_cache(maxsize=64)
def numbers_in(sentence: str) -> tuple[re.Match[str], ...]:
    """Return all numbers of a sentence."""
    return tuple(NUMBER.finditer(sentence))


@lru_cache(maxsize=64)
def _counts_in(sentence: str) -> list[re.Match[str]]:
    found = numbers_in(sentence)
    bounds = {value_of(number[0]) for number in found if is_bound(sentence, number)}
    counts = [number for number in found if not _names(sentence, number) and value_of(number[0]) not in bounds]
    return [number for number in counts if not _is_unknown(sentence, number)] if abstains(sentence) else counts


def chief_among(sentence: str, numbers: list[re.Match[str]]) -> list[re.Match[str]]:
    """Return those numbers that do not give way to others beside them; all where they all do."""
    if len(numbers) < 2:
        return numbers
    lowered = sentence.lower()
    for gives_way in (
        _is_reason,
        _is_difference,
        _is_rest,
        _is_whole,
        _is_tolerance,
        _is_part,
        _is_place,
        _is_premise,
        _is_rate,
        _is_raw_measure,
    ):
        numbers = [number for number in numbers if not gives_way(lowered, number)] or numbers
    return numbers


def is_compared(sentence: str) -> bool:
    """Return whether a sentence tells of a limit or a norm, whose number is none of what was asked for."""
    return bool(_YARDSTICK.search(sentence.lower()))


def is_bound(sentence: str, number: re.Match[str]) -> bool:
    """Whether a number is a bound, a place in an order, or belongs to a share, "at least 7", "7th", "7 out of 10"."""
    before = text_before(sentence, number).lower()
    behind = sentence[number.start() : number.end() + REACH_BEFORE].lower()
    if not number[0][-1].isdigit() and _UNREAD_BEFORE.search(before):
        return True
    if not _MONEY.match(behind, len(number[0])) and _UNREAD_BEHIND.match(behind, len(number[0])):
        return True
    if _RANGE_BEFORE.search(before) or (_RANGE_OPENS.search(before) and _RANGE_GOES_ON.match(behind, len(number[0]))):
        return True
    if _BOUND.search(before) or _COMPARED.fullmatch(before) or _BOUND_BEHIND.match(behind, len(number[0])):
        return True
    return any(
        share.start() < len(before) + len(number[0]) and len(before) < share.end()
        for share in _FRACTION.finditer(before + behind)
    )


def text_before(sentence: str, number: re.Match[str]) -> str:
    """Return what stands before a number, as far as it can say of it."""
    return sentence[max(0, number.start() - REACH_BEFORE) : number.start()]


def _names(sentence: str, number: re.Match[str]) -> bool:
    if _NOT_ONE.match(sentence, number.start()) or _SOMEBODY.match(sentence, number.start()):
        return True
    return bool(_REFERENCE.search(sentence[max(0, number.start() - _SHORT_REACH) : number.start()].lower()))


def _is_unknown(sentence: str, number: re.Match[str]) -> bool:
    """Return whether a number stands in a clause that says that something is not known, "how long the two took"."""
    before = sentence[max(0, number.start() - _CLAUSE_REACH) : number.start()]
    return abstains(_CLAUSES.split(before)[-1])


def _is_reason(lowered: str, number: re.Match[str]) -> bool:
    """Return whether a number stands behind a word of cause, "19 are left, for of the 27 8 drove off"."""
    return bool(_CAUSE.search(lowered[max(0, number.start() - _CLAUSE_REACH) : number.start()]))


def _is_difference(lowered: str, number: re.Match[str]) -> bool:
    """Return whether a number is how much more there is than of another, or is that other: "15 more than (45)"."""
    before = lowered[max(0, number.start() - REACH_BEFORE) : number.start()]
    return bool(_MORE_BEHIND.match(lowered, number.end()) or _THAN_BEFORE.search(before))


def _is_rest(lowered: str, number: re.Match[str]) -> bool:
    """Return whether a number counts the others, "the 75 others are white"."""
    before = lowered[max(0, number.start() - _SHORT_REACH) : number.start()]
    return bool(_OTHERS_BEFORE.search(before) or _OTHERS_BEHIND.match(lowered, number.end()))


def _is_whole(lowered: str, number: re.Match[str]) -> bool:
    """Return whether a number is what a share is of, "25 % of the 48"."""
    return bool(_SHARE_OF.search(text_before(lowered, number)))


def _is_tolerance(lowered: str, number: re.Match[str]) -> bool:
    """Return whether a number says how exact the one before it is, "± 0.3"."""
    return lowered[max(0, number.start() - _SHORT_REACH) : number.start()].rstrip().endswith(("±", "+/-", "+-"))


def _is_part(lowered: str, number: re.Match[str]) -> bool:
    return bool(_PART_BEHIND.match(lowered, number.end()))


def is_place_alone(text: str, value: float) -> bool:
    """Return whether a number stands in a text only where it tells a place or a name, "the hull number 978"."""
    lowered = text.lower()
    found = (number for number in NUMBER.finditer(lowered) if value_of(number[0]) == value)
    first = next(found, None)
    return first is not None and _is_place(lowered, first) and all(_is_place(lowered, number) for number in found)


def _is_place(lowered: str, number: re.Match[str]) -> bool:
    """Return whether a number tells where or when: behind "frame", hours or minutes of a time, a grid's size."""
    before = lowered[max(0, number.start() - REACH_BEFORE) : number.start()]
    if _SIZE_BEFORE.search(before) or _SIZE_BEHIND.match(lowered, number.end()):
        return True
    is_time = _TIME_BEFORE.search(before) or _TIME_BEHIND.match(lowered, number.end())
    return bool(is_time or _PLACE.search(before) or _PLACE_SIGN.search(before))


def _is_premise(lowered: str, number: re.Match[str]) -> bool:
    """Return whether a number is assumed, "with r = 1.5"."""
    return bool(_PREMISE.search(text_before(lowered, number)))


def _is_rate(lowered: str, number: re.Match[str]) -> bool:
    """Return whether a number is what a pixel stands for, "0.5 m per pixel"."""
    return bool(_RATE.match(lowered, number.end()))


def _is_raw_measure(lowered: str, number: re.Match[str]) -> bool:
    """Return whether a number counts pixels, which something else is worked out of."""
    return bool(_PIXELS.match(lowered, number.end()))
