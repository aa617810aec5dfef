"""95 % intervals in closed form: Wilson's for one proportion, and their combination for averages and differences.

Everything that a report states beyond a single proportion is a weighted sum of proportions (a macro average, a gap, an
operation's distance from the mean error), so one rule gives every interval, and the same number has the same interval
wherever it stands. No interval has zero width, not even where all answers are right.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from gigavqa.evaluation.metrics.estimates import NO_ESTIMATE, Estimate

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

Z = 1.959963984540054
_UNSEEN = 1.0
"""Disagreement that correlations reckon with beyond what was seen, as a sum of squares in samples."""


def proportion(values: Floats, lowest: float = 0.0, highest: float = 1.0) -> Estimate:
    """Estimate a mean from one value a sample, with Wilson's interval; NaN marks a sample without a value.

    Values lie from `lowest` to `highest`, as penalized scores may, below 0. A value between the ends (the mean of a
    sample's repeats) varies less than a right-or-wrong one would, and the interval counts samples: it is conservative.
    """
    known = values[~np.isnan(values)]
    if known.size == 0:
        return NO_ESTIMATE
    span = highest - lowest
    share = wilson(float(np.clip((known.mean() - lowest) / span, 0.0, 1.0)), int(known.size))
    if share.low is None or share.high is None:
        return share
    ends = {"low": lowest + span * share.low, "high": lowest + span * share.high}
    return Estimate(value=float(known.mean()), count=share.count, **ends)


def wilson(rate: float, count: int) -> Estimate:
    """Wilson's score interval of a rate over `count` trials. Source: Wilson 1927."""
    spread = Z * Z / count
    centre = (rate + spread / 2) / (1 + spread)
    half = Z * sqrt(rate * (1 - rate) / count + spread / (4 * count)) / (1 + spread)
    # The centre less the half is a rounding error above 0 at a rate of 0, and so at 1.
    return Estimate(
        value=rate, count=count, low=min(rate, max(0.0, centre - half)), high=max(rate, min(1.0, centre + half))
    )


def estimate_share(part: int, whole: int) -> Estimate:
    """Return a share of so many, with Wilson's interval; nothing of nothing."""
    return wilson(part / whole, whole) if whole else NO_ESTIMATE


@dataclass(frozen=True)
class WeightedRates:
    """Rates over the same samples, to be weighted and added.

    `residuals` (samples x terms, in units of one trial) says how far each sample lies from each rate; a term rests on
    `trials` of them.
    """

    estimates: tuple[Estimate, ...]
    weights: Floats
    residuals: Floats
    trials: Floats

    @property
    def value(self) -> float:
        """The weighted sum."""
        return float(sum(w * (one.value or 0.0) for w, one in zip(self.weights, self.estimates, strict=True)))

    def squared_distance(self, side: int) -> float:
        """Squared distance from the sum to its lower (-1) or upper (1) end."""
        places = zip(self.estimates, self.weights, strict=True)
        ends = np.array([_distance(one, side if weight > 0 else -side) for one, weight in places])
        signed = self.weights * np.maximum(ends, self._standard_distances())
        return float(signed @ self._correlations() @ signed)

    def _standard_distances(self) -> Floats:
        squares = (self.residuals**2).sum(axis=0)
        distances: Floats = Z * np.sqrt(squares / (self.trials * np.maximum(self.trials - 1, 1)))
        return distances

    def _correlations(self) -> Floats:
        squares = self.residuals.T @ self.residuals
        scales = np.sqrt(np.diag(squares) + _UNSEEN)
        shared: Floats = squares / np.outer(scales, scales)
        np.fill_diagonal(shared, 1.0)
        return shared


def combine_rates(groups: Iterable[WeightedRates], count: int) -> Estimate:
    """Add weighted rates; those of one group go together as their residuals do, groups are independent.

    The distance from the sum to either end is that of its parts to theirs, added as standard errors are: the method of
    variance estimates recovery (Zou and Donner 2008), which for a difference of two paired proportions is method 10 of
    Newcombe 1998. A part's distance is Wilson's, which never is 0, or 1.96 standard errors where that is more: Wilson's
    interval is shorter for few samples, which only its own centre makes up for. Correlations are drawn towards 0 as if
    a little more disagreement had been seen than was: what agrees on every sample need not agree on all others. A
    single rate keeps its own interval.
    """
    groups = list(groups)
    if len(groups) == 1 and groups[0].weights.tolist() == [1.0]:
        return groups[0].estimates[0].model_copy(update={"count": count})
    value = sum(group.value for group in groups)
    below, above = (sqrt(max(0.0, sum(group.squared_distance(side) for group in groups))) for side in (-1, 1))
    least, most = _bounds(groups)
    low, high = max(least, value - below), min(most, value + above)
    return Estimate(value=value, count=count, low=min(low, value), high=max(high, value))


def _bounds(groups: Iterable[WeightedRates]) -> tuple[float, float]:
    """Return the least and the greatest that a weighted sum of rates can be."""
    weights = [float(weight) for group in groups for weight in group.weights]
    return sum(weight for weight in weights if weight < 0), sum(weight for weight in weights if weight > 0)


def _distance(estimate: Estimate, side: int) -> float:
    end, value = (estimate.low if side < 0 else estimate.high), estimate.value
    return abs(end - value) if end is not None and value is not None else 0.0
