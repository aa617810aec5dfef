"""One changing line at a terminal for work that takes more than two seconds: how much of it is done."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.live import Live
from rich.text import Text

from gigavqa.cli.console import err
from gigavqa.runtime.work_progress import reported_to

_QUIET_SECONDS = 2.0
_LEAST_SECONDS = 0.1


@contextmanager
def work_line(clock: Callable[[], float] = time.monotonic) -> Iterator[None]:
    """Show at a terminal what is counted within the block, from its third second on; the line is gone at the end."""
    if not err.is_terminal:
        yield
        return
    line = _WorkLine(clock)
    try:
        with reported_to(line):
            yield
    finally:
        line.end()


class _WorkLine:
    """The line, which begins to be shown when something is counted late enough."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._next = clock() + _QUIET_SECONDS
        self._shown: Live | None = None

    def __call__(self, what: str, number: int) -> None:
        now = self._clock()
        if now < self._next:
            return
        self._next = now + _LEAST_SECONDS
        told = Text(f"{number:,} {what}")  # names of files are no markup
        if self._shown is None:
            self._shown = Live(told, console=err, transient=True, auto_refresh=False)
            self._shown.start(refresh=True)
        else:
            self._shown.update(told, refresh=True)

    def end(self) -> None:
        """Take the line away."""
        if self._shown:
            self._shown.stop()
