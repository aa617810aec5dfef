"""Step accuracies by operation and their errors (equations 4 to 6), with intervals that resample whole samples."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.metrics.accuracy import Strata, mean_of_draws
from evaluation.metrics.estimates import NOTHING, Estimate
from evaluation.metrics.intervals import Floats, percentiles, resampled_means, wilson
from evaluation.ultravr.samples import Operation
from evaluation.ultravr.taxonomy import Domain

OPERATIONS: tuple[Operation, ...] = ("GND", "PER", "QUA", "INT", "INF")


@dataclass(frozen=True)
class OperationAccuracies:
    """Equation 4 for every domain and operation, with resamples of it: domains x RESAMPLES x operations.

    `steps` counts the judged steps by domain and operation; `values` is NaN where a domain has none of an operation.
    """

    domains: tuple[Domain, ...]
    values: Floats
    steps: Floats
    samples: Floats
    draws: Floats

    @classmethod
    def of(cls, right: Floats, asked: Floats, strata: Strata) -> "OperationAccuracies":
        """Compute them from correct and judged steps, samples x operations each, as means over repeats."""
        places = list(strata.domains.values())
        shape = (len(places), len(OPERATIONS))
        hits = np.array([right[at].sum(axis=0) for at in places]).reshape(shape)
        steps = np.array([asked[at].sum(axis=0) for at in places]).reshape(shape)
        samples = np.array([(asked[at] > 0).sum(axis=0) for at in places]).reshape(shape)
        drawn = resampled_means(np.hstack([right, asked]), places)
        count = len(OPERATIONS)
        with np.errstate(invalid="ignore", divide="ignore"):
            return cls(tuple(strata.domains), hits / steps, steps, samples, drawn[..., :count] / drawn[..., count:])

    def in_domain(self, domain: Domain) -> dict[Operation, Estimate]:
        """Equation 4, with Wilson's interval as if each sample were one trial: the steps of a sample go together."""
        row = self.domains.index(domain)
        found = {}
        for at, operation in enumerate(OPERATIONS):
            if self.steps[row, at] > 0:
                estimate = wilson(float(self.values[row, at]), int(self.samples[row, at]))
                found[operation] = estimate.model_copy(update={"count": round(float(self.steps[row, at]))})
        return found

    def macro(self) -> dict[Operation, Estimate]:
        """Equation 5, over the domains that contain the operation; operations that none contains are left out."""
        return {operation: self._macro(at, self._drawn(at)) for at, operation in self._present()}

    def errors(self) -> tuple[Estimate, dict[Operation, Estimate]]:
        """Equation 6: the mean step error over the operations that occur, and how far each lies from it."""
        present = self._present()
        if not present:
            return NOTHING, {}
        drawn = np.array([1 - self._drawn(at) for at, _ in present])
        values = np.array([1 - self._value(at) for at, _ in present])
        mean, counts = values.mean(), [self._count(at) for at, _ in present]
        deltas = {
            operation: _estimate(value - mean, count, draws - drawn.mean(axis=0))
            for (_, operation), value, count, draws in zip(present, values, counts, drawn, strict=True)
        }
        return _estimate(mean, sum(counts), drawn.mean(axis=0)), deltas

    def _present(self) -> list[tuple[int, Operation]]:
        return [(at, operation) for at, operation in enumerate(OPERATIONS) if self._count(at)]

    def _macro(self, at: int, draws: Floats) -> Estimate:
        return _estimate(self._value(at), self._count(at), draws)

    def _value(self, at: int) -> float:
        return float(np.nanmean(self.values[:, at]))

    def _count(self, at: int) -> int:
        return round(float(self.steps[:, at].sum()))

    def _drawn(self, at: int) -> Floats:
        return mean_of_draws(self.draws[self.steps[:, at] > 0, :, at])


def count_steps(operations: Mapping[int, Sequence[Operation]], strata: Strata) -> dict[str, dict[Operation, int]]:
    """Count annotated steps by domain and operation; `operations` holds those of each sample's steps by position."""
    counts: dict[str, dict[Operation, int]] = {}
    for domain, places in strata.domains.items():
        found = [operation for at in places.tolist() for operation in operations[at]]
        counts[domain] = {operation: found.count(operation) for operation in OPERATIONS if operation in found}
    return counts


def _estimate(value: float, count: int, draws: Floats) -> Estimate:
    low, high = percentiles(draws)
    return Estimate(value=float(value), count=count, low=low, high=high)
