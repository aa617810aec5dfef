"""Read the number that a text sets apart: that it opens with, before remarks, or that its last line is."""

import re
from collections.abc import Sequence

from gigavqa.answers.asked import Asked
from gigavqa.answers.content_words import named, tokens
from gigavqa.answers.counting import chief_among, counts_in
from gigavqa.answers.lexicon import Words, lazy_pattern
from gigavqa.answers.negation import Mention, settle
from gigavqa.answers.normalization import passages
from gigavqa.answers.number_sentences import BARE, BOLD, COUNTS, ORDERS, ROW, TOTALS, is_number_alone, states_quantity
from gigavqa.answers.numerals import NUMBER, value_of
from gigavqa.answers.parts_of_wholes import opens_with_whole
from gigavqa.answers.readings import AMBIGUOUS, Reading, parsed
from gigavqa.answers.text import sentences_of

_BOLD_OPENING = lazy_pattern(
    rf"\s*\*\*\s?((?i:{NUMBER.pattern}))(?:\s?[^\s\d*]{{1,24}}){{1,3}}\*\*\s*(?:[:.,;(–—-]|(?<=\n)|(?=[A-ZÀ-ÞА-Я])|\Z)"
)
"""A count with its noun in bold, before how it was counted."""


_LONGEST_REMARK = 1_000
"""Characters of a text that opens with a count, and remarks on it; a longer one works it out."""


def opening_count(text: str) -> Reading | None:
    """Read the number that a text opens with, as its total or with its noun, where what follows remarks on its parts.

    Of several that are counts alike, "3 left. 4 right.", none is the answer unless the last is what they come to.
    """
    if (bold := bold_opening(text)) is not None:
        return bold
    first, *rest = sentences_of(text) if len(text) < _LONGEST_REMARK else [""]
    if not rest or any(ORDERS.search(one.lower()) or states_quantity(one) for one in rest):
        return None
    if BARE.fullmatch(first.strip()):
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
    return None if bold is None or ORDERS.search(text[bold.end() :].lower()) else parsed(value_of(bold[1]))


def closing_count(text: str) -> Reading | None:
    """Read the number that a text of several lines ends with: alone, in a line all in bold, or as a right sum."""
    *before, last = [line.strip() for line in text.splitlines() if line.strip()] or [""]
    if len(last) > _LONGEST_LAST:
        return None
    values = {value_of(one[0]) for one in counts_in(last)}
    if before and len(values) == 1 and (is_number_alone(last) or _BOLD_LINE.fullmatch(last)):
        return parsed(values.pop())
    return _sum_at_end(last)


_LONGEST_LAST = 200
"""Characters of a last line that is a number, or a sum."""
_BOLD_LINE = re.compile(r"\*\*[^*]+\*\*[.!。]?")


def _sum_at_end(line: str) -> Reading | None:
    """Read the outcome of the sum that a line ends with, "4 + 3 + 2 = 9 planes.", where it is right."""
    found = _SUM.search(line)
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
        if not COUNTS.fullmatch(first) or ORDERS.search(first.lower()):
            return None
        if all(map(COUNTS.fullmatch, remarks)):
            *others, outcome = parts
            if ROW.match(remarks[-1]) or ":" in remarks[-1].replace("：", ":"):
                return AMBIGUOUS
            return parsed(outcome) if outcome == count + sum(others) or {count, *parts} == {count} else AMBIGUOUS
        if any(map(COUNTS.fullmatch, remarks)):
            return None
    return parsed(count) if max(parts) <= count else None


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
    if is_sum and not any(ROW.match(sentence) for sentence, _ in holding):
        return True
    if holding and _settles(asked, *holding[-1], value):
        return True
    of_it = [numbers for one, numbers in told if asked.things <= named(tokens(one.lower(), asked.language))]
    return {_value(one) for numbers in of_it for one in numbers} == {value}


def _value(number: re.Match[str]) -> float:
    return value_of(number[0])


def _settles(asked: Asked, sentence: str, numbers: list[re.Match[str]], value: float) -> bool:
    """Return whether a sentence says of its number that it is the outcome, or sets it against the others."""
    if _EQUATION.search(sentence) or _OUTCOME.search(sentence.lower()):
        return True
    if any(value_of(one[1]) == value for one in BOLD.finditer(sentence)):
        return True
    mentions = [Mention(*one.span(), _value(one)) for one in chief_among(sentence, numbers)]
    said = settle(sentence, mentions)
    is_sure = said.rule in ("affirmed", "concluded", "only left") or _BETWEEN.search(sentence.lower()) is not None
    return (
        (is_sure or not asked.is_of_one_count)
        and said.values == {value}
        and len({mention.value for mention in mentions}) > 1
    )


_BETWEEN = Words("range_opens")
"""Before two numbers of which a third is told, "the difference between 5 and 2 is 3"."""
_EQUATION = re.compile("[=≈＝]")


_OUTCOME = Words(
    "total", "conclusion", "announcement", "retraction", "remainder", "right_is", "preference", "second_look"
)
