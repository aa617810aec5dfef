"""Step profiles and Figure 2: what went wrong between the question and the answer (equations 4 to 8)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np

from benchmarks.ultravr.judging import STEP_PROTOCOLS, Outcome, SampleJudge, StepMark, first_error
from benchmarks.ultravr.operation_metrics import OPERATIONS, OperationAccuracies, count_steps
from benchmarks.ultravr.operations import operation_of
from benchmarks.ultravr.samples import AnswerFormat, Operation, Sample
from benchmarks.ultravr.step_judge import LIST_FORMATS, StepJudge
from evaluation.answers.matching import IOU_THRESHOLD
from evaluation.metrics.accuracy import Contrast, Strata, group_accuracies
from evaluation.metrics.estimates import NOTHING, Estimate
from evaluation.metrics.intervals import Floats, wilson
from evaluation.tables import Caveat, Column, Contents, Figure, Group, Row, Table, Unit
from evaluation.verdicts import CellKey, Tallied, Verdicts

OUTCOMES: tuple[Outcome, ...] = (*OPERATIONS, "Final", "NoErr")
_NAMED = 3


@dataclass(frozen=True)
class _Steps:
    """The step answers of one cell."""

    key: CellKey
    verdicts: Verdicts
    strata: Strata

    @property
    def samples(self) -> Sequence[Sample]:
        """The samples of the data set."""
        return cast(Sequence[Sample], self.verdicts.samples)

    @cached_property
    def answered(self) -> list[Tallied]:
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

    def judge_of(self, position: int) -> SampleJudge:
        """The judge of the sample at a position."""
        return cast(SampleJudge, self.verdicts.tally.judges.of(position))

    def judged(self, verdict: Tallied) -> Iterator[tuple[StepMark, StepJudge]]:
        """Pair the marks of a reply with the steps they belong to."""
        return zip(verdict.kept, self.judge_of(verdict.sample).steps, strict=True)

    def outcomes(self) -> dict[Outcome, Floats]:
        """Share of each sample's trajectories that fail first at each outcome, NaN where it has none (equation 7)."""
        counts = np.zeros((len(self.samples), len(OUTCOMES)))
        for verdict in self.answered:
            counts[verdict.sample, OUTCOMES.index(self._first_error(verdict))] += 1
        with np.errstate(invalid="ignore"):
            shares = counts / counts.sum(axis=1, keepdims=True)
        return {outcome: shares[:, at] for at, outcome in enumerate(OUTCOMES)}

    def _first_error(self, verdict: Tallied) -> Outcome:
        pairs = ((judge.operation, mark.correct) for mark, judge in self.judged(verdict))
        return first_error(pairs, correct=verdict.outcome == "right")

    def unjudged(self) -> list[str]:
        """Steps whose ground truths do not fit their formats, as "sample:step"."""
        judges = [self.judge_of(at) for at in sorted({verdict.sample for verdict in self.answered})]
        return [f"{judge.sample.id}:{step_id}" for judge in judges for step_id in judge.unjudged]

    def row(self, values: Iterable[Estimate | int | str | None], **keys: str) -> Row:
        """A row on this cell; further keys are said in its title."""
        told = [self.verdicts.title_of(self.key.model), f"{self.key.protocol} {self.key.condition}"]
        title = " · ".join([*told, *(value.upper() for value in keys.values())])
        return Row(title=title, keys={**self.key._asdict(), **keys}, values=tuple(values))


def process_contents(verdicts: Verdicts, strata: Strata) -> Contents:
    """Profile every cell that has step answers, and fill the parts of Figure 2 from S2, S5 and S4 under V2."""
    asked = (key for key in verdicts.cells if key.protocol in STEP_PROTOCOLS and key in verdicts.tally.cells)
    cells = [steps for key in asked if (steps := _Steps(key, verdicts, strata)).answered]
    if not cells:
        return Contents()
    figure2 = [_figure2a(_of(cells, "S2")), _figure2b(_of(cells, "S5")), _figure2c(_of(cells, "S4"))]
    tables = (
        *figure2,
        _figure2c_domains(_of(cells, "S4")),
        _profiles(cells),
        _by_domain(cells),
        _by_format(cells),
        _annotated(verdicts, strata),
    )
    return Contents(
        tables=tables,
        figures=tuple(figure for table in figure2 for figure in _FIGURES if figure.table == table.name and table.rows),
        caveats=tuple(caveat for steps in cells for caveat in _caveats(steps)),
    )


def _of(cells: Sequence[_Steps], protocol: str) -> list[_Steps]:
    """The cells of a protocol under V2, in the order of models."""
    found = {steps.key.model: steps for steps in cells if steps.key[1:] == (protocol, "V2")}
    models = cells[0].verdicts.models
    return [found[model] for model in models if model in found]


_FIGURES = (
    Figure(
        name="figure2a",
        caption="Figure 2a. Relative operation difficulty under S2: step error less the model's mean.",
        form="differences",
        axis="Δ step error (points)",
        table="figure2a",
        columns=OPERATIONS,
    ),
    Figure(
        name="figure2b",
        caption="Figure 2b. Operation recoverability under S5: step accuracy behind ground-truth steps.",
        form="bars",
        axis="step accuracy (%)",
        table="figure2b",
        columns=OPERATIONS,
    ),
    Figure(
        name="figure2c",
        caption="Figure 2c. Where S4 trajectories fail first: share of trajectories in %.",
        form="shares",
        table="figure2c",
        columns=OUTCOMES,
    ),
)


def _figure2a(cells: Sequence[_Steps]) -> Table:
    """How far each operation's step error under S2 lies from their mean (equation 6)."""
    at = {"protocol": "S2", "condition": "V2"}
    mean = Column(key="mean_error", title="mean error", label="mean step error (%)", unit="loss", strong=True,
                  keys={**at, "metric": "mean_step_error"})  # fmt: skip
    rows = []
    for steps in cells:
        error, deltas = steps.accuracies.errors()
        values = (error, *(deltas.get(operation, NOTHING) for operation in OPERATIONS))
        rows.append(_model_row(steps, values))
    return Table(
        name="figure2a",
        title="Figure 2a: step error under S2",
        caption="By operation, in points from the model's mean; the mean in %.",
        groups=(
            Group(title="", columns=(mean,)),
            Group(title="Operation", columns=_columns(OPERATIONS, "step_error_delta", at, "difference")),
        ),
        rows=tuple(rows),
    )


def _figure2b(cells: Sequence[_Steps]) -> Table:
    """Step accuracy under S5 by operation (equation 5)."""
    columns = _columns(OPERATIONS, "step_accuracy", {"protocol": "S5", "condition": "V2"})
    return Table(
        name="figure2b",
        title="Figure 2b: step accuracy under S5",
        caption="By operation, in %.",
        groups=(Group(title="Operation", columns=columns),),
        rows=tuple(_model_row(steps, _operations(steps.accuracies.macro())) for steps in cells),
    )


def _figure2c(cells: Sequence[_Steps]) -> Table:
    """Shares of S4 trajectories by where they fail first (equation 8); counts trajectories."""
    columns = _columns(OUTCOMES, "first_error", {"protocol": "S4", "condition": "V2"})
    contrasts = [
        (steps, Contrast({str(name): share for name, share in steps.outcomes().items()}, steps.strata))
        for steps in cells
    ]
    return Table(
        name="figure2c",
        title="Figure 2c: where S4 fails first",
        caption="In % of trajectories.",
        groups=(Group(title="First error", columns=columns),),
        rows=tuple(
            _model_row(steps, [contrast.accuracy(outcome) for outcome in OUTCOMES]) for steps, contrast in contrasts
        ),
    )


def _figure2c_domains(cells: Sequence[_Steps]) -> Table:
    """The shares of Figure 2c within each domain."""
    rows: list[Row] = []
    for steps in cells:
        shares = {outcome: group_accuracies(share, steps.strata) for outcome, share in steps.outcomes().items()}
        known = [domain for domain in steps.strata.groups if shares["NoErr"][domain].value is not None]
        rows += [steps.row([shares[name][domain] for name in OUTCOMES], domain=domain) for domain in known]
    return Table(
        name="figure2c_domains",
        title="Figure 2c by domain",
        caption="Where S4 fails first, in % of trajectories.",
        groups=(Group(title="First error", columns=_columns(OUTCOMES, "first_error", {})),),
        rows=tuple(rows),
        detail=True,
    )


def _profiles(cells: Sequence[_Steps]) -> Table:
    """Step accuracy of every cell by operation (equation 5), and how step answers were read. Counts are of steps."""
    return Table(
        name="steps",
        title="Steps by operation",
        caption="Share of annotated steps answered rightly, in %, by the operation that a step asks for (equation 5). "
        f"Boxes count at an intersection over union of {IOU_THRESHOLD} or more, lists of boxes when a one-to-one "
        "matching covers both sides. n counts steps.",
        groups=(
            Group(title="Operation", columns=_columns(OPERATIONS, "step_accuracy", {})),
            Group(
                title="Reading",
                columns=(
                    Column(key="converted", title="converted boxes", unit="count",
                           note="step answers whose boxes were converted from the family's own convention"),
                    Column(key="statuses", title="parse statuses", unit="text"),
                ),
            ),
        ),
        rows=tuple(
            steps.row((*_operations(steps.accuracies.macro()), _converted(steps), _statuses(steps)))
            for steps in cells
        ),
    )  # fmt: skip


def _by_domain(cells: Sequence[_Steps]) -> Table:
    """Equation 4."""
    rows = (
        steps.row(_operations(found), domain=domain)
        for steps in cells
        for domain in steps.strata.groups
        if (found := steps.accuracies.in_domain(domain))
    )
    return Table(
        name="steps_domains",
        title="Steps by domain and operation",
        caption="Share of annotated steps answered rightly, in % (equation 4). n counts steps.",
        groups=(Group(title="Operation", columns=_columns(OPERATIONS, "step_accuracy", {})),),
        rows=tuple(rows),
        detail=True,
    )


def _by_format(cells: Sequence[_Steps]) -> Table:
    """Share of correct steps by answer format, not balanced, and mean F1 of the formats that hold lists."""
    marks = [(steps, _marks_by_format(steps)) for steps in cells]
    formats = sorted({name for _, found in marks for name in found})
    lists = [name for name in formats if name in LIST_FORMATS]

    def values(found: Mapping[AnswerFormat, Sequence[StepMark]]) -> Iterator[Estimate]:
        yield from (_rate([mark.correct for mark in found.get(name, ())]) for name in formats)
        yield from (_rate([mark.f1 for mark in found.get(name, ())]) for name in lists)

    return Table(
        name="steps_formats",
        title="Steps by answer format",
        caption="Share of steps answered rightly, in %, and mean F1 of lists. n counts steps.",
        groups=(
            Group(title="Accuracy", columns=_columns(formats, "format_accuracy", {})),
            Group(title="F1 of lists", columns=_columns(lists, "format_f1", {}, suffix=" F1")),
        ),
        rows=tuple(steps.row(values(found)) for steps, found in marks),
        detail=True,
    )


def _annotated(verdicts: Verdicts, strata: Strata) -> Table:
    """Annotated steps of the scored samples by domain and operation."""
    samples = enumerate(cast(Sequence[Sample], verdicts.samples))
    operations = {at: [operation_of(sample, step) for step in sample.steps] for at, sample in samples if sample.scored}
    return Table(
        name="annotated_steps",
        title="Annotated steps",
        caption="Steps of the data set by domain and operation.",
        groups=(Group(title="Operation", columns=_columns(OPERATIONS, "annotated_steps", {}, "count")),),
        rows=tuple(
            Row(title=domain.upper(), keys={"domain": domain}, values=tuple(map(found.get, OPERATIONS)))
            for domain, found in count_steps(operations, strata).items()
        ),
        detail=True,
    )


def _caveats(steps: _Steps) -> Iterator[Caveat]:
    if unjudged := steps.unjudged():
        others = " and others" if len(unjudged) > _NAMED else ""
        yield Caveat(
            scope="cell",
            text=f"{steps.key}: the ground truths of {', '.join(unjudged[:_NAMED])}{others} do not fit their formats; "
            "these steps are not judged",
        )
    if beyond := sum(mark.status == "out_of_range" for verdict in steps.answered for mark in verdict.kept):
        yield Caveat(
            scope="cell",
            text=f"{steps.key}: {beyond} answers give boxes beyond the image, in no form that the model is known to "
            "write",
        )


def _columns(
    names: Sequence[str], metric: str, keys: Mapping[str, str], unit: Unit = "rate", suffix: str = ""
) -> tuple[Column, ...]:
    return tuple(
        Column(
            key=name + suffix, title=name, label=name + suffix, unit=unit, keys={**keys, "metric": f"{metric}_{name}"}
        )
        for name in names
    )


def _model_row(steps: _Steps, values: Iterable[Estimate]) -> Row:
    return Row(title=steps.verdicts.title_of(steps.key.model), keys={"model": steps.key.model}, values=tuple(values))


def _operations(found: Mapping[Operation, Estimate]) -> tuple[Estimate, ...]:
    return tuple(found.get(operation, NOTHING) for operation in OPERATIONS)


def _converted(steps: _Steps) -> int:
    return sum(mark.converted for verdict in steps.answered for mark in verdict.kept)


def _statuses(steps: _Steps) -> str:
    counts = Counter(mark.status for verdict in steps.answered for mark in verdict.kept)
    return ", ".join(f"{status} {count}" for status, count in sorted(counts.items()))


def _marks_by_format(steps: _Steps) -> dict[AnswerFormat, list[StepMark]]:
    found: dict[AnswerFormat, list[StepMark]] = {}
    for verdict in steps.answered:
        for mark, judge in steps.judged(verdict):
            found.setdefault(judge.step.answer_format, []).append(mark)
    return found


def _rate(values: Sequence[float]) -> Estimate:
    return wilson(sum(values) / len(values), len(values)) if values else NOTHING
