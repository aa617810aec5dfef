"""Thresholds of a shape of traffic: what is required of it, and what was found."""

import csv
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from locust import events
from locust.env import Environment
from locust.stats import PERCENTILES_TO_REPORT, StatsCSV

from loadtests.verdicts import ThresholdResult, write

PATIENCE = float(os.environ.get("GIGAVQA_LOAD_PATIENCE", "1"))
"""Times may be so many times their thresholds, and rates be less by as much: `inf` judges neither, 0 misses each."""
_VERDICTS = os.environ.get("GIGAVQA_LOAD_VERDICTS")
"""File that is told what was required and found."""
_MAX_FAILED_SHARE = 0.01


@dataclass(frozen=True)
class Threshold:
    """Calls of this name must be made, take no longer than this at the 99th percentile, and fail no more than this."""

    name: str
    p99_ms: float
    most_failed: float = _MAX_FAILED_SHARE


@dataclass(frozen=True)
class CountLimit:
    """The most that a shape may count itself; nothing counted is missed."""

    what: str
    limit: float
    found: Callable[[], float | None]


@dataclass(frozen=True)
class RateLimit(CountLimit):
    """The least that a shape must do a second."""


_thresholds: list[Threshold] = []
_limits: list[CountLimit] = []


def require(*required: Threshold | CountLimit) -> None:
    """Add what this run is judged by, besides that at most 1 % of the calls of any name fail, and no task breaks."""
    _thresholds.extend(one for one in required if isinstance(one, Threshold))
    _limits.extend(one for one in required if isinstance(one, CountLimit))


@events.quitting.add_listener
def _judge(environment: Environment, **_: Any) -> None:
    verdicts = [*_judge_failures(environment), *map(_judge_limit, _limits)]
    for threshold in _thresholds:
        verdicts += _judge_calls(environment, threshold)
    for verdict in verdicts:
        if not verdict.kept:
            print(f"missed: {verdict.what}: {verdict.found}, where {verdict.limit} is required")
    environment.process_exit_code = int(not all(verdict.kept for verdict in verdicts))
    if _VERDICTS:
        write(Path(_VERDICTS), verdicts)
        # Locust's own file is as old as its last interval.
        with Path(_VERDICTS).with_name("last_stats.csv").open("w", newline="") as lines:
            StatsCSV(environment, PERCENTILES_TO_REPORT).requests_csv(csv.writer(lines))


def _judge_failures(environment: Environment) -> Iterator[ThresholdResult]:
    shares = [(entry.fail_ratio, entry.name) for entry in environment.stats.entries.values()]
    share, name = max(shares, default=(1.0, "nothing was called"))
    found = f"{share:.2%} of {name}" if share else "none"
    yield ThresholdResult(
        "calls of any name that fail", f"at most {_MAX_FAILED_SHARE:.0%}", found, share <= _MAX_FAILED_SHARE
    )
    broken = environment.runner.exceptions.values() if environment.runner else ()
    found = "; ".join(f"{one['count']} x {one['msg']}" for one in broken) or "none"
    yield ThresholdResult("tasks that break", "none", found, found == "none")


def _judge_calls(environment: Environment, threshold: Threshold) -> Iterator[ThresholdResult]:
    found = [entry for (name, _), entry in environment.stats.entries.items() if name == threshold.name]
    limit = f"{threshold.p99_ms:,.0f} ms"
    if not any(entry.num_requests for entry in found):
        yield ThresholdResult(f"p99 of `{threshold.name}`", limit, "never called", False)
        return
    longest = max(entry.get_response_time_percentile(0.99) for entry in found if entry.num_requests)
    # Not timed is not judged; 0 misses even what took less than a millisecond.
    kept = PATIENCE > 0 and longest <= PATIENCE * threshold.p99_ms
    yield ThresholdResult(f"p99 of `{threshold.name}`", limit, f"{longest:,.0f} ms", kept)
    if threshold.most_failed < _MAX_FAILED_SHARE:
        failed = sum(entry.num_failures for entry in found)
        made = sum(entry.num_requests for entry in found)
        kept = failed <= threshold.most_failed * made
        yield ThresholdResult(
            f"failures of `{threshold.name}`", f"{threshold.most_failed:.0%}", f"{failed} of {made}", kept
        )


def _judge_limit(bound: CountLimit) -> ThresholdResult:
    found = bound.found()
    limit = f"at {'least' if isinstance(bound, RateLimit) else 'most'} {bound.limit:,.0f}"
    if found is None:
        return ThresholdResult(bound.what, limit, "never counted", False)
    kept = PATIENCE * found >= bound.limit if isinstance(bound, RateLimit) else found <= bound.limit
    return ThresholdResult(bound.what, limit, f"{found:,.0f}", kept)
