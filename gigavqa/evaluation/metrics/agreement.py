"""Agreement between people who sort the same samples: the share that is sorted alike, and kappa, which takes off what
chance would bring.
"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from math import sqrt

from gigavqa.evaluation.metrics.estimates import NO_ESTIMATE, Estimate
from gigavqa.evaluation.metrics.intervals import Z


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> Estimate:
    """Estimate the agreement of two raters beyond chance, from one category a sample each, in the same order.

    There is no value where both name one category alone, which leaves nothing to chance, and no interval where they
    agree on all. Sources: Cohen 1960; the standard error is that of Fleiss, Cohen and Everitt 1969.
    """
    pairs = Counter(zip(first, second, strict=True))
    count = pairs.total()
    if not count:
        return NO_ESTIMATE
    rows, columns = ({name: seen / count for name, seen in Counter(one).items()} for one in (first, second))
    observed = sum(number for (one, other), number in pairs.items() if one == other) / count
    expected = sum(share * columns.get(name, 0.0) for name, share in rows.items())
    if expected >= 1:
        return Estimate(value=None, count=count)
    kappa = (observed - expected) / (1 - expected)
    error = sqrt(max(0.0, _variance(pairs, rows, columns, (observed, expected))) / count) / (1 - expected) ** 2
    return _within(kappa, Z * error, count)


def _variance(
    pairs: Counter[tuple[Hashable, Hashable]],
    rows: Mapping[Hashable, float],
    columns: Mapping[Hashable, float],
    shares: tuple[float, float],
) -> float:
    """Return what the squared error times count is, before it is divided by the fourth power of 1 - expected."""
    observed, expected = shares
    count, found = pairs.total(), 0.0
    for (one, other), number in pairs.items():
        weight = columns.get(one, 0.0) + rows.get(other, 0.0)
        alike = (1 - expected) if one == other else 0.0
        found += number / count * (alike - weight * (1 - observed)) ** 2
    return found - (observed * expected - 2 * expected + observed) ** 2


def fleiss_kappa(ratings: Sequence[Sequence[Hashable]]) -> Estimate:
    """Estimate the agreement of any number of raters beyond chance, from the categories that each sample was given.

    Samples of fewer than two ratings say nothing of it. Where each has as many, this is the kappa of Fleiss 1971; else
    a sample's agreement is over its own pairs, and categories are expected as often as all ratings name them. It has no
    interval: there is no form of it for samples of several numbers of ratings.
    """
    rated = [Counter(one) for one in ratings if len(one) > 1]
    if not rated:
        return NO_ESTIMATE
    observed = sum(map(_share_of_pairs, rated)) / len(rated)
    named = sum(rated, Counter[Hashable]())
    expected = sum((number / named.total()) ** 2 for number in named.values())
    value = None if expected >= 1 else (observed - expected) / (1 - expected)
    return Estimate(value=value, count=len(rated))


def _share_of_pairs(named: Counter[Hashable]) -> float:
    count = named.total()
    return sum(number * (number - 1) for number in named.values()) / (count * (count - 1))


def _within(value: float, distance: float, count: int) -> Estimate:
    if not distance:
        return Estimate(value=value, count=count)
    return Estimate(value=value, count=count, low=max(-1.0, value - distance), high=min(1.0, value + distance))
