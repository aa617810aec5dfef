"""`rules/2`: judges a short answer without any model. For tests, demo and triage; a judge that reads is better.

An answer is right if it equals a truth, as words, as a number or as a date at the truth's precision; or if it says the
truth's words in their order among at most three times as many, without negation and without another value beside.
"""

import re
from collections.abc import Sequence

from gigavqa.benchmarks.vistahop.answers import find_figures, matches_truth, normalize_text

RULES_VERSION = "rules/2"
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
_ALTERNATIVES = frozenset({"or", "and", "either", "versus", "vs"})
_ALTERNATIVE_SIGNS = re.compile(r"[/;|]")


def is_right(answer: str, truths: Sequence[str]) -> bool:
    """Return whether an answer is right by any of the truths."""
    return matches_truth(answer, truths) or any(_agrees_with(answer.strip(), truth.strip()) for truth in truths)


def _agrees_with(answer: str, truth: str) -> bool:
    if not normalize_text(answer) or not normalize_text(truth):
        return False
    if normalize_text(truth) in ("yes", "no"):
        return _opens_with(answer, normalize_text(truth))
    if (number := _parse_number(truth)) is not None and (other := _parse_number(answer)) is not None:
        return number == other
    date, told = _parse_date(truth), _parse_date(answer)
    if date and told:
        return told[: len(date)] == date
    return _states_truth(answer, truth)


def _opens_with(answer: str, truth: str) -> bool:
    words = normalize_text(answer).split()
    other = "no" if truth == "yes" else "yes"
    return words[0] == truth and other not in words and len(words) <= 2 * _LONGEST


def _parse_number(text: str) -> float | None:
    found = _NUMBER.fullmatch(text.strip(" ."))
    if found:
        return float(found[1].replace(",", "").replace("−", "-"))
    return _NUMERALS.get(normalize_text(text))


def _parse_date(text: str) -> tuple[int, ...]:
    """Year, month and day, as many as are told; empty where the text is no date."""
    bare = _BEFORE_DATE.sub("", text.strip(" ."), count=1).strip()
    for form, places in _DATES:
        if found := form.fullmatch(bare):
            return tuple(_part(found[place]) for place in places)
    return ()


def _part(text: str) -> int:
    return int(text) if text.isdecimal() else 1 + [name[:3] for name in _MONTHS].index(text.lower()[:3])


def _states_truth(answer: str, truth: str) -> bool:
    said, wanted = normalize_text(answer).split(), normalize_text(truth).split()
    if len(said) > _LONGEST * len(wanted) or not _in_order(wanted, said):
        return False
    others = _drop_words(said, wanted)
    if _NEGATIONS & {*others} or _ALTERNATIVES & {*others}:
        return False
    if _ALTERNATIVE_SIGNS.search(answer) and not _ALTERNATIVE_SIGNS.search(truth):
        return False
    return find_figures(answer) == find_figures(truth)


def _in_order(wanted: Sequence[str], said: Sequence[str]) -> bool:
    rest = iter(said)
    return all(word in rest for word in wanted)


def _drop_words(said: Sequence[str], wanted: Sequence[str]) -> list[str]:
    left = list(said)
    for word in wanted:
        left.remove(word)
    return left
