"""Tables as the page draws them: every number with its interval and count beside it, turned where that is narrower."""

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gigavqa.evaluation.metrics.estimates import Estimate
from gigavqa.evaluation.tables import Column, Row, Table, Value
from gigavqa.reports.report import Report
from gigavqa.reports.writers.numbers import format_number, format_value

_MOST_COLUMNS = 12
"""Columns that stand side by side; a table of more is turned, so that its rows become the columns."""
_MOST_TURNED = 8
"""Rows of a table that is turned, at most."""


class PageNumber(NamedTuple):
    """One value: as written, its interval and what it counts, how strongly it is shaded, from -1 (bad) to 1.

    `best` tells that it is the best of its kind.
    """

    text: str
    interval: str = ""
    basis: str = ""
    shade: float | None = None
    best: bool = False

    @property
    def style(self) -> str:
        """Its shading as custom properties of CSS."""
        if not self.shade:
            return ""
        return f"--shade: {abs(self.shade) * 100:.0f}%; --tint: var(--{'bad' if self.shade < 0 else 'good'})"


class PageColumn(NamedTuple):
    """One column of a table with a number for each row, and the mark of its note."""

    column: Column
    numbers: tuple[PageNumber, ...]
    mark: str


class PageColumnGroup(NamedTuple):
    """The columns of one group."""

    title: str
    lines: tuple[PageColumn, ...]


class PageTable(NamedTuple):
    """A table with its numbers in the page's words; `notes` explain headings by their marks."""

    table: Table
    blocks: tuple[PageColumnGroup, ...]
    notes: tuple[tuple[str, str, str], ...]

    @property
    def form(self) -> str:
        """The layout: upright, turned, or a block for each group of its only row."""
        if len(self.table.columns) <= _MOST_COLUMNS or len(self.table.rows) > _MOST_TURNED:
            return "upright"
        return "turned" if len(self.table.rows) > 1 else "blocks"

    @property
    def lines(self) -> tuple[PageColumn, ...]:
        """All columns in order."""
        return tuple(line for block in self.blocks for line in block.lines)


class RowSummary(NamedTuple):
    """A row at a glance: its first number, with the ends of its interval in percent, and the others."""

    title: str
    first: tuple[Column, PageNumber]
    ends: tuple[float, float, float] | None
    others: tuple[tuple[Column, PageNumber], ...]


def layout_table(table: Table) -> PageTable:
    """Prepare a table for drawing."""
    marks = {column.key: _mark(at) for at, column in enumerate(column for column in table.columns if column.note)}
    values = iter(zip(*(row.values for row in table.rows), strict=True))
    blocks = tuple(
        PageColumnGroup(
            group.title,
            tuple(
                PageColumn(column, tuple(_page_numbers(next(values), column, table.rows)), marks.get(column.key, ""))
                for column in group.columns
            ),
        )
        for group in table.groups
    )
    notes = tuple((marks[column.key], column.name, column.note) for column in table.columns if column.note)
    return PageTable(table, blocks, notes)


def summarize_rows(report: Report) -> tuple[RowSummary, ...]:
    """Return the rows of the first table by its strong columns; nothing of a table of many rows."""
    table = next((table for table in report.tables if table.rows and not table.detail), None)
    if table is None or len(table.rows) > _MOST_TURNED:
        return ()
    strong = [at for at, column in enumerate(table.columns) if column.strong and column.unit != "text"]
    return tuple(_summarize_row(table, row, strong) for row in table.rows if strong and not row.summary)


def _summarize_row(table: Table, row: Row, strong: list[int]) -> RowSummary:
    numbers = [(table.columns[at], page_number(row.values[at], table.columns[at], row)) for at in strong]
    first = row.values[strong[0]]
    ends = None
    if isinstance(first, Estimate) and first.value is not None and first.low is not None and first.high is not None:
        ends = (100 * first.value, 100 * max(0.0, first.low), 100 * min(1.0, first.high))
    return RowSummary(row.title, numbers[0], ends, tuple(numbers[1:]))


def titles_of_models(report: Report) -> dict[str, str]:
    """Return what the tables call each model."""
    rows = (row for table in report.tables for row in table.rows)
    return {row.keys["model"]: row.title for row in rows if set(row.keys) == {"model"} and not row.summary}


def _page_numbers(values: Iterable[Value], column: Column, rows: Iterable[Row]) -> Iterator[PageNumber]:
    return (page_number(value, column, row) for value, row in zip(values, rows, strict=True))


def page_number(value: Value, column: Column, row: Row) -> PageNumber:
    """Write one value; what a mean over rows counts is rows, not samples."""
    text, best = format_value(value, column), column.key in row.best
    if not isinstance(value, Estimate) or value.value is None:
        return PageNumber(text, best=best)
    return PageNumber(text, _format_ends(value, column), _format_basis(value, row), _shade(value.value, column), best)


def _format_basis(value: Estimate, row: Row) -> str:
    if row.summary:
        return f"{value.count:,} {'models' if row.keys.get('model') else 'rows'}"
    return f"n {value.count:,}" if value.count else ""


def _format_ends(value: Estimate, column: Column) -> str:
    if value.low is None or value.high is None:
        return ""
    low, high = format_number(value.low, column), format_number(value.high, column)
    return f"{low} to {high}" if column.unit in ("difference", "number") or value.low < 0 else f"{low}–{high}"


def _shade(value: float, column: Column) -> float:
    """50 points of a difference are full strength; a number that is no rate has none."""
    if column.unit == "number":
        return 0.0
    if column.unit == "difference":
        return max(-1.0, min(1.0, 2 * value))
    return -value if column.unit == "loss" else max(-1.0, min(1.0, value))


def _mark(at: int) -> str:
    """Letters for notes: a, b ... z, then aa."""
    return chr(ord("a") + at % 26) * math.ceil((at + 1) / 26)
