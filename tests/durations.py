"""Says at the end of a run which tests are slow and not marked so. It fails nothing: a machine may be busy."""

import os
import time
from collections.abc import Iterable, Iterator

import pytest

MOST_CPU_SECONDS = 2.0
MOST_SECONDS = 5.0
_NAME = "seconds"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Tell the test's report how long the test took, by the clock and of the processor, its ended children's too."""
    began, used = time.monotonic(), _cpu_seconds()
    try:
        yield
    finally:
        if not any(item.iter_markers("slow")) and not any(item.iter_markers("engine")):
            item.user_properties.append((_NAME, (time.monotonic() - began, _cpu_seconds() - used)))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
    """Write the lines below all other summaries."""
    yield
    reports = [report for outcome in ("passed", "failed") for report in terminalreporter.stats.get(outcome, [])]
    took = {report.nodeid: found for report in reports if (found := dict(report.user_properties).get(_NAME))}
    for line in slow_lines(took.items()):
        terminalreporter.write_line(line, yellow=True)


def slow_lines(took: Iterable[tuple[str, tuple[float, float]]]) -> list[str]:
    """Name the tests that took long, by the clock or of the processor, the longest first; nothing where none did."""
    slow = [one for one in took if one[1][0] > MOST_SECONDS or one[1][1] > MOST_CPU_SECONDS]
    lines = [f"  {cpu:.1f} s of CPU, {wall:.1f} s in all: {name}" for name, (wall, cpu) in sorted(slow, key=_by_time)]
    return ["slow, and not marked so; make them faster, or mark them `slow`:", *lines] if lines else []


def _by_time(one: tuple[str, tuple[float, float]]) -> float:
    return -max(one[1])


def _cpu_seconds() -> float:
    return sum(os.times()[:4])
