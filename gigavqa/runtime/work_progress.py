"""Progress of long work: who goes through many items counts them, and who has a terminal shows how many there were."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Item = TypeVar("Item")
ProgressReport = Callable[[str, int], None]
"""Takes what is counted, such as "questions read", and how many there were until now."""
_REPORTED = ContextVar[ProgressReport | None]("progress report", default=None)
_EVERY = 100


def counted(items: Iterable[Item], what: str) -> Iterator[Item]:
    """Yield the items, and report every hundred of them to whoever asked for that around the work."""
    report = _REPORTED.get()
    if report is None:
        yield from items
        return
    for number, item in enumerate(items, start=1):
        if number % _EVERY == 0:
            report(what, number)
        yield item


def report_progress(what: str, number: int) -> None:
    """Report one count, for work whose items take long."""
    if report := _REPORTED.get():
        report(what, number)


@contextmanager
def reported_to(report: ProgressReport) -> Iterator[None]:
    """Have all counts within the block reported."""
    token = _REPORTED.set(report)
    try:
        yield
    finally:
        _REPORTED.reset(token)
