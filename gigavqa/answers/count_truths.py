"""Answer questions of yes or no that ask for a number of things, or compare two, by the counts that a text tells.

"Are there at least four tanks?" is answered by "There are three tanks.", "Are there more cars than bicycles?" by both.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from operator import eq, ge, gt, le, lt
from typing import NamedTuple

from gigavqa.answers.abstention import find_abstention
from gigavqa.answers.asked import Asked, words_in
from gigavqa.answers.content_words import is_content, named, run_at, tokens
from gigavqa.answers.counted_phrases import CountedPhrase, counted_phrases
from gigavqa.answers.lexicon import Words, words
from gigavqa.answers.numerals import NUMBER, value_of
from gigavqa.answers.readings import AMBIGUOUS, Reading, parsed
from gigavqa.answers.text import sentences_of

Compared = Callable[[float, float], bool]
_BOUNDS: tuple[tuple[Words, Compared], ...] = (
    (Words("at_least", pattern=r"{}\s*$"), ge),
    (Words("at_most", pattern=r"{}\s*$"), le),
    (Words("above_number", pattern=r"{}\s*$"), gt),
    (Words("below_number", pattern=r"{}\s*$"), lt),
)
_LONGEST = 400
"""Characters of a text whose counts are weighed; a longer one argues."""


class CountAsked(NamedTuple):
    """The words of what a question counts, and what its count is compared with: a number, or that of other things."""

    things: frozenset[str]
    compared: Compared
    number: float
    others: frozenset[str] = frozenset()


@lru_cache(maxsize=256)
def count_asked(asked: Asked) -> CountAsked | None:
    """Return what count a question of yes or no asks about; None of any other."""
    if words_in(asked.language, "negator").search(asked.text) or not asked.find("existence_asked"):
        return None
    numbers = [*NUMBER.finditer(asked.text)]
    if not numbers:
        return _comparison(asked)
    things = _first_run(asked, asked.text[numbers[0].end() :])
    if len(numbers) > 1 or not things:
        return None
    before = asked.text[: numbers[0].start()]
    compared = next((compared for words, compared in _BOUNDS if words.search(before)), eq)
    return CountAsked(things, compared, value_of(numbers[0][0]))


def _comparison(asked: Asked) -> CountAsked | None:
    for compared, name in ((gt, "more_of"), (lt, "fewer_of")):
        found = _between(asked.language, name).search(asked.text)
        if found is None:
            continue
        things, others = (_first_run(asked, found[side]) for side in ("one", "other"))
        return CountAsked(things, compared, 0, others) if things and others else None
    return None


@lru_cache(maxsize=32)
def _between(language: str, name: str) -> Words:
    than = words(f"than_others.{language}")
    return Words(f"{name}.{language}", pattern=rf"{{}}\s(?P<one>.+?)[,，]?\s{than}\s(?P<other>.+)")


def _first_run(asked: Asked, text: str) -> frozenset[str]:
    """Return the words of the first noun phrase of a part of a question."""
    found = tokens(text, asked.language)
    at = next((at for at, one in enumerate(found) if is_content(one)), None)
    return frozenset() if at is None else named(run_at(found, at))


def as_counted(asked: Asked, text: str) -> Reading | None:
    """Return what the counts of a text answer to a question about a count; None where that cannot be told."""
    wanted = count_asked(asked)
    if wanted is None or len(text) > _LONGEST or find_abstention(text):
        return None
    found = counted_phrases(asked, sentences_of(text))
    if not found:
        return None
    value = _value(found, wanted.things)
    other = _value(found, wanted.others) if wanted.others else wanted.number
    if value is None or other is None:
        return AMBIGUOUS
    if (wanted.compared is eq and value > other) or (wanted.compared is gt and value == other and not wanted.others):
        return AMBIGUOUS  # where there are seven there are five, and where one is told of there may be more
    return parsed(wanted.compared(value, other))


def _value(found: Sequence[CountedPhrase], things: frozenset[str]) -> float | None:
    """Return the one count of some things; None of none or several."""
    values = {
        one.value
        for one in found
        if things <= (one.behind | one.before or one.inherited) and not one.is_denied and not one.is_part
    }
    return values.pop() if len(values) == 1 else None
