"""Options that are numbers: a list's number is none of them, and a count with its noun is the one that it counts."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from gigavqa.answers.counting import counts_in
from gigavqa.answers.lexicon import Words
from gigavqa.answers.negation import Mention, stances
from gigavqa.answers.numbers import read_number
from gigavqa.answers.numerals import NUMBER, value_of
from gigavqa.answers.text import is_ended, plain, sentences_of
from gigavqa.answers.withdrawals import is_conditional

_NUMBERED = re.compile(
    r"^(?P<lead>[ \t>*\u2022#_(-]*+)(?P<number>\d{1,2})(?:[.):][*_)]{0,3}[ \t]+|[\u3001\uff0e]\s?)(?=[^\s\d])",
    re.MULTILINE,
)
"""The number that a line of a list begins with."""
_NUMBER_ALONE = re.compile(r"[-\u2212]?\d{1,9}(?:[.,]\d{1,9})?")


_LIST_NUMBER = re.compile(r"\d{1,2}")


def are_listable(texts: Iterable[str]) -> bool:
    """Return whether a list's number could be taken for one of some texts."""
    return any(map(_LIST_NUMBER.fullmatch, map(plain, texts)))


def without_list_numbers(text: str) -> str:
    """Return a text without the numbers of its lists' lines; one alone at its beginning counts nothing but itself."""
    found = [*_NUMBERED.finditer(text)]
    if not found or (len(found) == 1 and found[0].start() == 0 and found[0]["number"] != "1"):
        return text
    return _NUMBERED.sub(r"\g<lead>", text)


def is_counted(sentence: str, wording: str) -> bool:
    """Return whether a sentence counts what an option is, where that is a number; and no bound, name or place of it.

    Of a number with its noun, "3 people", nothing else may be counted but parts behind a colon.
    """
    if _NUMBER_AND_NOUN.match(wording):
        whole = sentence[: sentence.find(":", sentence.find(wording)) + 1] or sentence
        return _values(counts_in(whole)) == _values(NUMBER.finditer(wording))
    if not _NUMBER_ALONE.fullmatch(wording):
        return True
    return value_of(wording) in {value_of(number[0]) for number in counts_in(sentence)}


_NUMBER_AND_NOUN = re.compile(r"\d{1,9}\s[^\W\d_]")


def _values(numbers: Iterable[re.Match[str]]) -> set[float]:
    return {value_of(number[0]) for number in numbers}


@lru_cache(maxsize=256)
def numbers_of(options: tuple[tuple[str, str], ...]) -> dict[float, str]:
    """Return letters by their numbers; none where an option is anything else, or two are the same number."""
    texts = {letter: plain(text) for letter, text in options}
    if not all(map(_NUMBER_ALONE.fullmatch, texts.values())):
        return {}
    numbers = {value_of(text): letter for letter, text in texts.items()}
    return numbers if len(numbers) == len(options) else {}


def counted_option(text: str, options: Mapping[str, str], *, cut_off: bool = False) -> str | None:
    """Return the letter of the number that a text comes to, where all options are numbers and it names no other one."""
    numbers = numbers_of(tuple(options.items()))
    if not numbers or (cut_off and not is_ended(text)):
        return None
    named = {value_of(number[0]) for number in NUMBER.finditer(text)}
    reading = read_number(text) if len(named & numbers.keys()) == 1 else None
    if reading is None or reading.status != "parsed":
        return None
    if not _is_stated(text, reading.value):
        return None
    is_outcome = reading.value == max(named, default=0) or _SUMS_UP.search(text.lower())
    return numbers.get(reading.value) if is_outcome else None


_SUMS_UP = Words("total", "conclusion")
"""What tells that other numbers of a text are parts of the one that it comes to, though they are larger."""
_UNSTATED = Words(
    "of_each", "possibility", "equal_chance", "undecided", "hypothesis", "first_thought", "speaker", "answerer"
)
_PLACE_BEFORE = Words("place_before", pattern=r"{}\W{0,4}$")
_REACH = 24
"""Characters before a number in which the word stands that tells its place."""


def _is_stated(text: str, value: float) -> bool:
    """Return whether the last sentence that counts a number states it plainly, and of all that was asked for."""
    for sentence in reversed(sentences_of(text)):
        numbers = [number for number in NUMBER.finditer(sentence) if value_of(number[0]) == value]
        if not numbers:
            continue
        lowered, at = sentence.lower(), numbers[0].start()
        mentions = [Mention(*number.span(), value) for number in numbers]
        return not (
            sentence.rstrip().endswith(("?", "？", "؟"))
            or _UNSTATED.search(lowered)
            or is_conditional(sentence)
            or _PLACE_BEFORE.search(lowered[max(0, at - _REACH) : at])
            or value in stances(sentence, mentions).denied
        )
    return False
