"""Writes values for people: percentages with one decimal, as papers print them."""

from evaluation.metrics.estimates import Estimate
from evaluation.tables import Column, Unit, Value

MISSING = "–"


def written(value: Value, unit: Unit) -> str:
    """Write a value by its column's unit, without interval and count."""
    if isinstance(value, Estimate):
        return signed_points(value) if unit == "difference" else percent(value)
    if value is None or value == "":
        return MISSING
    return f"{value:,}" if isinstance(value, int) else value


def in_full(value: Value, column: Column) -> str:
    """Write a value with its interval and its count."""
    text = written(value, column.unit)
    if not isinstance(value, Estimate) or value.value is None:
        return text
    return f"{text}{interval(value)} n={value.count}"


def percent(estimate: Estimate) -> str:
    """Write a rate in percent."""
    return MISSING if estimate.value is None else f"{100 * estimate.value:.1f}"


def signed_points(estimate: Estimate) -> str:
    """Write a difference in percentage points, with its sign."""
    return MISSING if estimate.value is None else f"{100 * estimate.value:+.1f}"


def interval(estimate: Estimate) -> str:
    """Write the 95 % interval in percent, behind its number."""
    if estimate.low is None or estimate.high is None:
        return ""
    return f" [{100 * estimate.low:.1f}, {100 * estimate.high:.1f}]"
