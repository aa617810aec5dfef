"""Accuracies of groups of samples: within each, over all, as a mean over groups, and differences between cells."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from gigavqa.evaluation.metrics.estimates import NO_ESTIMATE, Estimate
from gigavqa.evaluation.metrics.intervals import Floats, Indices, WeightedRates, combine_rates, proportion
from gigavqa.evaluation.sample_columns import SampleColumns
from gigavqa.evaluation.samples import Sample


@dataclass(frozen=True)
class Grouping:
    """The grouping of a benchmark's samples: the name of each level, of which there are one or two.

    `known` lists the groups in the order of tables, each with its subgroups; others follow as they come. `balanced`
    tells that the accuracy over all is the mean over the first level's groups, whatever their sizes.
    """

    levels: tuple[str, ...] = ("category",)
    known: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    balanced: bool = False

    def place(self, sample: Sample) -> tuple[str, str]:
        """Return the group and the subgroup of a sample; empty where it has none."""
        names = [sample.groups.get(level, "") for level in self.levels]
        return names[0] if names else "", names[1] if len(names) > 1 else ""


@dataclass(frozen=True)
class Strata:
    """Positions of the scored samples of a data set, by group and by subgroup within it; only those that occur."""

    groups: Mapping[str, Indices]
    subgroups: Mapping[tuple[str, str], Indices]
    balanced: bool = False

    @classmethod
    def of(cls, columns: SampleColumns, grouping: Grouping) -> "Strata":
        """Sort out samples by their columns; those whose answer is not known belong to no stratum."""
        places: dict[tuple[str, str], list[int]] = {
            (group, name): [] for group, names in grouping.known.items() for name in names or ("",)
        }
        levels = [columns.group_of_each(level) for level in grouping.levels[:2]]
        none = [""] * len(columns.scored)
        groups_of, names_of = (*levels, none, none)[:2]
        for position in np.flatnonzero(columns.scored).tolist():
            places.setdefault((groups_of[position], names_of[position]), []).append(position)
        found = {place: np.array(at, dtype=np.intp) for place, at in places.items() if at}
        groups = {
            group: np.concatenate([at for (of, _), at in found.items() if of == group])
            for group in dict.fromkeys(group for group, _ in found)
        }
        return cls(groups, {place: at for place, at in found.items() if place[1]}, grouping.balanced)

    @property
    def units(self) -> Mapping[str, Indices]:
        """The units over which the accuracy over all is averaged: the groups where they are balanced, else all samples
        at once.
        """
        if self.balanced or not self.groups:
            return self.groups
        return {"": np.concatenate(list(self.groups.values()))}


def group_accuracies(scores: Floats, strata: Strata) -> dict[str, Estimate]:
    """Accuracy of every group; `scores` has one value in [0, 1] a sample, its mean over repeats, or NaN."""
    return {group: proportion(scores[at]) for group, at in strata.groups.items()}


def subgroup_accuracies(scores: Floats, strata: Strata) -> dict[tuple[str, str], Estimate]:
    """Compute the accuracy within every subgroup."""
    return {place: proportion(scores[at]) for place, at in strata.subgroups.items()}


def overall_accuracy(scores: Floats, strata: Strata) -> float | None:
    """Accuracy over all without its interval, over the units that have a value; None where none has."""
    found = [score for at in strata.units.values() if (score := proportion(scores[at]).value) is not None]
    return sum(found) / len(found) if found else None


@dataclass(frozen=True)
class Contrast:
    """Accuracies of several cells over the same samples, and the differences between them.

    `scores` holds one value a sample for every named cell, or NaN.
    """

    scores: Mapping[str, Floats]
    strata: Strata

    @property
    def names(self) -> tuple[str, ...]:
        """The cells' names, in order."""
        return tuple(self.scores)

    def accuracy(self, name: str) -> Estimate:
        """Accuracy over all of one cell; nothing where no unit has a value."""
        return self._sum({name: 1.0})

    def gap(self, name: str, baseline: str) -> Estimate:
        """Accuracy of `name` less that of `baseline`, both over the samples that both have."""
        return self._sum({name: 1.0, baseline: -1.0})

    def _sum(self, weights: Mapping[str, float]) -> Estimate:
        """Weight and add the accuracies of cells, over the samples that all of them have."""
        columns = np.column_stack([self.scores[name] for name in weights])
        rows = [columns[at] for at in self.strata.units.values()]
        known = [found for row in rows if (found := row[~np.isnan(row).any(axis=1)]).size]
        if not known:
            return NO_ESTIMATE
        shares = np.array(list(weights.values())) / len(known)
        return combine_rates((_terms(row, shares) for row in known), sum(map(len, known)))


def _terms(rows: Floats, weights: Floats) -> WeightedRates:
    trials = np.full(len(weights), float(len(rows)))
    return WeightedRates(tuple(map(proportion, rows.T)), weights, rows - rows.mean(axis=0), trials)
