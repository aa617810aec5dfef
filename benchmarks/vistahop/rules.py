"""`rules/2`: judges a short answer without any model. For tests, demo and triage; a judge that reads is better.

An answer is right if it equals a truth, as words, as a number or as a date at the truth's precision; or if it says the
truth's words in their order among at most three times as many, without negation and without another value beside.
"""

import re
from collections.abc import Sequence

from benchmarks.vistahop.answers import figures, matches, plain

RULES = "rules/2"
_LONGEST = 3
"""Words of an answer at most, in those of the truth."""
_TO_TWENTY = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
)  # fmt: skip
_NUMERALS = {word: float(number) for number, word in enumerate(_TO_TWENTY)}
_DIGITS = r"[-+−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_NUMBER = re.compile(rf"({_DIGITS})\s*(?:%|percent|per cent)?", re.IGNORECASE)
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_MONTH = rf"({'|'.join(f'{name}|{name[:3]}' for name in _MONTHS)})\.?"
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"([12]\d{3})"
_DATES = (
    (re.compile(rf"{_DAY}\s+(?:of\s+)?{_MONTH},?\s+{_YEAR}", re.IGNORECASE), (3, 2, 1)),
    (re.compile(rf"{_MONTH}\s+{_DAY},?\s+{_YEAR}", re.IGNORECASE), (3, 1, 2)),
    (re.compile(rf"{_MONTH},?\s+{_YEAR}", re.IGNORECASE), (2, 1)),
    (re.compile(rf"{_YEAR}-(\d{{1,2}})-(\d{{1,2}})(?:T.*)?"), (1, 2, 3)),
    (re.compile(rf"{_YEAR}-(\d{{1,2}})"), (1, 2)),
    (re.compile(_YEAR), (1,)),
)
"""Forms of dates, each with the groups of year, month and day."""
_BEFORE_DATE = re.compile(r"(?:in|on|during|the year)\s+", re.IGNORECASE)
_NEGATIONS = frozenset({"not", "no", "never", "neither", "nor", "without", "none", "except", "isnt", "wasnt", "cannot"})
_ANOTHER = frozenset({"or", "and", "either", "versus", "vs"})
_MARKS_ANOTHER = re.compile(r"[/;|]")


def is_right(answer: str, truths: Sequence[str]) -> bool:
    """Whether an answer is right by any of the truths."""
    return matches(answer, truths) or any(_agrees(answer.strip(), truth.strip()) for truth in truths)


def _agrees(answer: str, truth: str) -> bool:
    if not plain(answer) or not plain(truth):
        return False
    if plain(truth) in ("yes", "no"):
        return _opens_with(answer, plain(truth))
    if (number := _number(truth)) is not None and (other := _number(answer)) is not None:
        return number == other
    date, told = _date(truth), _date(answer)
    if date and told:
        return told[: len(date)] == date
    return _says(answer, truth)


def _opens_with(answer: str, truth: str) -> bool:
    words = plain(answer).split()
    other = "no" if truth == "yes" else "yes"
    return words[0] == truth and other not in words and len(words) <= 2 * _LONGEST


def _number(text: str) -> float | None:
    found = _NUMBER.fullmatch(text.strip(" ."))
    if found:
        return float(found[1].replace(",", "").replace("−", "-"))
    return _NUMERALS.get(plain(text))


def _date(text: str) -> tuple[int, ...]:
    """Year, month and day, as many as are told; empty where the text is no date."""
    bare = _BEFORE_DATE.sub("", text.strip(" ."), count=1).strip()
    for form, places in _DATES:
        if found := form.fullmatch(bare):
            return tuple(_part(found[place]) for place in places)
    return ()


def _part(text: str) -> int:
    return int(text) if text.isdecimal() else 1 + [name[:3] for name in _MONTHS].index(text.lower()[:3])


def _says(answer: str, truth: str) -> bool:
    said, wanted = plain(answer).split(), plain(truth).split()
    if len(said) > _LONGEST * len(wanted) or not _in_order(wanted, said):
        return False
    others = _without(said, wanted)
    if _NEGATIONS & {*others} or _ANOTHER & {*others}:
        return False
    if _MARKS_ANOTHER.search(answer) and not _MARKS_ANOTHER.search(truth):
        return False
    return figures(answer) == figures(truth)


def _in_order(wanted: Sequence[str], said: Sequence[str]) -> bool:
    rest = iter(said)
    return all(word in rest for word in wanted)


def _without(said: Sequence[str], wanted: Sequence[str]) -> list[str]:
    left = list(said)
    for word in wanted:
        left.remove(word)
    return left
