"""The answers that a question offers: sets of values in which each is right as often, whatever else a text says.

A set belongs to no truth: a build makes it of answers that occur, and takes one selection for each. What reads the
texts alone then knows the set and nothing more: not the middle, nor the smallest, nor the usual value is right more
often than others, and no value rules another one out.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from gigavqa.answers.answer_space import key_of

YES_NO = ("yes", "no")
_CLOSE_UP_TO = 8


def apart_set(numbers: Mapping[Any, int], size: int) -> Sequence[Any]:
    """Return `size` answers out of those that so many selections have, sorted; empty where there are too few.

    Of texts the most frequent ones, of counts neighbours: the set whose rarest count is the most frequent.
    Counts above 8 have gaps of 2 at least: nobody should fail by one in a crowd.
    """
    ordered = sorted(numbers)
    if len(ordered) < size:
        return ()
    if all(isinstance(answer, str) for answer in ordered):
        return sorted(sorted(ordered, key=lambda answer: -numbers[answer])[:size])
    sets = [found for at in range(len(ordered)) if len(found := _neighbours(ordered[at:], size)) == size]
    return max(sets, key=lambda found: (min(map(numbers.__getitem__, found)), -found[-1] + found[0]), default=())


def _neighbours(counts: Sequence[int], size: int) -> list[int]:
    found = [counts[0]]
    for count in counts[1:]:
        if len(found) < size and count - found[-1] >= (1 if count <= _CLOSE_UP_TO else 2):
            found.append(count)
    return found


def value_sets(values: Sequence[str], value: str, size: int) -> list[list[str]]:
    """Return the sets of neighbouring values, in a circle, that hold a value; of few values there is one set.

    Empty where nothing else could be offered.
    """
    if value not in values or len(values) < 2:
        return []
    if len(values) <= size:
        return [sorted(values)]
    at = values.index(value)
    return [sorted(values[(at - before + step) % len(values)] for step in range(size)) for before in range(size)]


@lru_cache(maxsize=4096)
def distinct_values(values: tuple[str, ...], texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the values, sorted, whose texts differ from all others' as answers are compared."""
    keys = [key_of(text) for text in texts]
    return tuple(
        sorted(
            value
            for value, key in zip(values, keys, strict=True)
            if key not in ("", "yes", "no") and keys.count(key) == 1
        )
    )
