"""Step profiles and Figure 2: what went wrong between the question and the answer (equations 4 to 8)."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from benchmarks.ultravr.operations import operation_of
from benchmarks.ultravr.samples import AnswerFormat, Operation
from benchmarks.ultravr.steps.judge import LIST_FORMATS, StepJudge
from evaluation.judging import STEP_PROTOCOLS
from evaluation.metrics.accuracy import Macros, Strata, domain_accuracies
from evaluation.metrics.estimates import Estimate
from evaluation.metrics.intervals import Floats, wilson
from evaluation.metrics.operations import OPERATIONS, OperationAccuracies, count_steps
from evaluation.reporting.models import (
    Figure2,
    FirstErrors,
    Outcome,
    StepAccuracies,
    StepErrors,
    StepProfile,
)
from evaluation.reporting.tables import Sources
from evaluation.reporting.titles import title_of
from evaluation.tally import CellKey, StepMark, Tally, Verdict

OUTCOMES: tuple[Outcome, ...] = (*OPERATIONS, "Final", "NoErr")
_LISTED = 100


@dataclass(frozen=True)
class _Steps:
    """The step answers of one cell."""

    key: CellKey
    tally: Tally
    strata: Strata

    @cached_property
    def verdicts(self) -> list[Verdict]:
        """Verdicts on replies to scored samples that have steps."""
        samples = self.tally.dataset.samples
        return [
            verdict
            for verdict in self.tally.cells[self.key].answered
            if verdict.steps and samples[verdict.sample].scored
        ]

    @cached_property
    def accuracies(self) -> OperationAccuracies:
        """Equation 4; a sample's steps are averaged over its repeats."""
        shape = (len(self.tally.dataset.samples), len(OPERATIONS))
        right, asked, repeats = np.zeros(shape), np.zeros(shape), np.zeros((shape[0], 1))
        for verdict in self.verdicts:
            repeats[verdict.sample] += 1
            for mark, judge in self.judged(verdict):
                at = OPERATIONS.index(judge.operation)
                asked[verdict.sample, at] += 1
                right[verdict.sample, at] += mark.correct
        repeats = np.maximum(repeats, 1)
        return OperationAccuracies(right / repeats, asked / repeats, self.strata)

    def judged(self, verdict: Verdict) -> Iterator[tuple[StepMark, StepJudge]]:
        """Pair the marks of a reply with the steps they belong to."""
        return zip(verdict.steps, self.tally.judges.of(verdict.sample).steps, strict=True)

    def outcomes(self) -> dict[str, Floats]:
        """Share of each sample's trajectories that fail first at each outcome, NaN where it has none (equation 7)."""
        counts = np.zeros((len(self.tally.dataset.samples), len(OUTCOMES)))
        for verdict in self.verdicts:
            counts[verdict.sample, OUTCOMES.index(self._first_error(verdict))] += 1
        with np.errstate(invalid="ignore"):
            shares = counts / counts.sum(axis=1, keepdims=True)
        return {outcome: shares[:, at] for at, outcome in enumerate(OUTCOMES)}

    def _first_error(self, verdict: Verdict) -> Outcome:
        wrong: Operation | None = next(
            (judge.operation for mark, judge in self.judged(verdict) if not mark.correct), None
        )
        return wrong or ("NoErr" if verdict.correct else "Final")


StepCells = Mapping[CellKey, _Steps]


def collect_steps(sources: Sources) -> StepCells:
    """Take the step answers of every cell whose protocol asks steps and that has an answer."""
    tally, strata = sources.tally, sources.strata
    asked = (key for key in sources.expected.cells if key.protocol in STEP_PROTOCOLS and key in tally.cells)
    cells = ((key, _Steps(key, tally, strata)) for key in asked)
    return {key: steps for key, steps in cells if steps.verdicts}


def build_profiles(sources: Sources, cells: StepCells) -> tuple[StepProfile, ...]:
    """Profile every cell that has step answers."""
    return tuple(_profile(steps, title_of(key.model, sources.catalogue)) for key, steps in cells.items())


def count_operations(sources: Sources) -> dict[str, dict[Operation, int]]:
    """Count the annotated steps of the scored samples that have steps, by domain and operation."""
    samples = enumerate(sources.tally.dataset.samples)
    operations = {at: [operation_of(sample, step) for step in sample.steps] for at, sample in samples if sample.scored}
    return count_steps(operations, sources.strata)


def build_figure2(sources: Sources, cells: StepCells) -> Figure2:
    """Fill the parts of Figure 2 for every model with answers to S2, S5 and S4 under V2."""

    def rows(protocol: str) -> Iterator[tuple[str, str, _Steps]]:
        for model in sources.expected.models:
            if steps := cells.get(CellKey(model, protocol, "V2")):
                yield model, title_of(model, sources.catalogue), steps

    return Figure2(
        a=tuple(_errors(*row) for row in rows("S2")),
        b=tuple(
            StepAccuracies(model=model, title=title, operations=steps.accuracies.macro())
            for model, title, steps in rows("S5")
        ),
        c=tuple(_first_errors(*row) for row in rows("S4")),
    )


def _errors(model: str, title: str, steps: _Steps) -> StepErrors:
    mean, deltas = steps.accuracies.errors()
    return StepErrors(model=model, title=title, mean_error=mean, deltas=deltas)


def _first_errors(model: str, title: str, steps: _Steps) -> FirstErrors:
    shares = steps.outcomes()
    macros = Macros(shares, steps.strata)
    by_outcome = {outcome: domain_accuracies(share, steps.strata) for outcome, share in shares.items()}
    return FirstErrors(
        model=model,
        title=title,
        outcomes={outcome: macros.accuracy(outcome) for outcome in OUTCOMES},
        domains={
            domain: {outcome: by_outcome[outcome][domain] for outcome in OUTCOMES}
            for domain in steps.strata.domains
            if by_outcome["NoErr"][domain].value is not None
        },
    )


def _profile(steps: _Steps, title: str) -> StepProfile:
    pairs = [pair for verdict in steps.verdicts for pair in steps.judged(verdict)]
    by_format: dict[AnswerFormat, list[StepMark]] = {}
    for mark, judge in pairs:
        by_format.setdefault(judge.step.answer_format, []).append(mark)
    accuracies = steps.accuracies
    by_domain = {domain: accuracies.in_domain(domain) for domain in accuracies.strata.domains}
    return StepProfile(
        model=steps.key.model,
        title=title,
        protocol=steps.key.protocol,
        condition=steps.key.condition,
        operations=accuracies.macro(),
        domains={domain: found for domain, found in by_domain.items() if found},
        formats={name: _rate([mark.correct for mark in marks]) for name, marks in sorted(by_format.items())},
        f1={name: _rate([mark.f1 for mark in by_format[name]]) for name in sorted(LIST_FORMATS & by_format.keys())},
        statuses=dict(sorted(Counter(mark.status for mark, _ in pairs).items())),
        converted=sum(mark.converted for mark, _ in pairs),
        unjudged=tuple(_unjudged(steps))[:_LISTED],
    )


def _rate(values: Sequence[float]) -> Estimate:
    return wilson(sum(values) / len(values), len(values))


def _unjudged(steps: _Steps) -> Iterator[str]:
    for at in sorted({verdict.sample for verdict in steps.verdicts}):
        judge = steps.tally.judges.of(at)
        yield from (f"{judge.sample.id}:{step_id}" for step_id in judge.unjudged)
