"""The metrics of ATOM-Bench (section 4, equations 1 to 4) as functions of sums over pictures, with their intervals.

All are fractions; those that the paper penalizes may lie below 0. A metric is taken within each repeat, then averaged
over those that have it; Avg and ECS are of these averages, as of the columns of their row.
Intervals draw whole pictures with all their questions; those of raw shares are nowhere shorter than Wilson's.
"""

from collections.abc import Callable, Sequence
from math import sqrt
from statistics import fmean

import numpy as np

from gigavqa.benchmarks.atombench.sums import DEFAULT_RULE, SUPPORT_THRESHOLD, THRESHOLDS, ImageSums
from gigavqa.evaluation.metrics.clusters import ClusterMetric, bootstrap_cluster_means, bootstrap_cluster_share
from gigavqa.evaluation.metrics.estimates import NO_ESTIMATE, Estimate
from gigavqa.evaluation.metrics.intervals import Floats

SumFormula = Callable[[ImageSums], Floats]
"""Takes sums by name and gives a value for each draw, NaN where there is none."""
METRICS_VERSION = "atombench-metrics/2"
"""Version of what is counted.

2 takes Avg and ECS of the row's columns, golden evidence within each repeat in every row, RRS's number of pairs from
those that have a difficulty, and intervals of raw shares over images.
"""
FEWEST_MODELS = 3
"""Models that a correlation needs."""


def _ratio_of_sums(numerator: Floats, denominator: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        quotient: Floats = np.where(denominator > 0, numerator / denominator, np.nan)
    return quotient


def clue_accuracy(sums: ImageSums) -> Floats:
    """CLQ_Acc: mean points of clue questions."""
    return _ratio_of_sums(sums["clue points"], sums["clue"])


def conclusion_accuracy(sums: ImageSums) -> Floats:
    """CoLQ_Acc: mean points of conclusion questions asked directly."""
    return _ratio_of_sums(sums["conclusion points"], sums["conclusion"])


def reasoning_consistency(rule: str = DEFAULT_RULE, threshold: int = SUPPORT_THRESHOLD) -> SumFormula:
    """RCS: share of instances whose conclusion is right with more than `threshold` percent of the clues."""
    return lambda sums: _ratio_of_sums(sums[f"{rule} above {threshold}"], sums[rule])


def hallucination(rule: str = DEFAULT_RULE) -> SumFormula:
    """HI: of the instances whose conclusion is right, the share without enough right clues."""
    return lambda sums: _ratio_of_sums(
        sums[f"{rule} right"] - sums[f"{rule} above {SUPPORT_THRESHOLD}"], sums[f"{rule} right"]
    )


def conclusion_rate(rule: str = DEFAULT_RULE) -> SumFormula:
    """P: share of instances whose conclusion is right."""
    return lambda sums: _ratio_of_sums(sums[f"{rule} right"], sums[rule])


def resistance(sums: ImageSums) -> Floats:
    """RRS: weighed by difficulty, pairs that end right less those that end wrong, over all."""
    return 2 * _ratio_of_sums(sums["weight right"], sums["weight"]) - 1


def correction(sums: ImageSums) -> Floats:
    """Error-correction rate: of the first answers that were not right, those that golden evidence made right."""
    return _ratio_of_sums(sums["corrected"], sums["corrected"] + sums["rigid"])


def average_metric(sums: ImageSums) -> Floats:
    """Compute Avg of one repeat."""
    return combine_average(*(part(sums) for part in AVERAGED))


AVERAGED: tuple[SumFormula, ...] = (
    clue_accuracy,
    conclusion_accuracy,
    reasoning_consistency(),
    hallucination(),
    resistance,
)
"""What Avg is taken of."""


def combine_average(*parts: Floats) -> Floats:
    """Avg of CLQ_Acc, CoLQ_Acc, RCS, HI and RRS: HI counts as 1 - HI. Not stated; all printed rows follow it."""
    clues, conclusions, consistency, hallucinated, resists = parts
    return (clues + conclusions + consistency + (1 - hallucinated) + resists) / 5


def support_area(sums: ImageSums) -> Floats:
    """Area under the support curve, by trapezoids over thresholds from 0 to 1."""
    curve = np.stack([reasoning_consistency(threshold=at)(sums) for at in THRESHOLDS])
    widths = np.diff(np.array(THRESHOLDS) / 100)
    area: Floats = widths @ (curve[1:] + curve[:-1]) / 2
    return area


class _TrackedSums(dict[str, Floats]):
    """Sums that note which of them a formula takes, so that no others are drawn."""

    def __init__(self, sums: ImageSums) -> None:
        super().__init__(sums)
        self.taken: dict[str, None] = {}

    def __getitem__(self, name: str) -> Floats:
        self.taken[name] = None
        return super().__getitem__(name)


def estimate_metric(tables: Sequence[ImageSums], formula: SumFormula, *counted: str) -> Estimate:
    """Estimate a metric from the sums of every repeat; the number rests on what `counted` sums, in one repeat."""
    return estimate_of_means(tables, (formula,), lambda mean: mean, *counted)


def estimate_of_means(
    tables: Sequence[ImageSums], formulas: Sequence[SumFormula], joined: Callable[..., Floats], *counted: str
) -> Estimate:
    """Estimate what is `joined` of metrics that are each averaged over the repeats, as the columns of a row are."""
    if not tables:
        return NO_ESTIMATE
    noted = _TrackedSums(tables[0])
    for formula in formulas:
        formula(noted)
    names = tuple(noted.taken)
    matrices = [np.column_stack([table[name] for name in names]) for table in tables]

    def of_columns(formula: SumFormula) -> ClusterMetric:
        return lambda sums: formula(dict(zip(names, sums.T, strict=True)))

    return bootstrap_cluster_means(matrices, [*map(of_columns, formulas)], joined, _count(tables, counted))


def estimate_share(tables: Sequence[ImageSums], part: str, whole: str, *, wrong: bool = False) -> Estimate:
    """Estimate a share of right answers, or of those that are not; `part` and `whole` name sums."""
    if not tables:
        return NO_ESTIMATE
    parts = (table[whole] - table[part] if wrong else table[part] for table in tables)
    sums = [np.column_stack([found, table[whole]]) for found, table in zip(parts, tables, strict=True)]
    return bootstrap_cluster_share(sums, _count(tables, (whole,)))


def _count(tables: Sequence[ImageSums], counted: Sequence[str]) -> int:
    return max(int(sum(table[name].sum() for name in counted)) for table in tables)


def values_by_repeat(tables: Sequence[ImageSums], formula: SumFormula) -> list[float | None]:
    """Return a metric within each repeat; None where it has no value."""
    values = (formula({name: sums.sum(keepdims=True) for name, sums in table.items()})[0] for table in tables)
    return [None if np.isnan(value) else float(value) for value in values]


def pearson(first: Sequence[float | None], second: Sequence[float | None]) -> Estimate:
    """Correlate two numbers of models over those that have both; nothing for fewer than three. Source: Pearson 1895."""
    both = [(x, y) for x, y in zip(first, second, strict=True) if x is not None and y is not None]
    if len(both) < FEWEST_MODELS:
        return NO_ESTIMATE
    mean_x, mean_y = fmean(x for x, _ in both), fmean(y for _, y in both)
    shared = sum((x - mean_x) * (y - mean_y) for x, y in both)
    scale = sqrt(sum((x - mean_x) ** 2 for x, _ in both) * sum((y - mean_y) ** 2 for _, y in both))
    return Estimate(value=shared / scale, count=len(both)) if scale else NO_ESTIMATE
