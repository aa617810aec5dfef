"""Measures how often 95 % intervals hold the truth, beside a percentile bootstrap's, and how wide they are.

    python -m performance.intervals --draws 4000

Four domains are drawn again and again with the same true accuracy p in each. A gap sets two cells with that accuracy
side by side that agree on a sample, beyond chance, as often as `agreement` says; its truth is 0.
"""

import argparse
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from evaluation.metrics.accuracy import Contrast, Strata
from evaluation.metrics.estimates import Estimate
from evaluation.metrics.intervals import Floats

SIZES = {"demo": (12, 12, 9, 12), "1,000": (250, 250, 250, 250)}
"""Samples a domain: of the demo, and of a benchmark of a thousand samples."""
RATES = (0.0, 0.05, 0.5, 0.95, 1.0)
AGREEMENTS = (0.0, 0.8, 1.0)
_DOMAINS = ("cctv", "rs", "wsi", "ad")
_RESAMPLES = 500
_BOOTSTRAPPED = 8
"""Every so many draws are bootstrapped as well, which takes far longer."""


class IntervalCoverage(NamedTuple):
    """Share of intervals that hold the truth, and their mean width."""

    share: float
    width: float


def main() -> None:
    """Print one line for each size, rate and kind of number."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    arguments.add_argument("--draws", type=int, default=4000)
    chosen = arguments.parse_args()
    print("| samples | number | p | covered | mean width | bootstrap covered | its mean width |")
    print("|---|---|---|---|---|---|---|")
    for name, sizes in SIZES.items():
        for rate in RATES:
            _print(name, "macro", rate, *cover(sizes, rate, None, chosen.draws))
            for agreement in AGREEMENTS:
                _print(name, f"gap, agreement {agreement:g}", rate, *cover(sizes, rate, agreement, chosen.draws))


def _print(name: str, number: str, rate: float, ours: IntervalCoverage, bootstrap: IntervalCoverage) -> None:
    told = " | ".join(f"{100 * part:.1f} %" for part in (*ours, *bootstrap))
    print(f"| {name} | {number} | {rate:g} | {told} |")


def cover(
    sizes: Sequence[int], rate: float, agreement: float | None, num_draws: int
) -> tuple[IntervalCoverage, IntervalCoverage]:
    """Measure a macro average (without `agreement`) or a gap, by our intervals and by a percentile bootstrap's."""
    draws = np.random.default_rng(20261122)
    strata = _strata(sizes)
    truth = rate if agreement is None else 0.0
    ours, bootstrap = [], []
    for number in range(num_draws):
        first, second = _answers(draws, sum(sizes), rate, agreement)
        contrast = Contrast({"first": first, "second": second}, strata)
        ours.append(contrast.accuracy("first") if agreement is None else contrast.gap("first", "second"))
        if number % _BOOTSTRAPPED == 0:
            values = first if agreement is None else first - second
            bootstrap.append(_bootstrap(draws, values, strata))
    return _cover(ours, truth), _cover(bootstrap, truth)


def _strata(sizes: Sequence[int]) -> Strata:
    ends = np.cumsum(sizes)
    places = (np.arange(end - size, end) for size, end in zip(sizes, ends, strict=True))
    return Strata(dict(zip(_DOMAINS, places, strict=True)), {}, balanced=True)


def _answers(draws: np.random.Generator, count: int, rate: float, agreement: float | None) -> tuple[Floats, Floats]:
    first, other = (draws.random((2, count)) < rate).astype(np.float64)
    return first, np.where(draws.random(count) < (agreement or 0.0), first, other)


def _bootstrap(draws: np.random.Generator, values: Floats, strata: Strata) -> Estimate:
    means = [values[draws.choice(at, (_RESAMPLES, at.size))].mean(axis=1) for at in strata.groups.values()]
    low, high = np.percentile(np.mean(means, axis=0), [2.5, 97.5])
    return Estimate(value=float(values.mean()), count=values.size, low=float(low), high=float(high))


def _cover(estimates: Sequence[Estimate], truth: float) -> IntervalCoverage:
    ends: Callable[[str], Floats] = lambda end: np.array([getattr(one, end) for one in estimates])  # noqa: E731
    low, high = ends("low"), ends("high")
    # A truth at the very end counts as held, whatever is lost to rounding.
    held = (low <= truth + 1e-12) & (truth - 1e-12 <= high)
    return IntervalCoverage(float(held.mean()), float((high - low).mean()))


if __name__ == "__main__":
    main()
