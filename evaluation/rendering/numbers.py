"""Writes estimates for people: percentages with one decimal, as the paper prints them."""

from evaluation.metrics.estimates import Estimate

MISSING = "–"


def percent(estimate: Estimate) -> str:
    """Write a rate in percent."""
    return MISSING if estimate.value is None else f"{100 * estimate.value:.1f}"


def signed_points(estimate: Estimate) -> str:
    """Write a gap in percentage points, with its sign."""
    return MISSING if estimate.value is None else f"{100 * estimate.value:+.1f}"


def interval(estimate: Estimate) -> str:
    """Write the 95 % interval in percent, behind its number."""
    if estimate.low is None or estimate.high is None:
        return ""
    return f" [{100 * estimate.low:.1f}, {100 * estimate.high:.1f}]"


def full(text: str, estimate: Estimate) -> str:
    """Write a number with its interval and its count."""
    return text if estimate.value is None else f"{text}{interval(estimate)} n={estimate.count}"
