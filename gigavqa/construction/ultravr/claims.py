"""Claims on two counts, of which one alone is true: difference, total, ratio and order (appendix F.1)."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from math import gcd
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from gigavqa.benchmarks.ultravr.vocabulary import CLAIM_FAMILIES, ORDERINGS

_MOST_IN_RATIO = 6
_STEPS = (-2, -1, 1, 2)
"""How far a false difference or total lies from the true one."""
_WORLD = 60
_MOST_SETS = 8
RATIOS = tuple(f"{a}:{b}" for a, b in product(range(1, _MOST_IN_RATIO + 1), repeat=2) if gcd(a, b) == 1)


class Claims(NamedTuple):
    """What a question offers: a difference, a total, a ratio in lowest terms, and an order."""

    difference: int
    total: int
    ratio: str
    order: str

    def options(self) -> list[str]:
        """Return the four as answers of a program, in the order of their families."""
        return [f"{family}={value}" for family, value in zip(CLAIM_FAMILIES, self, strict=True)]


def facts(a: int, b: int) -> Claims:
    """Return what is true of two counts, at least one of which is not 0."""
    divisor = gcd(a, b)
    order = ORDERINGS[0 if a > b else 1 if a < b else 2]
    return Claims(abs(a - b), a + b, f"{a // divisor}:{b // divisor}", order)


@lru_cache(maxsize=4096)
def claims_on(a: int, b: int, words: str) -> tuple[tuple[Claims, str], ...]:
    """Return sets of claims on two counts, with the option of each that is true, at most 8 for each family.

    A false difference or total lies 1 or 2 from the true one. Which sets are taken hangs on their texts and on `words`
    alone, so that the same ones come up for other counts. Readers know that just one claim is true, so a claim that
    could not be the only true one is none: every set leaves each family possible.
    """
    true, found = facts(a, b), list[tuple[Claims, str]]()
    for at, family in enumerate(CLAIM_FAMILIES):
        if family == "ratio_claim" and true.ratio not in RATIOS:
            continue
        sets = sorted(_sets(true, at), key=lambda claims: (crc32(f"{words}/{claims.options()}".encode()), claims))
        possible = (claims for claims in sets if is_open(claims))
        for claims, _ in zip(possible, range(_MOST_SETS), strict=False):
            found.append((claims, claims.options()[at]))
    return tuple(found)


def _sets(true: Claims, at: int) -> Iterator[Claims]:
    false: tuple[Sequence[int | str], ...] = (
        [true.difference + step for step in _STEPS if true.difference + step >= 0],
        [true.total + step for step in _STEPS if true.total + step >= 2],
        [ratio for ratio in RATIOS if ratio != true.ratio],
        [order for order in ORDERINGS if order != true.order],
    )
    values = [[true[place]] if place == at else others for place, others in enumerate(false)]
    for difference, total, ratio, order in product(*values):
        yield Claims(int(difference), int(total), str(ratio), str(order))


@lru_cache(maxsize=65_536)
def is_open(claims: Claims) -> bool:
    """Return whether each of the claims is the only true one for some two counts from 1 to 60."""
    masks = [_holds(at, value) for at, value in enumerate(claims)]
    number = sum(mask.astype(np.int8) for mask in masks)
    return all(bool((mask & (number == 1)).any()) for mask in masks)


@lru_cache(maxsize=1024)
def _holds(at: int, value: int | str) -> NDArray[np.bool_]:
    """Return for which pairs of counts a claim is true."""
    a, b = np.meshgrid(np.arange(1, _WORLD + 1), np.arange(1, _WORLD + 1), indexing="ij")
    if at == 0:
        return np.asarray(abs(a - b) == value)
    if at == 1:
        return np.asarray(a + b == value)
    if at == 2:
        first, second = map(int, str(value).split(":"))
        return np.asarray(a * second == b * first)
    return np.asarray((a > b, a < b, a == b)[ORDERINGS.index(str(value))])
