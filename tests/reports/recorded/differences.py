"""Where two outputs of a case differ: by table, row and column, to the last digit."""

import csv
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from tests.reports.recorded.outputs import Outputs

MOST_TOLD = 10
_NOTHING = "nothing"
_LONGEST = 200
_KEYS = ("job_id", "request_id", "model", "protocol", "condition", "rounds", "max_rounds", "number", "name", "reason")
"""What entries of a list are known by."""
_NUMBERS = ("value", "low", "high", "count", "text")
"""Columns of a report's CSV behind those that a line is known by."""


class Difference(NamedTuple):
    """A place that is said otherwise than it was recorded; `was` and `now` are JSON, or nothing."""

    table: str
    row: str
    column: str
    was: str
    now: str

    def __str__(self) -> str:
        place = " | ".join(filter(None, (self.table, self.row, self.column)))
        return f"{place}: was {_shortened(self.was)}, is {_shortened(self.now)}{_distance(self.was, self.now)}"


class _Sheet(NamedTuple):
    """Anything that has rows: a table, lines of a file, or a list of a report."""

    heading: Any
    rows: Mapping[str, Any]


def differences(was: Outputs, now: Outputs) -> Iterator[Difference]:
    """Yield every place that differs, in the order of the recorded outputs; what is new comes behind."""
    before, after = dict(_sheets(was)), dict(_sheets(now))
    for name in [*before, *(name for name in after if name not in before)]:
        yield from _in_sheet(name, before.get(name), after.get(name))
    if [*before] != [*after] and before.keys() == after.keys():
        yield Difference("order of tables", "", "", _json([*before]), _json([*after]))


def _in_sheet(name: str, was: _Sheet | None, now: _Sheet | None) -> Iterator[Difference]:
    if was is None or now is None:
        told = (f"{len(one.rows)} rows" if one else _NOTHING for one in (was, now))
        yield Difference(name, "", "", *told)
        return
    yield from _in_value(name, "", "", was.heading, now.heading)
    for row in [*was.rows, *(row for row in now.rows if row not in was.rows)]:
        yield from _in_value(name, row, "", was.rows.get(row, _ABSENT), now.rows.get(row, _ABSENT))
    if [*was.rows] != [*now.rows] and was.rows.keys() == now.rows.keys():
        yield Difference(name, "order of rows", "", _json([*was.rows]), _json([*now.rows]))


_ABSENT = object()


def _in_value(table: str, row: str, column: str, was: Any, now: Any) -> Iterator[Difference]:
    """Look into objects and lists that both have, down to what is neither."""
    if repr(was) == repr(now):  # as most are, which is found sooner than by JSON, whose keys are sorted
        return
    first, second = _json(was), _json(now)
    if first == second:
        return
    if isinstance(was, dict) and isinstance(now, dict):
        pairs = [(key, was.get(key, _ABSENT), now.get(key, _ABSENT)) for key in dict.fromkeys([*was, *now])]
    elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        pairs = [(str(at), one, other) for at, (one, other) in enumerate(zip(was, now, strict=True))]
    else:
        yield Difference(table, row, column, first, second)
        return
    for key, one, other in pairs:
        yield from _in_value(table, row, f"{column}.{key}" if column else key, one, other)


def _json(value: Any) -> str:
    """Write a value so that all that differs is written otherwise: 1 is neither 1.0 nor true."""
    return _NOTHING if value is _ABSENT else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _distance(was: str, now: str) -> str:
    """Say how far apart two numbers are: sums in another order differ in the last digits."""
    try:
        return f" ({float(now) - float(was):+.1e})"
    except ValueError:
        return ""


def _sheets(outputs: Outputs) -> Iterator[tuple[str, _Sheet]]:
    """Yield the tables of a report, whatever else it says, the lines of its CSV, and the verdicts."""
    report = outputs["report"]
    for table in report["tables"]:
        yield f"table {table['name']}", _table_sheet(table)
    lists = {name: value for name, value in report.items() if isinstance(value, list) and name != "tables"}
    yield "report", _Sheet(None, {name: value for name, value in report.items() if not isinstance(value, list)})
    for name, entries in lists.items():
        yield name, _Sheet(None, _named((_name_of(entry), entry) for entry in entries))
    for name in ("verdicts", "parts"):
        columns = [*outputs[name][0]] if outputs[name] else []
        yield name, _Sheet(columns, _named((_name_of(entry), entry) for entry in outputs[name]))
    yield "csv", _csv_sheet(outputs["csv"])


def _table_sheet(table: Mapping[str, Any]) -> _Sheet:
    columns = [column["key"] for group in table["groups"] for column in group["columns"]]
    rows = ((_told(row["keys"]) or row["title"], _row_by_columns(row, columns)) for row in table["rows"])
    return _Sheet({name: value for name, value in table.items() if name != "rows"}, _named(rows))


def _row_by_columns(row: Mapping[str, Any], columns: list[str]) -> dict[str, Any]:
    if len(row["values"]) != len(columns):
        return dict(row)
    values = dict(zip(columns, row["values"], strict=True))
    return {**values, "(row)": {name: value for name, value in row.items() if name != "values"}}


def _csv_sheet(lines: list[str]) -> _Sheet:
    reader = csv.DictReader(lines, restkey="(more)")
    header = [*(reader.fieldnames or ())]
    known = [name for name in header if name not in _NUMBERS]
    entries = ((", ".join(line[name] for name in known if line[name]), line) for line in reader)
    return _Sheet(header, _named(entries))


def _name_of(entry: Any) -> str:
    """Name an entry by its keys, by its texts where it has none, or by itself."""
    if not isinstance(entry, dict):
        return str(entry)
    known = {key: entry[key] for key in _KEYS if entry.get(key) is not None}
    return _told(known or {key: value for key, value in entry.items() if isinstance(value, str)})


def _told(keys: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in sorted(keys.items()))


def _named(entries: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return entries by name, of which the second one of a name is told apart by its number."""
    seen, found = Counter[str](), dict[str, Any]()
    for name, entry in entries:
        seen[name] += 1
        found[name if seen[name] == 1 else f"{name} (number {seen[name]})"] = entry
    return found
