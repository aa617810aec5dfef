"""Settings of a paper: a benchmark that was published with a way of asking, and how it is asked otherwise here."""

from collections.abc import Mapping, Sequence
from typing import Literal

from gigavqa.evaluation.capabilities.capability import DefaultCapability
from gigavqa.evaluation.departures import Departure


class PaperSettings(DefaultCapability):
    """Asks as its paper did; reports tell where it does not."""

    budget: Literal["entry", "published"] = "entry"
    """Which visual budget the paper's models had: the catalogue entry's, or that of the checkpoint's own files."""
    decoding: Mapping[str, float | int] = {}
    """What its papers decode by, over a model's own decoding; a job's own sampling goes before."""
    departures: Sequence[Departure] = ()
    """In which it is asked otherwise than its paper prints; a report tells them."""
    paper_models: Sequence[str] = ()
    """Ids in the catalogue of the models that its paper asks, in the order of its main table."""
    paper_samples: int = 0
    """The number of samples that its paper asks; 0 where that is unknown."""
