"""95 % intervals: Wilson's for one proportion, a bootstrap stratified by domain for macro averages and their gaps."""

from collections.abc import Sequence
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.estimates import NOTHING, Estimate

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

Z = 1.959963984540054
RESAMPLES = 2000
SEED = 20260506


def proportion(values: Floats) -> Estimate:
    """Estimate a rate from one value in [0, 1] a sample, with Wilson's interval; NaN marks a sample without a value.

    With several repeats a sample's value is its mean, and the interval still counts samples, which is conservative.
    """
    known = values[~np.isnan(values)]
    if known.size == 0:
        return NOTHING
    return wilson(float(known.mean()), int(known.size))


def wilson(rate: float, count: int) -> Estimate:
    """Wilson's score interval of a rate over `count` trials. Source: Wilson 1927."""
    spread = Z * Z / count
    centre = (rate + spread / 2) / (1 + spread)
    half = Z * sqrt(rate * (1 - rate) / count + spread / (4 * count)) / (1 + spread)
    return Estimate(value=rate, count=count, low=max(0.0, centre - half), high=min(1.0, centre + half))


def resampled_means(values: Floats, strata: Sequence[Indices]) -> Floats:
    """Draw the means of several columns RESAMPLES times within each stratum, resampling its samples.

    `values` is samples x columns with NaN for no value; the same draw serves all columns, so that their differences
    are paired. Samples with equal rows are drawn together, by multinomial counts. Returns strata x RESAMPLES x columns.
    """
    draws = np.random.default_rng(SEED)
    means = [_resampled_means(values[stratum], draws) for stratum in strata]
    return np.stack(means) if means else np.empty((0, RESAMPLES, values.shape[1]))


def percentiles(draws: Floats) -> tuple[float | None, float | None]:
    """Return the 2.5th and 97.5th percentile of resampled values; None where there are none."""
    known = draws[~np.isnan(draws)]
    if known.size == 0:
        return None, None
    low, high = np.percentile(known, [2.5, 97.5])
    return float(low), float(high)


def _resampled_means(rows: Floats, draws: np.random.Generator) -> Floats:
    # NaN equals nothing, not even in np.unique; no value in [0, 1] is -1.
    distinct, counts = np.unique(np.nan_to_num(rows, nan=-1.0), axis=0, return_counts=True)
    picks = draws.multinomial(rows.shape[0], counts / rows.shape[0], size=RESAMPLES).astype(np.float64)
    present = distinct >= 0
    with np.errstate(invalid="ignore"):
        means: Floats = (picks @ np.where(present, distinct, 0.0)) / (picks @ present.astype(np.float64))
    return means
