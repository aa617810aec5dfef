"""A report as CSV: one number a line, so that any spreadsheet can pivot it."""

import csv
import io
from collections.abc import Iterator

from evaluation.metrics.estimates import Estimate
from evaluation.reporting.models import CellScore, Report, Table1Row, Table2Row

HEADER = ("table", "model", "protocol", "condition", "domain", "category", "metric", "value", "low", "high", "count")
_Line = tuple[str, str, str, str, str, str, str, Estimate]


def render_csv(report: Report) -> str:
    """Write every estimate of a report; rates are fractions, and empty where nothing could be counted."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADER)
    for *names, estimate in _lines(report):
        writer.writerow(
            [*names, *(_number(end) for end in (estimate.value, estimate.low, estimate.high)), estimate.count]
        )
    return out.getvalue()


def _lines(report: Report) -> Iterator[_Line]:
    for row in report.table1:
        yield from _table1(row)
    for row2 in report.table2:
        yield from _table2(row2)
    for cell in report.cells:
        yield from _cell(cell)


def _table1(row: Table1Row) -> Iterator[_Line]:
    yield "table1", row.model, "S0", "V2", "", "", "macro_accuracy", row.macro
    yield "table1", row.model, "S0", "V0", "", "", "text_only_accuracy", row.text_only
    yield "table1", row.model, "S0", "V0", "", "", "abstention_rate", row.abstention
    yield "table1", row.model, "S0", "V2-V0", "", "", "visual_gap", row.visual_gap


def _table2(row: Table2Row) -> Iterator[_Line]:
    for condition, accuracy in row.conditions.items():
        yield "table2", row.model, "S0", condition, "", "", "macro_accuracy", accuracy
    for gap, difference in row.gaps.items():
        yield "table2", row.model, "S0", "", "", "", f"gap_{gap}", difference


def _cell(cell: CellScore) -> Iterator[_Line]:
    at = (cell.model, cell.protocol, cell.condition)
    yield "cells", *at, "", "", "macro_accuracy", cell.macro
    yield "cells", *at, "", "", "abstention_rate", cell.abstention
    for domain, score in cell.domains.items():
        yield "cells", *at, domain, "", "accuracy", score.overall
        for category, accuracy in score.categories.items():
            yield "cells", *at, domain, category, "accuracy", accuracy


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6f}"
