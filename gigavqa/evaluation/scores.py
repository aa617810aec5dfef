"""Scores: what a report is made of, the score frame and what its rows are about."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.evaluation.metrics.intervals import Floats, Indices
from gigavqa.evaluation.sample_columns import SampleColumns
from gigavqa.evaluation.samples import Sample
from gigavqa.evaluation.score_frame import CellKey, DetailsT, ScoreFrame

SampleT = TypeVar("SampleT", bound=Sample)


@dataclass(frozen=True)
class Scores(Generic[SampleT, DetailsT]):
    """The scores of all replies over a data set, how often each sample was asked, and what models are called.

    `asked` counts by cell, in the order of samples. `judges` are names of the models that judged, of whom the first
    gave the scores; none where no model was asked. `columns` are of the samples, in their order.
    """

    samples: Sequence[SampleT]
    frame: ScoreFrame[DetailsT]
    asked: Mapping[CellKey, Indices]
    catalogue: Mapping[str, CatalogueEntry]
    columns: SampleColumns
    judges: tuple[str, ...] = ()
    duplicates: Mapping[CellKey, int] = field(default_factory=dict)
    """Further copies of replies, of which one counts."""
    unknown: Mapping[CellKey, Counter[str]] = field(default_factory=dict)
    """Replies to samples that the data set has not, by sample."""

    @cached_property
    def cells(self) -> tuple[CellKey, ...]:
        """All cells in the report's order: those that were asked, then those of which there are replies.

        Cells that differ in their rounds alone stand together, fewer rounds first.
        """
        found = dict.fromkeys([*self.asked, *self.frame.cells])
        places = list(dict.fromkeys(cell[:3] for cell in found))
        return tuple(sorted(found, key=lambda cell: (places.index(cell[:3]), cell.rounds)))

    @property
    def scored(self) -> npt.NDArray[np.bool_]:
        """Whether the answer of each sample is known."""
        return self.columns.scored

    @property
    def models(self) -> tuple[str, ...]:
        """The models in order."""
        return tuple(dict.fromkeys(cell.model for cell in self.cells))

    def models_asked(self, pairs: Iterable[tuple[str, str]]) -> list[str]:
        """Return the models that were asked any of the (protocol, condition) pairs."""
        wanted = list(pairs)
        return [model for model in self.models if any(CellKey(model, *pair) in self.cells for pair in wanted)]

    def cell(self, model: str, protocol: str, condition: str, rounds: int = 0) -> ScoreFrame[DetailsT]:
        """Return the scores of a cell; none where it was not asked."""
        return self.frame.of_cell(CellKey(model, protocol, condition, rounds))

    def means(self, model: str, protocol: str, condition: str, rounds: int = 0) -> Floats:
        """Return the mean score of each sample in a cell over its repeats, NaN where it has none."""
        return self.cell(model, protocol, condition, rounds).answered.means(len(self.samples))

    def title_of(self, model: str) -> str:
        """Return what tables call a model: the catalogue's title, else its own id."""
        return self.catalogue[model].title if model in self.catalogue else model


AnyScores = Scores[Any, Any]
"""Those of any benchmark."""
