"""Which requests a report should find responses for."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evaluation.plans import cells_of
from evaluation.tally import CellKey, Tally
from jobs.models import JobSpec


@dataclass(frozen=True)
class Expected:
    """The cells of a report in order; of each, how often each sample was asked, by the sample's position."""

    cells: tuple[CellKey, ...]
    asked: Mapping[CellKey, Mapping[int, int]]

    @classmethod
    def of(cls, tally: Tally, specs: Sequence[JobSpec]) -> "Expected":
        """Take them from the jobs, or, without any, from the responses: all samples, as often as any was asked."""
        found = sorted(tally.cells)
        asked = _asked_by(tally, specs) if specs else {cell: _all_of(tally, cell) for cell in found}
        return cls(tuple(dict.fromkeys([*asked, *found])), asked)

    @property
    def models(self) -> tuple[str, ...]:
        """The models in order."""
        return tuple(dict.fromkeys(cell.model for cell in self.cells))

    def has(self, model: str, pairs: Iterable[tuple[str, str]]) -> bool:
        """Whether a model was asked any of the (protocol, condition) pairs."""
        return any(CellKey(model, *pair) in self.cells for pair in pairs)

    def of_cell(self, cell: CellKey) -> Mapping[int, int]:
        """How often each sample was asked in a cell; nothing for a cell that no job asked for."""
        return self.asked.get(cell, {})


def _asked_by(tally: Tally, specs: Iterable[JobSpec]) -> dict[CellKey, Counter[int]]:
    asked: dict[CellKey, Counter[int]] = {}
    for spec in specs:
        chosen = frozenset(spec.samples)
        samples = enumerate(tally.dataset.samples)
        times = {at: spec.repeats for at, sample in samples if not chosen or sample.id in chosen}
        for model in spec.models:
            for cell in cells_of(spec):
                asked.setdefault(CellKey(model, cell.protocol, cell.condition), Counter()).update(times)
    return asked


def _all_of(tally: Tally, cell: CellKey) -> Mapping[int, int]:
    replies = Counter(verdict.sample for verdict in tally.cells[cell].verdicts.values())
    return dict.fromkeys(range(len(tally.dataset.samples)), max(replies.values(), default=1))
