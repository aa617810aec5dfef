"""Find the sentence of a text that tells the number that it comes to."""

import re
from collections.abc import Iterable, Sequence

from gigavqa.answers.abstention import abstains, find_abstention
from gigavqa.answers.asked import Asked
from gigavqa.answers.content_words import named, tokens
from gigavqa.answers.counting import chief_among, counts_in, is_compared
from gigavqa.answers.lexicon import Words, lazy_pattern, words
from gigavqa.answers.negation import Mention, settle
from gigavqa.answers.normalization import passages
from gigavqa.answers.numerals import NUMBER, value_of
from gigavqa.answers.parts_of_wholes import opens_with_whole
from gigavqa.answers.readings import AMBIGUOUS, Reading, parsed
from gigavqa.answers.text import sentences_of

_IN_BRACKETS = re.compile(r"\s*[(（][^()（）]*[)）][.。]?\s*")
"""A sentence in brackets: a remark."""
_PARTITIVE = lazy_pattern(rf"\W*(?:\w+\s)?{words('partitive')}")
_ASIDE = Words("aside")
NOTHING = Words("nothing")
NO_SUCH = Words(
    "no_such",
    pattern=r"{}\s(?:[^\W\d_-]+\s){1,4}?"
    r"(?:is|are|was|were|can be|could be|zu sehen|sichtbar|vorhanden|n'est|est|es|está|é)\b",
)
"""What denies that there is any: "No bicycles are visible"."""
_ONLY_OTHERS = Words(
    "nothing",
    pattern=rf"{{}}[^.;!?。]{{0,60}}?[,;，；]\s*(?:[^\W\d]{{1,12}}\s){{0,2}}?{words('only')}\s"
    rf"(?:[^\d.;!?]{{0,16}}(?=\d)|(?:[^\W\d]+\s){{0,2}}?(?={NUMBER.pattern}))",
)
"""A denial of what was asked for, up to the number of what there is instead."""
_ROW = re.compile(r"\s*(?:[-*•–]|\d{1,2}[.)])\s")
_COUNTS = lazy_pattern(
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
_ORDERS = Words("total", "conclusion", "announcement", "retraction", "holding", "remainder")
"""What tells that a later number is the outcome."""
TOTALS, CONCLUSION = Words("total"), Words("conclusion", "right_is")
_SUMS = Words("total", "conclusion")
_BETWEEN = lazy_pattern(
    rf"\s*[*_]*(?:{words('roughly')}\s)?(?:between|entre|zwischen)\s+(?:{NUMBER.pattern})", re.IGNORECASE
)
_ALONE = lazy_pattern(rf"[\s*_`$(]*+(?:{NUMBER.pattern})[\s*_`$)]*+", re.IGNORECASE)
_BARE = lazy_pattern(rf"[\s*_`$(]*+(?:{NUMBER.pattern})\s?[^\W\d]{{0,3}}[²³]?[\s*_`$)]*+[.。!]", re.IGNORECASE)
"""A number that stands alone, perhaps with a unit, before what is remarked on it."""
_BOLD_OPENING = lazy_pattern(
    rf"\s*\*\*\s?((?i:{NUMBER.pattern}))(?:\s?[^\s\d*]{{1,24}}){{1,3}}\*\*\s*(?:[:.,;(–—-]|(?<=\n)|(?=[A-ZÀ-ÞА-Я])|\Z)"
)
"""A count with its noun in bold, before how it was counted."""
_LONGEST_REMARK = 1_000
"""Characters of a text that opens with a count, and remarks on it; a longer one works it out."""


def states_quantity(sentence: str) -> bool:
    """Return whether a sentence states the quantity that was asked for, "The number of steps is 17", "17 in total"."""
    lowered = sentence.lower()
    if _PLANNED.search(lowered):
        return False
    return bool(TOTALS.search(lowered) or _QUANTITY.search(lowered)) and len(counts_in(sentence)) == 1


_PLANNED = Words("planned")


def is_number_alone(text: str) -> bool:
    """Return whether a text is a number and nothing else but markup."""
    return bool(_ALONE.fullmatch(text))


def is_unknown(in_order: Sequence[str], told: str, numbers: Sequence[re.Match[str]]) -> bool:
    """Return whether a text says that it cannot tell, and its numbers need not be what was asked for.

    A count with its noun stands, "12 cars. I cannot tell their colours.", and so do an outcome and a best guess.
    """
    if own := find_abstention(told):
        if own.start() > numbers[-1].start():
            rest = told[numbers[-1].end() :].lower()
            if any(find_abstention(one) for one in in_order if one is not told):
                return True
            return bool(_QUANTITY.search(rest) or CONCLUSION.search(rest[: own.end() - numbers[-1].end()]))
        return not _COMMITS.search(told[own.end() : numbers[-1].start()].lower())
    if not any(map(find_abstention, in_order)):
        return False
    lowered = told.lower()
    return not (
        states_quantity(told)
        or _COUNTS.fullmatch(told)
        or _ORDERS.search(lowered)
        or _GUESSES.search(lowered)
        or "=" in told
    )


def last_told(in_order: list[str]) -> tuple[str, list[re.Match[str]]] | None:
    """Return the last sentence with counts, and these: none where it comes to a bound, or denies what a list counts.

    Asides give way to a sum before them: "14 chairs in total. There are also 2 benches."
    """
    in_order = [one for one in in_order if not _IN_BRACKETS.fullmatch(one)] or in_order
    counted = next((at for at, sentence in enumerate(in_order) if counts_in(sentence)), len(in_order))
    in_order = [one for at, one in enumerate(in_order) if at <= counted or not _PARTITIVE.match(one.lower())]
    first = next((at for at, sentence in enumerate(in_order) if _is_sum(sentence)), len(in_order))
    meant = [one for at, one in enumerate(in_order) if at <= first or not _ASIDE.search(one.lower())]
    for sentence in reversed(meant):
        if CONCLUSION.search(sentence.lower()) and NUMBER.search(sentence) and not counts_in(sentence):
            return sentence, []
        if counts_in(sentence):
            if _BETWEEN.match(sentence) and not _SUMS.search(sentence.lower()):
                return sentence, []
            break
    if (told := first_told(reversed(meant))) is None:
        return None
    last = meant[-1]
    is_denied = told[0] is not last and _ROW.match(told[0]) and not _ROW.match(last) and not counts_in(last)
    return (last, []) if is_denied and NOTHING.search(last.lower()) and not abstains(last) else told


def is_singled_out(asked: Asked, text: str, value: float) -> bool:
    """Return whether a text with several counts says that one is the outcome, or has but that one of what was asked."""
    if opening_count(text) is not None or passages(text)[0] != text:
        return True
    told = [(sentence, numbers) for sentence in sentences_of(text) if (numbers := counts_in(sentence))]
    values = [value_of(one[0]) for _, numbers in told for one in numbers]
    if len({*values}) < 2:
        return True
    is_of_whole = opens_with_whole(asked.language, told[0][0][: told[0][1][0].start()].lower())
    holding = [(sentence, numbers) for sentence, numbers in told if value in map(_value, numbers)]
    is_sum = sum(values) == 2 * value and not is_of_whole and asked.is_of_one_count
    if is_sum and not any(_ROW.match(sentence) for sentence, _ in holding):
        return True
    if holding and _settles(*holding[-1], value):
        return True
    of_it = [numbers for one, numbers in told if asked.things <= named(tokens(one.lower(), asked.language))]
    return {_value(one) for numbers in of_it for one in numbers} == {value}


def _value(number: re.Match[str]) -> float:
    return value_of(number[0])


def _settles(sentence: str, numbers: list[re.Match[str]], value: float) -> bool:
    """Return whether a sentence says of its number that it is the outcome, or sets it against the others."""
    if _EQUATION.search(sentence) or _OUTCOME.search(sentence.lower()):
        return True
    if any(value_of(one[1]) == value for one in BOLD.finditer(sentence)):
        return True
    mentions = [Mention(*one.span(), _value(one)) for one in numbers]
    said = settle(sentence, mentions)
    return said.values == {value} and said.rule in _SETTLES and len({mention.value for mention in mentions}) > 1


_SETTLES = ("affirmed", "concluded", "only left")


_EQUATION = re.compile("[=≈＝]")
_OUTCOME = Words(
    "total", "conclusion", "announcement", "retraction", "remainder", "right_is", "preference", "second_look"
)
BOLD = lazy_pattern(rf"\*\*\s?({NUMBER.pattern})(?:\s?[^\W\d]{{1,16}})?\s?\*\*", re.IGNORECASE)
"""A number in bold, perhaps with its unit or noun."""


def _is_sum(sentence: str) -> bool:
    if not counts_in(sentence):
        return False
    return bool("=" in sentence or _SUMS.search(sentence.lower()) or _BARE.fullmatch(sentence.strip()))


def denies_existence(sentence: str, numbers: list[re.Match[str]]) -> bool:
    """Return whether a sentence denies what was asked for, and counts what there is instead: "no dog, only 2 cats"."""
    denied = _ONLY_OTHERS.search(sentence.lower())
    return denied is not None and denied.end() <= numbers[0].start() + 1


def first_told(in_order: Iterable[str]) -> tuple[str, list[re.Match[str]]] | None:
    """Return the first sentence with counts, and these; one that tells of a limit only where there is no other."""
    compared = None
    for sentence in in_order:
        if numbers := counts_in(sentence):
            if not is_compared(sentence):
                return sentence, numbers
            compared = compared or (sentence, numbers)
    return compared


def opening_count(text: str) -> Reading | None:
    """Read the number that a text opens with, as its total or with its noun, where what follows remarks on its parts.

    Of several that are counts alike, "3 left. 4 right.", none is the answer unless the last is what they come to.
    """
    if (bold := bold_opening(text)) is not None:
        return bold
    first, *rest = sentences_of(text) if len(text) < _LONGEST_REMARK else [""]
    if not rest or any(_ORDERS.search(one.lower()) or states_quantity(one) for one in rest):
        return None
    if _BARE.fullmatch(first.strip()):
        return parsed(value_of(NUMBER.search(first)[0]))  # type: ignore[index]
    numbers = chief_among(first, counts_in(first))
    if len(numbers) != 1:
        return None
    count = value_of(numbers[0][0])
    if states_quantity(first):
        return parsed(count)
    remarks = [sentence for sentence in rest if NUMBER.search(sentence)]
    return _count_before(remarks, first, count) if remarks else None


def bold_opening(text: str) -> Reading | None:
    """Read the count with its noun that a text opens with in bold, "**7 ships** How I counted: …"."""
    bold = _BOLD_OPENING.match(text) if "**" in text else None
    return None if bold is None or _ORDERS.search(text[bold.end() :].lower()) else parsed(value_of(bold[1]))


def closing_count(text: str) -> Reading | None:
    """Read the number that a text of several lines ends with: alone, in a line all in bold, or as a right sum."""
    *before, last = [line.strip() for line in text.splitlines() if line.strip()] or [""]
    values = {value_of(one[0]) for one in counts_in(last)}
    if before and len(values) == 1 and (is_number_alone(last) or _BOLD_LINE.fullmatch(last)):
        return parsed(values.pop())
    return _sum_at_end(text)


_BOLD_LINE = re.compile(r"\*\*[^*]+\*\*[.!。]?")


def _sum_at_end(text: str) -> Reading | None:
    """Read the outcome of the sum that a text ends with, "4 + 3 + 2 = 9 planes.", where it is right."""
    found = _SUM.search(text)
    if found is None:
        return None
    addends = [value_of(one[0]) for one in NUMBER.finditer(found["addends"])]
    outcome = value_of(found["outcome"])
    return parsed(outcome) if sum(addends) == outcome else None


_SUM = re.compile(
    r"(?<![\d.+-])(?P<addends>\d{1,6}(?:\s?\+\s?\d{1,6}){1,40})\s?=\s?\*{0,2}(?P<outcome>\d{1,6})\*{0,2}(?:\s[^\d.!?。\n]{1,32})?[.!。]?\s*\Z"
)


def _count_before(remarks: Sequence[str], first: str, count: float) -> Reading | None:
    """Read the count of the first sentence, where the numbers of the remarks are its parts."""
    parts = [value_of(number[0]) for one in remarks for number in chief_among(one, [*NUMBER.finditer(one)])]
    if not TOTALS.search(first.lower()):
        if not _COUNTS.fullmatch(first) or _ORDERS.search(first.lower()):
            return None
        if all(map(_COUNTS.fullmatch, remarks)):
            *others, outcome = parts
            if _ROW.match(remarks[-1]) or ":" in remarks[-1].replace("：", ":"):
                return AMBIGUOUS
            return parsed(outcome) if outcome == count + sum(others) or {count, *parts} == {count} else AMBIGUOUS
        if any(map(_COUNTS.fullmatch, remarks)):
            return None
    return parsed(count) if max(parts) <= count else None
