"""Which requests a report should find responses for."""

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.plans import cells_of
from evaluation.tally import CellKey, Tally
from jobs.models import JobSpec


@dataclass(frozen=True)
class Expected:
    """The cells of a report in order, the positions of the samples asked, and how often each was asked."""

    cells: tuple[CellKey, ...]
    samples: Sequence[int]
    repeats: int

    @classmethod
    def of(cls, tally: Tally, spec: JobSpec | None) -> "Expected":
        """Take them from the job, or, without one, from the responses: all samples, once."""
        samples = tally.dataset.samples
        if spec is None:
            return cls(tuple(sorted(tally.cells)), range(len(samples)), 1)
        asked = [CellKey(model, cell.protocol, cell.condition) for model in spec.models for cell in cells_of(spec)]
        chosen = frozenset(spec.samples)
        positions = [at for at, sample in enumerate(samples) if not chosen or sample.id in chosen]
        return cls(tuple(dict.fromkeys([*asked, *sorted(tally.cells)])), positions, spec.repeats)

    @property
    def models(self) -> tuple[str, ...]:
        """The models in order."""
        return tuple(dict.fromkeys(cell.model for cell in self.cells))

    def of_model(self, model: str, protocol: str = "S0") -> tuple[CellKey, ...]:
        """The cells of one model under one protocol."""
        return tuple(cell for cell in self.cells if cell.model == model and cell.protocol == protocol)
