"""Accuracies of equations 1 to 3: by category, by domain, macro over domains, and gaps between two cells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.estimates import NOTHING, Estimate
from evaluation.metrics.intervals import Floats, Indices, percentiles, proportion, resampled_means
from evaluation.ultravr.samples import Sample
from evaluation.ultravr.taxonomy import CATEGORIES, DOMAINS, Category, Domain


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
    """Macro accuracies (equation 2) of several cells over the same samples, with paired resamples of them.

    Of every domain, `known` tells which of its samples have a value, samples x cells; `domains` holds equation 1 by
    cell; `draws` holds resamples of it: domains x RESAMPLES x cells.
    """

    names: tuple[str, ...]
    known: tuple[NDArray[np.bool_], ...]
    domains: tuple[tuple[Estimate, ...], ...]
    draws: Floats

    @classmethod
    def of(cls, cells: Mapping[str, Floats], strata: Strata) -> "Macros":
        """Compute them for every named cell; each has one value a sample, or NaN."""
        correct = np.column_stack(list(cells.values()))
        draws = resampled_means(correct, list(strata.domains.values()))
        accuracies = [domain_accuracies(values, strata) for values in cells.values()]
        domains = tuple(tuple(cell[domain] for cell in accuracies) for domain in strata.domains)
        known = tuple(~np.isnan(correct[at]) for at in strata.domains.values())
        return cls(tuple(cells), known, domains, draws)

    def accuracy(self, name: str) -> Estimate:
        """Equation 2 over the domains that have a value; nothing where none has."""
        at = self.names.index(name)
        present = [row for row, cells in enumerate(self.domains) if cells[at].value is not None]
        if not present:
            return NOTHING
        low, high = percentiles(mean_of_draws(self.draws[present, :, at]))
        count = sum(self.domains[row][at].count for row in present)
        return Estimate(value=self._mean_value(present, at), count=count, low=low, high=high)

    def gap(self, name: str, baseline: str) -> Estimate:
        """Macro accuracy of `name` less that of `baseline`, as equation 3, over the domains that both have.

        The count is of scored samples that both have.
        """
        at, base = self.names.index(name), self.names.index(baseline)
        present = [row for row, cells in enumerate(self.domains) if None not in (cells[at].value, cells[base].value)]
        if not present:
            return NOTHING
        low, high = percentiles(mean_of_draws(self.draws[present, :, at]) - mean_of_draws(self.draws[present, :, base]))
        both = sum(int(self.known[row][:, [at, base]].all(axis=1).sum()) for row in present)
        value = self._mean_value(present, at) - self._mean_value(present, base)
        return Estimate(value=value, count=both, low=low, high=high)

    def _mean_value(self, rows: Sequence[int], at: int) -> float:
        return sum(self.domains[row][at].value or 0.0 for row in rows) / len(rows)


def mean_of_draws(draws: Floats) -> Floats:
    """Average resamples over domains, leaving out those that a resample left empty."""
    present = ~np.isnan(draws)
    with np.errstate(invalid="ignore"):
        mean: Floats = np.where(present, draws, 0.0).sum(axis=0) / present.sum(axis=0)
    return mean
