"""Accuracies of equations 1 to 3: by category, by domain, macro over domains, and gaps between two cells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.ultravr.samples import Sample
from benchmarks.ultravr.taxonomy import CATEGORIES, DOMAINS, Category, Domain
from evaluation.metrics.estimates import NOTHING, Estimate
from evaluation.metrics.intervals import Floats, Indices, Terms, combined, proportion


@dataclass(frozen=True)
class Strata:
    """Positions of the scored samples of a data set, by domain and by category within it; only those that occur."""

    domains: Mapping[Domain, Indices]
    categories: Mapping[tuple[Domain, Category], Indices]

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> "Strata":
        """Sort out samples; those whose answer awaits an expert belong to no stratum."""
        places: dict[tuple[Domain, Category], list[int]] = {}
        for position, sample in enumerate(samples):
            if sample.scored:
                places.setdefault((sample.domain, sample.category), []).append(position)
        categories = {
            (domain, category): np.array(places[domain, category], dtype=np.intp)
            for domain in DOMAINS
            for category in CATEGORIES[domain]
            if (domain, category) in places
        }
        present = [domain for domain in DOMAINS if any(key[0] == domain for key in categories)]
        domains = {
            domain: np.concatenate([at for key, at in categories.items() if key[0] == domain]) for domain in present
        }
        return cls(domains, categories)


def domain_accuracies(correct: Floats, strata: Strata) -> dict[Domain, Estimate]:
    """Equation 1 for every domain; `correct` has one value in [0, 1] a sample, its mean over repeats, or NaN."""
    return {domain: proportion(correct[at]) for domain, at in strata.domains.items()}


def category_accuracies(correct: Floats, strata: Strata) -> dict[tuple[Domain, Category], Estimate]:
    """Equation 1 within every category."""
    return {key: proportion(correct[at]) for key, at in strata.categories.items()}


def macro_accuracy(correct: Floats, strata: Strata) -> float | None:
    """Equation 2 alone, over the domains that have a value; None where none has."""
    found = [score.value for score in domain_accuracies(correct, strata).values() if score.value is not None]
    return sum(found) / len(found) if found else None


@dataclass(frozen=True)
class Macros:
    """Macro accuracies (equation 2) of several cells over the same samples, and the gaps between them.

    `correct` holds one value a sample for every named cell, or NaN.
    """

    correct: Mapping[str, Floats]
    strata: Strata

    @property
    def names(self) -> tuple[str, ...]:
        """The cells' names, in order."""
        return tuple(self.correct)

    def accuracy(self, name: str) -> Estimate:
        """Equation 2 over the domains that have a value; nothing where none has."""
        return self._sum({name: 1.0})

    def gap(self, name: str, baseline: str) -> Estimate:
        """Macro accuracy of `name` less that of `baseline`, as equation 3, both over the samples that both have."""
        return self._sum({name: 1.0, baseline: -1.0})

    def _sum(self, weights: Mapping[str, float]) -> Estimate:
        """Weight and add the macro accuracies of cells, over the samples that all of them have."""
        columns = np.column_stack([self.correct[name] for name in weights])
        rows = [columns[at] for at in self.strata.domains.values()]
        known = [found for row in rows if (found := row[~np.isnan(row).any(axis=1)]).size]
        if not known:
            return NOTHING
        shares = np.array(list(weights.values())) / len(known)
        return combined((_terms(row, shares) for row in known), sum(map(len, known)))


def _terms(rows: Floats, weights: Floats) -> Terms:
    trials = np.full(len(weights), float(len(rows)))
    return Terms(tuple(map(proportion, rows.T)), weights, rows - rows.mean(axis=0), trials)
