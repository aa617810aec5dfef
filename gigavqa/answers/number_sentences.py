"""Find the sentence of a text that tells the number that it comes to."""

import re
from collections.abc import Iterable, Sequence

from gigavqa.answers.abstention import abstains, find_abstention
from gigavqa.answers.counting import counts_in, is_compared
from gigavqa.answers.lexicon import Words, lazy_pattern, words
from gigavqa.answers.numerals import NUMBER

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
ROW = re.compile(r"\s*(?:[-*•–]|\d{1,2}[.)])\s")
COUNTS = lazy_pattern(
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
ORDERS = Words("total", "conclusion", "announcement", "retraction", "holding", "remainder")
"""What tells that a later number is the outcome."""
TOTALS, CONCLUSION = Words("total"), Words("conclusion", "right_is")
_SUMS = Words("total", "conclusion")
_BETWEEN = lazy_pattern(
    rf"\s*[*_]*(?:{words('roughly')}\s)?(?:between|entre|zwischen)\s+(?:{NUMBER.pattern})", re.IGNORECASE
)


def states_quantity(sentence: str) -> bool:
    """Return whether a sentence states the quantity that was asked for, "The number of steps is 17", "17 in total"."""
    lowered = sentence.lower()
    if _PLANNED.search(lowered):
        return False
    return bool(TOTALS.search(lowered) or _QUANTITY.search(lowered)) and len(counts_in(sentence)) == 1


_PLANNED = Words("planned")


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
        or COUNTS.fullmatch(told)
        or ORDERS.search(lowered)
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
    is_denied = told[0] is not last and ROW.match(told[0]) and not ROW.match(last) and not counts_in(last)
    return (last, []) if is_denied and NOTHING.search(last.lower()) and not abstains(last) else told


BOLD = lazy_pattern(rf"\*\*\s?({NUMBER.pattern})(?:\s?[^\W\d]{{1,16}})?\s?\*\*", re.IGNORECASE)
"""A number in bold, perhaps with its unit or noun."""


def _is_sum(sentence: str) -> bool:
    if not counts_in(sentence):
        return False
    return bool("=" in sentence or _SUMS.search(sentence.lower()) or BARE.fullmatch(sentence.strip()))


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


_ALONE = lazy_pattern(rf"[\s*_`$(]*+(?:{NUMBER.pattern})[\s*_`$)]*+", re.IGNORECASE)


BARE = lazy_pattern(rf"[\s*_`$(]*+(?:{NUMBER.pattern})\s?[^\W\d]{{0,3}}[²³]?[\s*_`$)]*+[.。!]", re.IGNORECASE)
"""A number that stands alone, perhaps with a unit, before what is remarked on it."""


def is_number_alone(text: str) -> bool:
    """Return whether a text is a number and nothing else but markup."""
    return bool(_ALONE.fullmatch(text))
