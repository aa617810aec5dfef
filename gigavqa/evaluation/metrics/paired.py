"""Test whether two cells differ over the samples that both have: McNemar's exact test, and Holm's correction for
several.
"""

from collections.abc import Sequence
from itertools import accumulate
from math import exp, lgamma, log
from typing import NamedTuple

import numpy as np

from gigavqa.evaluation.metrics.intervals import Floats


class McNemarResult(NamedTuple):
    """The comparison of two cells: samples that both have, those on which each is the better one, and the p-value."""

    both: int
    first_better: int
    second_better: int
    p: float


def paired_test(first: Floats, second: Floats) -> McNemarResult:
    """Compare two cells by one value a sample each, NaN where there is none.

    Of samples with different values, as many should favour either cell: the p-value is two-sided and exact, of the
    binomial distribution with a half. For right or wrong answers this is McNemar's exact test; for means over repeats,
    the sign test. Source: McNemar 1947.
    """
    known = ~(np.isnan(first) | np.isnan(second))
    difference = first[known] - second[known]
    better, worse = int((difference > 0).sum()), int((difference < 0).sum())
    return McNemarResult(int(known.sum()), better, worse, _two_sided(min(better, worse), better + worse))


def _two_sided(least: int, trials: int) -> float:
    """Twice the probability of at most `least` heads in as many throws of a fair coin, at most 1."""
    logs = (lgamma(trials + 1) - lgamma(k + 1) - lgamma(trials - k + 1) - trials * log(2) for k in range(least + 1))
    return min(1.0, 2 * sum(map(exp, logs)))


def holm(values: Sequence[float]) -> list[float]:
    """Correct p-values of one family for their number, in their order. Source: Holm 1979."""
    order = sorted(range(len(values)), key=values.__getitem__)
    scaled = (min(1.0, (len(values) - rank) * values[at]) for rank, at in enumerate(order))
    raised = dict(zip(order, accumulate(scaled, max), strict=True))
    return [raised[at] for at in range(len(values))]
