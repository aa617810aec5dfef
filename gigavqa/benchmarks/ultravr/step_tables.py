"""Step profiles, beside Figure 2: what went wrong between the question and the answer (equations 4 to 8)."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import fsum

from gigavqa.answers.matching import IOU_THRESHOLD
from gigavqa.benchmarks.ultravr.figures import figure2_contents
from gigavqa.benchmarks.ultravr.judging import STEP_PROTOCOLS, StepDetails
from gigavqa.benchmarks.ultravr.metrics import OPERATIONS, count_steps
from gigavqa.benchmarks.ultravr.operations import operation_of
from gigavqa.benchmarks.ultravr.samples import AnswerFormat
from gigavqa.benchmarks.ultravr.scores import StepScores, UltraVRScores, named_columns, operation_values
from gigavqa.benchmarks.ultravr.step_judge import LIST_FORMATS
from gigavqa.evaluation.metrics.accuracy import Strata
from gigavqa.evaluation.metrics.estimates import NO_ESTIMATE, Estimate
from gigavqa.evaluation.metrics.intervals import wilson
from gigavqa.evaluation.tables import Caveat, Column, ColumnGroup, Contents, Row, Table

_NAMED = 3


def step_contents(scores: UltraVRScores, strata: Strata) -> Contents:
    """Profile every cell that has step answers, and fill the parts of Figure 2 from S2, S5 and S4 under V2."""
    asked = (key for key in scores.cells if key.protocol in STEP_PROTOCOLS)
    cells = [steps for key in asked if len((steps := StepScores(key, scores, strata)).replies)]
    if not cells:
        return Contents()
    drawn = figure2_contents(cells)
    tables = (
        *drawn.tables,
        _profile_table(cells),
        _domain_table(cells),
        _format_table(cells),
        _annotation_table(scores, strata),
    )
    return Contents(
        tables=tables,
        figures=drawn.figures,
        caveats=tuple(caveat for steps in cells for caveat in _step_caveats(steps)),
    )


def _profile_table(cells: Sequence[StepScores]) -> Table:
    """Step accuracy of every cell by operation (equation 5), and how step answers were read. Counts are of steps."""
    return Table(
        name="steps",
        title="Steps by operation",
        caption="Share of annotated steps answered rightly, in %, by the operation that a step asks for (equation 5). "
        f"Boxes count at an intersection over union of {IOU_THRESHOLD} or more, lists of boxes when a one-to-one "
        "matching covers both sides. n counts steps.",
        groups=(
            ColumnGroup(title="Operation", columns=named_columns(OPERATIONS, "step_accuracy", {})),
            ColumnGroup(
                title="Reading",
                columns=(
                    Column(key="converted", title="converted boxes", unit="count",
                           note="step answers whose boxes were converted from the family's own convention"),
                    Column(key="statuses", title="parse statuses", unit="text"),
                ),
            ),
        ),
        rows=tuple(
            steps.row((*operation_values(steps.accuracies.macro()), _count_converted(steps), _statuses(steps)))
            for steps in cells
        ),
    )  # fmt: skip


def _domain_table(cells: Sequence[StepScores]) -> Table:
    """Build the table of equation 4 by domain."""
    rows = (
        steps.row(operation_values(found), domain=domain)
        for steps in cells
        for domain in steps.strata.groups
        if (found := steps.accuracies.in_domain(domain))
    )
    return Table(
        name="steps_domains",
        title="Steps by domain and operation",
        caption="Share of annotated steps answered rightly, in % (equation 4). n counts steps.",
        groups=(ColumnGroup(title="Operation", columns=named_columns(OPERATIONS, "step_accuracy", {})),),
        rows=tuple(rows),
        detail=True,
    )


def _format_table(cells: Sequence[StepScores]) -> Table:
    """Share of correct steps by answer format, not balanced, and mean F1 of the formats that hold lists."""
    marks = [(steps, _marks_by_format(steps)) for steps in cells]
    formats = sorted({name for _, found in marks for name in found})
    lists = [name for name in formats if name in LIST_FORMATS]

    def values(found: Mapping[AnswerFormat, Sequence[StepDetails]]) -> Iterator[Estimate]:
        yield from (_mean_rate([mark.correct for mark in found.get(name, ())]) for name in formats)
        yield from (_mean_rate([mark.f1 for mark in found.get(name, ())]) for name in lists)

    return Table(
        name="steps_formats",
        title="Steps by answer format",
        caption="Share of steps answered rightly, in %, and mean F1 of lists. n counts steps.",
        groups=(
            ColumnGroup(title="Accuracy", columns=named_columns(formats, "format_accuracy", {})),
            ColumnGroup(title="F1 of lists", columns=named_columns(lists, "format_f1", {}, suffix=" F1")),
        ),
        rows=tuple(steps.row(values(found)) for steps, found in marks),
        detail=True,
    )


def _annotation_table(scores: UltraVRScores, strata: Strata) -> Table:
    """Annotated steps of the scored samples by domain and operation."""
    operations = {
        at: [operation_of(sample, step) for step in sample.steps]
        for at, sample in enumerate(scores.samples)
        if sample.scored
    }
    return Table(
        name="annotated_steps",
        title="Annotated steps",
        caption="Steps of the questions that have an answer, by domain and operation.",
        groups=(ColumnGroup(title="Operation", columns=named_columns(OPERATIONS, "annotated_steps", {}, "count")),),
        rows=tuple(
            Row(title=domain.upper(), keys={"domain": domain}, values=tuple(map(found.get, OPERATIONS)))
            for domain, found in count_steps(operations, strata).items()
        ),
        detail=True,
    )


def _step_caveats(steps: StepScores) -> Iterator[Caveat]:
    if unjudged := steps.unjudged():
        others = " and others" if len(unjudged) > _NAMED else ""
        yield Caveat(
            scope="cell",
            text=f"{steps.key}: the ground truths of {', '.join(unjudged[:_NAMED])}{others} do not fit their formats; "
            "these steps are not judged",
        )
    if beyond := sum(step.status == "out_of_range" for _, step in steps.steps):
        yield Caveat(
            scope="cell",
            text=f"{steps.key}: {beyond} answers give boxes beyond the image, in no form that the model is known to "
            "write",
        )


def _count_converted(steps: StepScores) -> int:
    return sum(step.converted for _, step in steps.steps)


def _statuses(steps: StepScores) -> str:
    counts = Counter(step.status for _, step in steps.steps)
    return ", ".join(f"{status} {count}" for status, count in sorted(counts.items()))


def _marks_by_format(steps: StepScores) -> dict[AnswerFormat, list[StepDetails]]:
    found: dict[AnswerFormat, list[StepDetails]] = {}
    for _, step in steps.steps:
        found.setdefault(step.answer_format, []).append(step)
    return found


def _mean_rate(values: Sequence[float]) -> Estimate:
    """Average values that come in any order, to the same last digit."""
    return wilson(fsum(values) / len(values), len(values)) if values else NO_ESTIMATE
