"""Rules of which samples can be asked in which cells: a benchmark of which not every sample fits every cell."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic

from gigavqa.contract.jobs import Cell
from gigavqa.contract.requests import Condition
from gigavqa.evaluation.capabilities.capability import DefaultCapability, OfferSampleT
from gigavqa.evaluation.chats import Scene
from gigavqa.evaluation.samples import Sample


class CellRules(DefaultCapability, Generic[OfferSampleT]):
    """Says what is asked of whom: by default every sample in every cell, without rounds."""

    loops: Sequence[str] = ()
    """Protocols whose chats have a loop; cells of theirs say how many rounds, and no others do."""

    @property
    def applies_always(self) -> bool:
        """Whether every sample is asked in every cell, so that none need be looked at."""
        return type(self).applies is CellRules.applies

    def applies(self, sample: OfferSampleT, cell: Cell) -> bool:
        """Return whether a sample is asked in a cell at all; what does not apply is neither asked nor expected."""
        return True

    def validate(self, samples: Sequence[OfferSampleT], cells: Sequence[Cell]) -> None:
        """Refuse what cannot be asked: raises EvidenceMissingError or AnnotationMissingError naming every sample."""

    def warnings(self, sample: OfferSampleT, scene: Scene) -> Iterator[str]:
        """Say what keeps a sample from being shown under some condition; one sentence each."""
        return iter(())


def explain_unfit(
    rules: CellRules[Any], sample: Sample, protocol: str, condition: Condition, protocols: Iterable[str]
) -> str:
    """Say why a sample is not asked so, and by which of the protocols it is; '' where it is asked."""
    if rules.applies(sample, Cell(protocol=protocol, condition=condition)):
        return ""
    cells = [Cell(protocol=name, condition=condition) for name in protocols]
    fitting = [cell.protocol for cell in cells if rules.applies(sample, cell)]
    others = ", ".join(fitting) or "none does"
    return f"{protocol} does not apply to sample '{sample.id}'; those that do: {others}"
