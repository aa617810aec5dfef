"""A report for programs and papers: CSV with one number a line, JSON with all of it, LaTeX tables."""

import csv
import io
from collections.abc import Iterator

from gigavqa.evaluation.metrics.estimates import Estimate
from gigavqa.evaluation.tables import Column, Row, Table, Value
from gigavqa.reports.report import Report
from gigavqa.reports.writers.escaping import escape_controls, escape_controls_json
from gigavqa.reports.writers.numbers import format_fixed, format_value

_FIRST_KEYS = ("model", "protocol", "condition")
_ROUNDS = "rounds"
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")
_SPECIAL = {character: f"\\{character}" for character in "&%$#_{}"} | {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--", "−": "$-$",
    "Δ": r"$\Delta$",
}  # fmt: skip


def render_csv(report: Report) -> str:
    """Write every value of a report; rates are fractions, and empty where nothing could be counted.

    The columns are table, the keys of rows and columns (model, protocol, condition, rounds where any cell has some,
    then names of groups), metric, value, low, high, count, and text, which holds what is shown in words and is no
    single number. A count has neither ends nor what it rests on.
    """
    lines = list(_value_lines(report))
    others = dict.fromkeys(key for keys, _ in lines for key in keys if key not in (*_FIRST_KEYS, "table", "metric"))
    names = ("table", *_FIRST_KEYS, *sorted(others, key=lambda key: key != _ROUNDS), "metric")
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*names, "value", "low", "high", "count", "text"])
    for keys, value in lines:
        writer.writerow([*(escape_formula(escape_controls(keys.get(name, ""))) for name in names), *_fields(value)])
    return out.getvalue()


def _value_lines(report: Report) -> Iterator[tuple[dict[str, str], Value]]:
    for table in report.tables:
        columns = table.columns
        for row in table.rows:
            for column, value in zip(columns, row.values, strict=True):
                yield {"table": table.name, "metric": column.key, **row.keys, **column.keys}, value


def _fields(value: Value) -> tuple[str | int, ...]:
    """Value, low, high, count and text."""
    if isinstance(value, Estimate):
        return (*(_number(one) for one in (value.value, value.low, value.high)), value.count, "")
    if isinstance(value, str):
        return "", "", "", "", escape_formula(escape_controls(value))
    return "" if value is None else value, "", "", "", ""


def escape_formula(text: str) -> str:
    """Keep a text from being a formula: a spreadsheet runs what begins with one of these characters."""
    return f"'{text}" if text.startswith(_FORMULAS) else text


def _number(value: float | None) -> str:
    return "" if value is None else format_fixed(value, 6)


def render_json(report: Report) -> str:
    """Write a report as JSON; rates are fractions, 0.5 is 50 %."""
    return escape_controls_json(report.model_dump_json(indent=2))


def render_latex(report: Report) -> str:
    """Write the tables as LaTeX for the package booktabs, without intervals; each in an environment of its own."""
    return "\n".join(_latex(table) for table in report.tables if table.rows and not table.detail)


def _latex(table: Table) -> str:
    groups = [group for group in table.groups if group.columns]
    heads = " & ".join(f"\\multicolumn{{{len(group.columns)}}}{{c}}{{{_escaped(group.title)}}}" for group in groups)
    titles = " & ".join(_escaped(column.title) for column in table.columns)
    rows = "\n".join(_latex_row(row, table) for row in table.rows)
    return (
        f"% {table.name}\n\\begin{{table}}\n\\caption{{{_escaped(table.title)}. {_escaped(table.caption)}}}\n"
        f"\\begin{{tabular}}{{l{'r' * len(table.columns)}}}\n\\toprule\n & {heads} \\\\\n & {titles} \\\\\n\\midrule\n"
        f"{rows}\n\\bottomrule\n\\end{{tabular}}\n\\end{{table}}\n"
    )


def _latex_row(row: Row, table: Table) -> str:
    values = (_latex_value(value, column, row) for value, column in zip(row.values, table.columns, strict=True))
    rule = "\\midrule\n" if row.summary else ""
    return f"{rule}{_escaped(row.title)} & {' & '.join(values)} \\\\"


def _latex_value(value: Value, column: Column, row: Row) -> str:
    text = _escaped(format_value(value, column))
    return f"\\textbf{{{text}}}" if column.key in row.best else text


def _escaped(text: str) -> str:
    return "".join(_SPECIAL.get(character, character) for character in escape_controls(" ".join(text.split())))
