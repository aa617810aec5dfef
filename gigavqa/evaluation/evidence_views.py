"""The local evidence of a data set's samples, as V3 shows it, whatever the benchmark."""

from collections.abc import Iterator, Sequence
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
    settings = plain_settings(dataset)
    for sample in dataset.samples:
        yield from (EvidenceView(sample, view) for view in sample_evidence(dataset, sample, size_of, settings))


def plain_settings(dataset: Dataset) -> ChatSettings:
    """Return how chats of a data set are made by a job with seed 0 and no option."""
    choices = JobOptions.of(dataset.benchmark)
    shown, options = read_options({}, choices.options)
    return ChatSettings(0, shown, dataset.prepare(options, 0))


def sample_evidence(dataset: Dataset, sample: Sample, size_of: SizeOf, settings: ChatSettings) -> Sequence[View]:
    """Return the views of one sample's evidence, none where it has none. Raises as `evidence_views` does."""
    cell = Cell(protocol=next(iter(dataset.benchmark.protocols)), condition=_LOCAL)
    try:
        chat = ask_sample(dataset, sample, cell, size_of, settings)
    except EvidenceMissingError:
        return ()
    return [view for view in chat.turns[0].views if view.region != "full"]
