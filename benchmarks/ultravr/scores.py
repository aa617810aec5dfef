"""The step answers of one cell: what Figure 2 and the profiles of steps are made of (equations 4 to 7)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np

from benchmarks.ultravr.judging import FailureStage, StepDetails, UltraVRJudge, find_first_error
from benchmarks.ultravr.metrics import OPERATIONS, OperationAccuracies
from benchmarks.ultravr.samples import Operation, UltraVRSample
from benchmarks.ultravr.step_judge import StepJudge
from evaluation.metrics.accuracy import Strata
from evaluation.metrics.estimates import NO_ESTIMATE, Estimate
from evaluation.metrics.intervals import Floats
from evaluation.tables import Column, Row, Unit
from evaluation.verdicts import CellKey, ScoreRow, Verdicts

FAILURE_STAGES: tuple[FailureStage, ...] = (*OPERATIONS, "Final", "NoErr")


@dataclass(frozen=True)
class StepScores:
    """The step answers of one cell."""

    key: CellKey
    verdicts: Verdicts
    strata: Strata

    @property
    def samples(self) -> Sequence[UltraVRSample]:
        """The samples of the data set."""
        return cast(Sequence[UltraVRSample], self.verdicts.samples)

    @cached_property
    def answered(self) -> list[ScoreRow]:
        """Verdicts on replies to scored samples that have steps."""
        found = self.verdicts.tally.cells[self.key].answered
        return [verdict for verdict in found if verdict.kept and self.samples[verdict.sample].scored]

    @cached_property
    def accuracies(self) -> OperationAccuracies:
        """Equation 4; a sample's steps are averaged over its repeats."""
        shape = (len(self.samples), len(OPERATIONS))
        right, asked, repeats = np.zeros(shape), np.zeros(shape), np.zeros((shape[0], 1))
        for verdict in self.answered:
            repeats[verdict.sample] += 1
            for mark, judge in self.judged(verdict):
                at = OPERATIONS.index(judge.operation)
                asked[verdict.sample, at] += 1
                right[verdict.sample, at] += mark.correct
        repeats = np.maximum(repeats, 1)
        return OperationAccuracies(right / repeats, asked / repeats, self.strata)

    def judge_of(self, position: int) -> UltraVRJudge:
        """Return the judge of the sample at a position."""
        return cast(UltraVRJudge, self.verdicts.tally.judges.of(position))

    def judged(self, verdict: ScoreRow) -> Iterator[tuple[StepDetails, StepJudge]]:
        """Pair the marks of a reply with the steps they belong to."""
        return zip(verdict.kept, self.judge_of(verdict.sample).steps, strict=True)

    def outcomes(self) -> dict[FailureStage, Floats]:
        """Share of each sample's trajectories that fail first at each outcome, NaN where it has none (equation 7)."""
        counts = np.zeros((len(self.samples), len(FAILURE_STAGES)))
        for verdict in self.answered:
            counts[verdict.sample, FAILURE_STAGES.index(self._first_error(verdict))] += 1
        with np.errstate(invalid="ignore"):
            shares = counts / counts.sum(axis=1, keepdims=True)
        return {outcome: shares[:, at] for at, outcome in enumerate(FAILURE_STAGES)}

    def _first_error(self, verdict: ScoreRow) -> FailureStage:
        pairs = ((judge.operation, mark.correct) for mark, judge in self.judged(verdict))
        return find_first_error(pairs, correct=verdict.outcome == "right")

    def unjudged(self) -> list[str]:
        """Steps whose ground truths do not fit their formats, as "sample:step"."""
        judges = [self.judge_of(at) for at in sorted({verdict.sample for verdict in self.answered})]
        return [f"{judge.sample.id}:{step_id}" for judge in judges for step_id in judge.unjudged]

    def row(self, values: Iterable[Estimate | int | str | None], **keys: str) -> Row:
        """Return a row on this cell; further keys are said in its title."""
        told = [self.verdicts.title_of(self.key.model), self.key.how]
        title = " · ".join([*told, *(value.upper() for value in keys.values())])
        return Row(title=title, keys={**self.key.keys, **keys}, values=tuple(values))


def cells_of_protocol(cells: Sequence[StepScores], protocol: str) -> list[StepScores]:
    """Return the cells of a protocol under V2, in the order of models."""
    found = {steps.key.model: steps for steps in cells if steps.key.how == f"{protocol} V2"}
    models = cells[0].verdicts.models
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
    return Row(title=steps.verdicts.title_of(steps.key.model), keys={"model": steps.key.model}, values=tuple(values))


def operation_values(found: Mapping[Operation, Estimate]) -> tuple[Estimate, ...]:
    """One value for each operation, in order."""
    return tuple(found.get(operation, NO_ESTIMATE) for operation in OPERATIONS)
