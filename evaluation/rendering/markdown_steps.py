"""Step profiles and the numbers of Figure 2 as Markdown."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from evaluation.metrics.estimates import NOTHING, Estimate
from evaluation.metrics.operations import OPERATIONS
from evaluation.rendering.markdown_tables import table
from evaluation.rendering.numbers import full, percent, signed_points
from evaluation.reporting.models import FirstErrors, Report, StepAccuracies, StepErrors, StepProfile

_Name = TypeVar("_Name", bound=str)
_Number = Callable[[Estimate], str]


def step_parts(report: Report) -> Iterator[str]:
    """Write Figure 2 as numbers, then how step answers were read."""
    yield from _errors(report.figure2.a)
    yield from _accuracies(report.figure2.b)
    yield from _first_errors(report.figure2.c)
    yield from _profiles(report)


def _errors(rows: Sequence[StepErrors]) -> Iterator[str]:
    if rows:
        yield "## Figure 2a: step error under S2 by operation, in points from the model's mean"
        lines = (
            [row.title, _cell(row.mean_error, percent), *_each(row.deltas, OPERATIONS, signed_points)] for row in rows
        )
        yield table(["Model", "Mean error %", *OPERATIONS], lines)


def _accuracies(rows: Sequence[StepAccuracies]) -> Iterator[str]:
    if rows:
        yield "## Figure 2b: step accuracy under S5 by operation, in %"
        yield table(["Model", *OPERATIONS], ([row.title, *_each(row.operations, OPERATIONS, percent)] for row in rows))


def _first_errors(rows: Sequence[FirstErrors]) -> Iterator[str]:
    if rows:
        outcomes = list(rows[0].outcomes)
        yield "## Figure 2c: where S4 trajectories fail first, in %"
        yield table(["Model", *outcomes], ([row.title, *_each(row.outcomes, outcomes, percent)] for row in rows))


def _profiles(report: Report) -> Iterator[str]:
    if not report.steps:
        return
    yield "## Steps"
    yield (
        f"Step accuracy in % by operation; boxes count at an intersection over union of {report.iou_threshold} or "
        "more, lists of boxes when a one-to-one matching covers both sides. n counts steps."
    )
    header = ["Model", "Protocol", "Condition", *OPERATIONS, "F1 of lists", "Converted boxes", "Parse statuses"]
    yield table(header, map(_profile, report.steps))
    counts = (
        f"{domain.upper()}: " + ", ".join(f"{operation} {count}" for operation, count in found.items())
        for domain, found in report.operation_counts.items()
    )
    yield "Annotated steps: " + "; ".join(counts)


def _profile(profile: StepProfile) -> list[str]:
    return [
        profile.title,
        profile.protocol,
        profile.condition,
        *_each(profile.operations, OPERATIONS, percent),
        "<br>".join(f"{name}: {percent(f1)}" for name, f1 in profile.f1.items()),
        str(profile.converted),
        ", ".join(f"{status} {count}" for status, count in profile.statuses.items()),
    ]


def _each(found: Mapping[_Name, Estimate], names: Sequence[_Name], number: _Number) -> list[str]:
    return [_cell(found.get(name, NOTHING), number) for name in names]


def _cell(estimate: Estimate, number: _Number) -> str:
    return full(number(estimate), estimate)
