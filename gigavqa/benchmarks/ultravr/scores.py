"""The step answers of one cell: what Figure 2 and the profiles of steps are made of (equations 4 to 7)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gigavqa.benchmarks.ultravr.judging import FailureStage, StepDetails, UltraVRDetails, find_first_error
from gigavqa.benchmarks.ultravr.metrics import OPERATIONS, OperationAccuracies
from gigavqa.benchmarks.ultravr.samples import Operation, UltraVRSample
from gigavqa.evaluation.metrics.accuracy import Strata
from gigavqa.evaluation.metrics.estimates import NO_ESTIMATE, Estimate
from gigavqa.evaluation.metrics.intervals import Floats
from gigavqa.evaluation.score_frame import CellKey, ScoreFrame
from gigavqa.evaluation.scores import Scores
from gigavqa.evaluation.tables import Column, Row, Unit

FAILURE_STAGES: tuple[FailureStage, ...] = (*OPERATIONS, "Final", "NoErr")


UltraVRScores = Scores[UltraVRSample, UltraVRDetails]
"""The scores of a data set of UltraVR."""


@dataclass(frozen=True)
class StepScores:
    """The step answers of one cell."""

    key: CellKey
    scores: UltraVRScores
    strata: Strata

    @cached_property
    def replies(self) -> ScoreFrame[UltraVRDetails]:
        """The replies to scored samples that have steps."""
        found = self.scores.frame.of_cell(self.key).answered.detailed
        return found.select(self.scores.scored[found.sample])

    @cached_property
    def steps(self) -> list[tuple[int, StepDetails]]:
        """Every step of the replies, with the position of its sample."""
        replies = zip(self.replies.sample.tolist(), self.replies.details, strict=True)
        return [(sample, step) for sample, details in replies for step in details.steps]

    @cached_property
    def accuracies(self) -> OperationAccuracies:
        """Equation 4; a sample's steps are averaged over its repeats."""
        shape = (len(self.scores.samples), len(OPERATIONS))
        right, asked = np.zeros(shape), np.zeros(shape)
        for sample, step in self.steps:
            at = OPERATIONS.index(step.operation)
            asked[sample, at] += 1
            right[sample, at] += step.correct
        repeats = np.maximum(np.bincount(self.replies.sample, minlength=shape[0]), 1)[:, None]
        return OperationAccuracies(right / repeats, asked / repeats, self.strata)

    def outcomes(self) -> dict[FailureStage, Floats]:
        """Share of each sample's trajectories that fail first at each outcome, NaN where it has none (equation 7)."""
        errors = self.replies.derive(lambda one: find_first_error(one.details, correct=one.outcome == "right"))
        number = len(self.scores.samples)
        return {
            outcome: self.replies.means(number, (errors == outcome).astype(np.float64)) for outcome in FAILURE_STAGES
        }

    def unjudged(self) -> list[str]:
        """Steps whose ground truths do not fit their formats, as "sample:step"."""
        replies = zip(self.replies.sample.tolist(), self.replies.details, strict=True)
        found = {sample: details.unjudged for sample, details in replies}
        return [f"{self.scores.samples[at].id}:{step_id}" for at in sorted(found) for step_id in found[at]]

    def row(self, values: Iterable[Estimate | int | str | None], **keys: str) -> Row:
        """Return a row on this cell; further keys are said in its title."""
        told = [self.scores.title_of(self.key.model), self.key.how]
        title = " · ".join([*told, *(value.upper() for value in keys.values())])
        return Row(title=title, keys={**self.key.keys, **keys}, values=tuple(values))


def cells_of_protocol(cells: Sequence[StepScores], protocol: str) -> list[StepScores]:
    """Return the cells of a protocol under V2, in the order of models."""
    found = {steps.key.model: steps for steps in cells if steps.key.how == f"{protocol} V2"}
    models = cells[0].scores.models
    return [found[model] for model in models if model in found]


def named_columns(
    names: Sequence[str], metric: str, keys: Mapping[str, str], unit: Unit = "rate", suffix: str = ""
) -> tuple[Column, ...]:
    """One column for each operation, outcome or format; machines call its numbers by `metric` and the name."""
    return tuple(
        Column(
            key=name + suffix, title=name, label=name + suffix, unit=unit, keys={**keys, "metric": f"{metric}_{name}"}
        )
        for name in names
    )


def model_row(steps: StepScores, values: Iterable[Estimate]) -> Row:
    """Return a row on the model of a cell."""
    return Row(title=steps.scores.title_of(steps.key.model), keys={"model": steps.key.model}, values=tuple(values))


def operation_values(found: Mapping[Operation, Estimate]) -> tuple[Estimate, ...]:
    """One value for each operation, in order."""
    return tuple(found.get(operation, NO_ESTIMATE) for operation in OPERATIONS)
