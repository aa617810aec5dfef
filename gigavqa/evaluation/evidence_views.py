"""The local evidence of a data set's samples, as V3 shows it, whatever the benchmark."""

from collections.abc import Iterator
from typing import NamedTuple

from gigavqa.contract.jobs import Cell
from gigavqa.evaluation.capabilities import JobOptions
from gigavqa.evaluation.chats import SizeOf
from gigavqa.evaluation.datasets import Dataset
from gigavqa.evaluation.errors import EvidenceMissingError
from gigavqa.evaluation.expansion import ChatSettings, ask_sample
from gigavqa.evaluation.options import read_options
from gigavqa.evaluation.samples import Sample
from gigavqa.tiling.views import View

_LOCAL = "V3"


class EvidenceView(NamedTuple):
    """A view of a sample's local evidence, its image named below the data root."""

    sample: Sample
    view: View


def shows_evidence(dataset: Dataset) -> bool:
    """Return whether the benchmark shows local evidence at all."""
    return _LOCAL in dataset.benchmark.conditions


def evidence_views(dataset: Dataset, size_of: SizeOf) -> Iterator[EvidenceView]:
    """Yield the evidence of each sample that has some, in order, as a job with seed 0 shows it.

    Raises TilingError for an image that cannot be read, and what the benchmark raises for wrong annotations.
    """
    choices = JobOptions.of(dataset.benchmark)
    shown, options = read_options({}, choices.options)
    settings = ChatSettings(0, shown, choices.prepare(dataset.samples, options, 0))
    cell = Cell(protocol=next(iter(dataset.benchmark.protocols)), condition=_LOCAL)
    for sample in dataset.samples:
        try:
            chat = ask_sample(dataset, sample, cell, size_of, settings)
        except EvidenceMissingError:
            continue
        yield from (EvidenceView(sample, view) for view in chat.turns[0].views if view.region != "full")
