"""What tables sort samples by, in columns: found in one look at each sample, however many tables ask."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gigavqa.evaluation.metrics.intervals import Indices
from gigavqa.evaluation.samples import Sample

_NONE = -1


class GroupColumn(NamedTuple):
    """The group of each sample on one level: a number among the names, which stand as they occur; -1 is none."""

    names: Sequence[str]
    numbers: NDArray[np.int32]

    def of_each(self) -> list[str]:
        """Return the name of each sample's group, '' where it has none."""
        found: list[str] = np.array([*self.names, ""], dtype=object)[self.numbers].tolist()
        return found


@dataclass(frozen=True, eq=False)
class SampleColumns:
    """Whether the answer of each sample is known, and what it belongs to by level, levels in the order of samples."""

    scored: NDArray[np.bool_]
    groups: Mapping[str, GroupColumn]

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> "SampleColumns":
        """Look at each sample once."""
        scored = np.zeros(len(samples), dtype=np.bool_)
        found: dict[str, tuple[dict[str, int], NDArray[Any]]] = {}
        for position, sample in enumerate(samples):
            scored[position] = sample.scored
            for level, name in sample.groups.items():
                if level not in found:
                    found[level] = {}, np.full(len(samples), _NONE, dtype=np.int32)
                numbers, column = found[level]
                column[position] = numbers.setdefault(name, len(numbers))
        return cls(scored, {level: GroupColumn([*names], column) for level, (names, column) in found.items()})

    def group_of_each(self, level: str) -> list[str]:
        """Return the name of each sample's group on a level, '' where it has none."""
        return self.groups[level].of_each() if level in self.groups else [""] * len(self.scored)

    def members(self, level: str) -> dict[str, Indices]:
        """Return the positions of the scored samples of each group on a level that has any, by name in its order."""
        names, numbers = self.groups[level]
        scored = np.where(self.scored, numbers, _NONE)
        order = np.argsort(scored, kind="stable")
        ends = np.searchsorted(scored[order], np.arange(len(names) + 1)).tolist()
        found = {name: order[first:end] for name, first, end in zip(names, ends, ends[1:], strict=False)}
        return {name: found[name] for name in sorted(found) if len(found[name])}
