"""95 % intervals where samples come in clusters that share a picture or a document: a seeded bootstrap of clusters.

Answers about one document are not independent, so whole clusters are drawn. A metric is a function of sums over
clusters, so that a draw is one row of a matrix product, and all metrics and cells over the same clusters see the same
draws: a difference between two of them is paired.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from gigavqa.evaluation.metrics.estimates import NO_ESTIMATE, Estimate
from gigavqa.evaluation.metrics.intervals import Floats, wilson

_DRAWS = 2000  # decision 0014
_SEED = 7
_ENDS = (2.5, 97.5)

ClusterMetric = Callable[[Floats], Floats]
"""Takes sums over clusters (draws x columns) and gives a value a draw, NaN where there is none."""


def bootstrap_clusters(repeats: Sequence[Floats], metric: ClusterMetric, count: int) -> Estimate:
    """Estimate a metric of sums by cluster (clusters x columns), one matrix for each repeat of the same clusters.

    The value is the mean over the repeats that have one, and so in every draw. `count` is what the number rests on. The
    ends are percentiles of the draws that have a value; there are none where all draws agree, which would be an
    interval without width. Source: Efron and Tibshirani 1993, chapters 13 and 17.
    """
    return bootstrap_cluster_means(repeats, (metric,), lambda mean: mean, count)


def bootstrap_cluster_means(
    repeats: Sequence[Floats], metrics: Sequence[ClusterMetric], joined: Callable[..., Floats], count: int
) -> Estimate:
    """Estimate what is `joined` of metrics, each of which is averaged by itself over the repeats that have it."""
    if not repeats:
        return NO_ESTIMATE
    drawn = [_weights(len(sums)) @ sums for sums in repeats]
    whole = [sums.sum(axis=0, keepdims=True) for sums in repeats]
    value, draws = (joined(*(_mean_of([metric(one) for one in sums]) for metric in metrics)) for sums in (whole, drawn))
    value = value[0]
    if np.isnan(value):
        return NO_ESTIMATE
    low, high = _ends(draws)
    # Where the metric is skewed its draws may all lie on one side of it.
    ends = {} if low == high else {"low": min(low, float(value)), "high": max(high, float(value))}
    return Estimate(value=float(value), count=count, **ends)


def bootstrap_cluster_share(repeats: Sequence[Floats], count: int) -> Estimate:
    """Estimate the share of sums by cluster, the first column over the second, that rests on `count` right or wrong.

    The interval is that of `bootstrap_clusters`, and nowhere shorter than Wilson's, which takes what shares a
    cluster for independent: draws of few clusters, or of such that are all right, say too much.
    """
    drawn = bootstrap_clusters(repeats, ratio(0, 1), count)
    if drawn.value is None:
        return NO_ESTIMATE
    alone = wilson(min(1.0, max(0.0, drawn.value)), count)
    ends = ((drawn.low, alone.low), (drawn.high, alone.high))
    lows, highs = ([end for end in both if end is not None] for both in ends)
    return drawn.model_copy(update={"low": min(lows), "high": max(highs)})


def _mean_of(values: Sequence[Floats]) -> Floats:
    stacked = np.stack(values)
    known = ~np.isnan(stacked)
    with np.errstate(invalid="ignore"):
        mean: Floats = np.where(known, stacked, 0.0).sum(axis=0) / known.sum(axis=0)
    return mean


def _ends(draws: Floats) -> tuple[float, float]:
    known = draws[~np.isnan(draws)]
    low, high = np.percentile(known, _ENDS) if known.size else (0.0, 0.0)
    return float(low), float(high)


@lru_cache(maxsize=8)
def _weights(num_clusters: int) -> Floats:
    """Return how often each cluster is drawn (draws x clusters): the same for everything over as many clusters."""
    generator = np.random.default_rng(_SEED)
    weights: Floats = generator.multinomial(num_clusters, np.full(num_clusters, 1 / num_clusters), _DRAWS).astype(float)
    return weights


def ratio(numerator: int, denominator: int) -> ClusterMetric:
    """Return the metric that divides one column's sum by another's; without a denominator there is no value."""

    def divided(sums: Floats) -> Floats:
        below = sums[:, denominator]
        with np.errstate(invalid="ignore", divide="ignore"):
            quotient: Floats = np.where(below > 0, sums[:, numerator] / below, np.nan)
        return quotient

    return divided
