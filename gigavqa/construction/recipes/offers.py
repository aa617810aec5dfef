"""The answers that a question offers: sets of values in which each is right as often, whatever else a text says.

A set belongs to no truth: four neighbouring values form one, and who is asked is told of all sets that hold the truth.
A build takes one of them for each selection, so that in every set each value is true equally often. What reads the
texts alone then knows the set and nothing more: not the middle, nor the smallest, nor the usual value is right more
often than others, and no value rules another one out.
"""

from collections.abc import Sequence
from functools import lru_cache

from gigavqa.answers.answer_space import key_of

YES_NO = ("yes", "no")
_CLOSE_UP_TO = 8


def number_offers(truth: int, size: int) -> list[list[int]]:
    """Return the sets of `size` counts from 1 on that hold a count: consecutive ones, and every second of larger ones.

    Counts above 8 have sets of their own, whose gaps are 2: nobody should fail by one in a crowd.
    """
    if truth <= _CLOSE_UP_TO:
        starts = range(max(1, truth - size + 1), min(truth, _CLOSE_UP_TO - size + 1) + 1)
        return [list(range(start, start + size)) for start in starts]
    ends = [truth + 2 * after for after in range(size)]
    return [list(range(end - 2 * (size - 1), end + 1, 2)) for end in ends if end - 2 * (size - 1) > _CLOSE_UP_TO]


def value_offers(values: Sequence[str], truth: str, size: int) -> list[list[str]]:
    """Return the sets of neighbouring values, in a circle, that hold a value; of few values there is one set.

    Empty where nothing else could be offered.
    """
    if truth not in values or len(values) < 2:
        return []
    if len(values) <= size:
        return [sorted(values)]
    at = values.index(truth)
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
