"""Step accuracies by operation and their errors (equations 4 to 6), with intervals over whole samples."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gigavqa.benchmarks.ultravr.samples import Operation
from gigavqa.evaluation.metrics.accuracy import Strata
from gigavqa.evaluation.metrics.estimates import NO_ESTIMATE, Estimate
from gigavqa.evaluation.metrics.intervals import Floats, WeightedRates, combine_rates, wilson

OPERATIONS: tuple[Operation, ...] = ("GND", "PER", "QUA", "INT", "INF")


@dataclass(frozen=True)
class OperationAccuracies:
    """Equations 4 to 6 from correct and judged steps, samples x operations each, as means over repeats."""

    right: Floats
    asked: Floats
    strata: Strata

    def in_domain(self, domain: str) -> dict[Operation, Estimate]:
        """Equation 4, with Wilson's interval as if each sample were one trial: the steps of a sample go together."""
        right, asked = self._of(domain)
        return {
            operation: _accuracy(right[:, at], asked[:, at])
            for at, operation in enumerate(OPERATIONS)
            if asked[:, at].any()
        }

    def macro(self) -> dict[Operation, Estimate]:
        """Equation 5, over the domains that contain the operation; operations that none contains are left out."""
        return {operation: self._sum({operation: 1.0}) for operation in self._present()}

    def errors(self) -> tuple[Estimate, dict[Operation, Estimate]]:
        """Equation 6: the mean step error over the operations that occur, and how far each lies from it."""
        present = self._present()
        if not present:
            return NO_ESTIMATE, {}
        share = 1 / len(present)
        accuracies = {operation: accuracy.value or 0.0 for operation, accuracy in self.macro().items()}
        mean = sum(accuracies.values()) / len(present)
        deltas = {}
        for operation in present:
            distance = self._sum({other: share - (other == operation) for other in present})
            told = {"value": mean - accuracies[operation], "count": self._count(operation)}  # free of rounding errors
            deltas[operation] = distance.model_copy(update=told)
        return _complement(self._sum(dict.fromkeys(present, share))), deltas

    def _of(self, domain: str) -> tuple[Floats, Floats]:
        places = self.strata.groups[domain]
        return self.right[places], self.asked[places]

    def _present(self) -> list[Operation]:
        return [operation for operation in OPERATIONS if self._count(operation)]

    def _count(self, operation: Operation) -> int:
        at = OPERATIONS.index(operation)
        return round(float(sum(self._of(domain)[1][:, at].sum() for domain in self.strata.groups)))

    def _sum(self, weights: Mapping[Operation, float]) -> Estimate:
        """Weight and add equation 5 of several operations; the steps of a sample go together."""
        found = {domain: self.in_domain(domain) for domain in self.strata.groups}
        held = {operation: sum(operation in cells for cells in found.values()) for operation in weights}
        terms = []
        for domain, cells in found.items():
            names = [operation for operation in weights if operation in cells]
            if names:
                shares = np.array([weights[operation] / held[operation] for operation in names])
                estimates = tuple(cells[name] for name in names)
                terms.append(WeightedRates(estimates, shares, *self._residuals(domain, names)))
        return combine_rates(terms, sum(map(self._count, weights)))

    def _residuals(self, domain: str, names: Sequence[Operation]) -> tuple[Floats, Floats]:
        """Return how far each sample lies from the ratio of right steps, and how many samples have any."""
        places = [OPERATIONS.index(name) for name in names]
        right, asked = (part[:, places] for part in self._of(domain))
        steps, trials = asked.sum(axis=0), (asked > 0).sum(axis=0).astype(np.float64)
        return (right - asked * (right.sum(axis=0) / steps)) * (trials / steps), trials


def _accuracy(right: Floats, asked: Floats) -> Estimate:
    estimate = wilson(float(right.sum() / asked.sum()), int((asked > 0).sum()))
    return estimate.model_copy(update={"count": round(float(asked.sum()))})


def _complement(rate: Estimate) -> Estimate:
    low, high = (None if end is None else 1 - end for end in (rate.high, rate.low))
    return Estimate(value=1 - (rate.value or 0.0), count=rate.count, low=low, high=high)


def count_steps(operations: Mapping[int, Sequence[Operation]], strata: Strata) -> dict[str, dict[Operation, int]]:
    """Count annotated steps by domain and operation; `operations` holds those of each sample's steps by position."""
    counts: dict[str, dict[Operation, int]] = {}
    for domain, places in strata.groups.items():
        found = [operation for at in places.tolist() for operation in operations[at]]
        counts[domain] = {operation: found.count(operation) for operation in OPERATIONS if operation in found}
    return counts
