"""Finds numbers in a report by what rows and columns are known by."""

from gigavqa.evaluation.metrics.estimates import Estimate
from gigavqa.evaluation.tables import Row, Table, Value
from gigavqa.reports.report import Report


def table_of(report: Report, name: str) -> Table:
    """The table of that name, which the report must have."""
    table = report.table(name)
    assert table is not None, f"there is no table '{name}' among {[table.name for table in report.tables]}"
    return table


def row_of(report: Report, table: str, **keys: str) -> Row:
    """The one row of a table that has all these keys; that of the mean only where it is asked for."""
    rows = [row for row in table_of(report, table).rows if row.summary == (keys.get("model") == "mean")]
    (found,) = [row for row in rows if keys.items() <= row.keys.items()]
    return found


def values_of(report: Report, table: str, **keys: str) -> dict[str, Value]:
    """All values of one row, by their columns' keys."""
    columns = table_of(report, table).columns
    return {column.key: value for column, value in zip(columns, row_of(report, table, **keys).values, strict=True)}


def estimates_of(report: Report, table: str, **keys: str) -> dict[str, Estimate]:
    """Those values of one row that are estimates, and count something."""
    found = values_of(report, table, **keys).items()
    return {key: value for key, value in found if isinstance(value, Estimate) and value.count}


def value_of(report: Report, table: str, column: str, **keys: str) -> Estimate:
    """The estimate of one row in one column."""
    value = values_of(report, table, **keys)[column]
    assert isinstance(value, Estimate)
    return value


def percent_of(report: Report, table: str, column: str, **keys: str) -> float | None:
    """A rate as papers print it: in %, to two decimals."""
    return _percent(value_of(report, table, column, **keys))


def percents_of(report: Report, table: str, **keys: str) -> dict[str, float]:
    """The rates of one row as papers print them; those without a value are left out."""
    found = values_of(report, table, **keys).items()
    percents = {key: _percent(value) for key, value in found if isinstance(value, Estimate)}
    return {key: percent for key, percent in percents.items() if percent is not None}


def _percent(estimate: Estimate) -> float | None:
    return None if estimate.value is None else round(100 * estimate.value, 2)


def caveats_of(report: Report) -> list[str]:
    """What a report says must be known, in order."""
    return [caveat.text for caveat in report.caveats]
