"""Writes values for people: percentages with as many decimals as their column says."""

from gigavqa.evaluation.metrics.estimates import Estimate
from gigavqa.evaluation.tables import Column, Value

MISSING = "–"


def format_value(value: Value, column: Column) -> str:
    """Write a value by its column's unit, without interval and count."""
    if isinstance(value, Estimate):
        return MISSING if value.value is None else format_number(value.value, column)
    if value is None or value == "":
        return MISSING
    return f"{value:,}" if isinstance(value, int) else value


def format_full(value: Value, column: Column) -> str:
    """Write a value with its interval and its count."""
    text = format_value(value, column)
    if not isinstance(value, Estimate) or value.value is None:
        return text
    return f"{text}{format_interval(value, column)}{format_count(value)}"


def format_count(estimate: Estimate) -> str:
    """Write what a number rests on, behind it; nothing where it is known."""
    return f" n={estimate.count}" if estimate.count else ""


def format_percent(estimate: Estimate) -> str:
    """Write a rate in percent."""
    return MISSING if estimate.value is None else f"{100 * estimate.value:.1f}"


def format_number(value: float, column: Column) -> str:
    """Write a rate in percent, a difference in percentage points with its sign, any other number as it is."""
    if column.unit == "number":
        return format_fixed(value, column.decimals)
    text = format_fixed(100 * value, column.decimals)
    return text if column.unit != "difference" or text.startswith("-") else f"+{text}"


def format_fixed(value: float, decimals: int) -> str:
    """Write so many decimals; what rounds to nothing has no sign."""
    return f"{round(value, decimals) + 0.0:.{decimals}f}"


def format_interval(estimate: Estimate, column: Column) -> str:
    """Write the 95 % interval behind its number."""
    if estimate.low is None or estimate.high is None:
        return ""
    low, high = (format_number(end, column).lstrip("+") for end in (estimate.low, estimate.high))
    return f" [{low}, {high}]"
