"""The tables of a report at a terminal: one column a row of the table, one line a number, with interval and count."""

from collections.abc import Iterator, Sequence

from rich.table import Table as Grid
from rich.text import Text

from gigavqa.evaluation.metrics.estimates import Estimate
from gigavqa.evaluation.tables import Column, Row, Table, Value
from gigavqa.reports.report import Report
from gigavqa.reports.writers.numbers import MISSING, format_count, format_interval, format_value

_FULL_COLUMNS = 6
"""Rows of a table that stand side by side; one of more is written as it is, without intervals."""


def report_tables(report: Report) -> Iterator[Grid]:
    """Yield the tables that are no detail and have any row."""
    for table in report.tables:
        if table.rows and not table.detail:
            yield _transposed_grid(table) if len(table.rows) <= _FULL_COLUMNS else _row_grid(table)


def _transposed_grid(table: Table) -> Grid:
    grid = _empty_grid(table, [row.title for row in table.rows])
    values = [iter(row.values) for row in table.rows]
    for group in table.groups:
        for column in group.columns:
            grid.add_row(column.name, *(_number(next(each), column) for each in values), style=_style(column))
        grid.add_section()
    return grid


def _row_grid(table: Table) -> Grid:
    grid = _empty_grid(table, [column.title for column in table.columns])
    for row in table.rows:
        grid.add_row(Text(row.title), *_short_values(row, table.columns), style="bold" if row.summary else "")
    return grid


def _short_values(row: Row, columns: Sequence[Column]) -> Iterator[Text]:
    for value, column in zip(row.values, columns, strict=True):
        text = format_value(value, column)
        yield Text(text, style="dim" if text == MISSING else "bold" if column.key in row.best else "")


def _empty_grid(table: Table, columns: Sequence[str]) -> Grid:
    look = {"title_justify": "left", "title_style": "bold", "caption_justify": "left", "caption_style": "dim"}
    grid = Grid(title=Text(table.title), caption=Text(table.caption), show_lines=False, **look)  # type: ignore[arg-type]
    grid.add_column("")
    for column in columns:
        grid.add_column(Text(column), justify="right")
    return grid


def _style(column: Column) -> str:
    return "bold" if column.strong else ""


def _number(value: Value, column: Column) -> Text:
    text = format_value(value, column)
    if text == MISSING:
        return Text(MISSING, style="dim")
    if not isinstance(value, Estimate):
        return Text(text)
    return Text.assemble(text, (f"{format_interval(value, column):>16}", "dim"), (f" {format_count(value):<7}", "dim"))
