"""A report as CSV: one number a line, so that any spreadsheet can pivot it."""

import csv
import io
from collections.abc import Iterator

from evaluation.metrics.estimates import Estimate
from evaluation.reporting.models import CellScore, Figure2, Report, StepProfile, Table1Row, Table2Row, Table3Row

HEADER = ("table", "model", "protocol", "condition", "domain", "category", "metric", "value", "low", "high", "count")
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")
_Line = tuple[str, str, str, str, str, str, str, Estimate]


def render_csv(report: Report) -> str:
    """Write every estimate of a report; rates are fractions, and empty where nothing could be counted."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADER)
    for *names, estimate in _lines(report):
        writer.writerow(
            [
                *map(_text, names),
                *(_number(end) for end in (estimate.value, estimate.low, estimate.high)),
                estimate.count,
            ]
        )
    return out.getvalue()


def _lines(report: Report) -> Iterator[_Line]:
    means = report.means
    for row in (*report.table1, *([means.table1] if means.table1 else [])):
        yield from _table1(row)
    for row2 in (*report.table2, *([means.table2] if means.table2 else [])):
        yield from _table2(row2)
    for row3 in (*report.table3, *([means.table3] if means.table3 else [])):
        yield from _table3(row3)
    yield from _figure2(report.figure2)
    for cell in report.cells:
        yield from _cell(cell)
    for profile in report.steps:
        yield from _steps(profile)


def _table1(row: Table1Row) -> Iterator[_Line]:
    yield "table1", row.model, "S0", "V2", "", "", "macro_accuracy", row.macro
    yield "table1", row.model, "S0", "V0", "", "", "text_only_accuracy", row.text_only
    yield "table1", row.model, "S0", "V0", "", "", "abstention_rate", row.abstention
    yield "table1", row.model, "S0", "V2", "", "", "unreadable_rate", row.unreadable
    yield "table1", row.model, "S0", "V2-V0", "", "", "visual_gap", row.visual_gap


def _table2(row: Table2Row) -> Iterator[_Line]:
    for condition, accuracy in row.conditions.items():
        yield "table2", row.model, "S0", condition, "", "", "macro_accuracy", accuracy
    for gap, difference in row.gaps.items():
        yield "table2", row.model, "S0", "", "", "", f"gap_{gap}", difference


def _table3(row: Table3Row) -> Iterator[_Line]:
    for protocol, accuracy in row.protocols.items():
        yield "table3", row.model, protocol, "V2", "", "", "macro_accuracy", accuracy
    for gap, difference in row.gaps.items():
        yield "table3", row.model, "", "V2", "", "", f"gap_{gap}", difference


def _figure2(figure: Figure2) -> Iterator[_Line]:
    for errors in figure.a:
        yield "figure2a", errors.model, "S2", "V2", "", "", "mean_step_error", errors.mean_error
        for operation, delta in errors.deltas.items():
            yield "figure2a", errors.model, "S2", "V2", "", "", f"step_error_delta_{operation}", delta
    for accuracies in figure.b:
        for operation, accuracy in accuracies.operations.items():
            yield "figure2b", accuracies.model, "S5", "V2", "", "", f"step_accuracy_{operation}", accuracy
    for first in figure.c:
        for outcome, share in first.outcomes.items():
            yield "figure2c", first.model, "S4", "V2", "", "", f"first_error_{outcome}", share
        for domain, shares in first.domains.items():
            for outcome, share in shares.items():
                yield "figure2c", first.model, "S4", "V2", domain, "", f"first_error_{outcome}", share


def _steps(profile: StepProfile) -> Iterator[_Line]:
    at = (profile.model, profile.protocol, profile.condition)
    for operation, accuracy in profile.operations.items():
        yield "steps", *at, "", "", f"step_accuracy_{operation}", accuracy
    for domain, operations in profile.domains.items():
        for operation, accuracy in operations.items():
            yield "steps", *at, domain, "", f"step_accuracy_{operation}", accuracy
    for name, accuracy in profile.formats.items():
        yield "steps", *at, "", "", f"format_accuracy_{name}", accuracy
    for name, f1 in profile.f1.items():
        yield "steps", *at, "", "", f"format_f1_{name}", f1


def _cell(cell: CellScore) -> Iterator[_Line]:
    at = (cell.model, cell.protocol, cell.condition)
    yield "cells", *at, "", "", "macro_accuracy", cell.macro
    yield "cells", *at, "", "", "abstention_rate", cell.abstention
    yield "cells", *at, "", "", "unreadable_rate", cell.unreadable
    for domain, score in cell.domains.items():
        yield "cells", *at, domain, "", "accuracy", score.overall
        for category, accuracy in score.categories.items():
            yield "cells", *at, domain, category, "accuracy", accuracy


def _text(name: str) -> str:
    """Keep a text from being a formula: a spreadsheet runs what begins with one of these characters."""
    return f"'{name}" if name.startswith(_FORMULAS) else name


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6f}"
