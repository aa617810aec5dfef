"""Progress of a job: a bar for people at a terminal, plain lines for everything else."""

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from cli.console import err
from cli.units import say_seconds

if TYPE_CHECKING:
    from jobs.models import Job

_LINES_PER_JOB = 10
_WINDOW_SECONDS = 60.0
_LEAST_SECONDS = 1.0


class Show(Protocol):
    """Shows how far a job is. `note` says a line beside it, from any thread."""

    def __call__(self, job: "Job") -> None:
        """Show the job's present counts."""
        ...

    def note(self, line: str) -> None:
        """Say something that the counts do not tell."""
        ...


class Rate:
    """Requests per second over the last minute; bundles end together, so that a shorter one would jump."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: deque[tuple[float, int]] = deque()

    def count(self, done: int) -> None:
        """Tell how many requests are done by now."""
        now = self._clock()
        self._seen.append((now, done))
        while len(self._seen) > 1 and self._seen[1][0] <= now - _WINDOW_SECONDS:
            self._seen.popleft()

    def per_second(self) -> float | None:
        """The rate up to this moment; None while too little has been seen."""
        if not self._seen:
            return None
        (since, before), (_, done) = self._seen[0], self._seen[-1]
        seconds = self._clock() - since
        return (done - before) / seconds if seconds >= _LEAST_SECONDS and done > before else None

    def tell(self, left: int) -> str:
        """The rate and the time that what is left takes at it, in words; nothing while it is unknown."""
        rate = self.per_second()
        return f"{rate:.2f}/s, {say_seconds(left / rate)} left" if rate and left else ""


@contextmanager
def open_progress(job: "Job") -> Iterator[Show]:
    """Give what shows the job's present counts; the way of showing depends on standard error."""
    if err.is_terminal:
        columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
        facts = (TextColumn("{task.fields[failed]}", style="bold red", markup=False), TextColumn("{task.fields[rate]}"))
        with Progress(*columns, *facts, console=err) as progress:
            yield _Bar(progress, job)
    else:
        yield _Lines()


class _Bar:
    """A bar, which is drawn ten times a second whether or not anything is told."""

    def __init__(self, progress: Progress, job: "Job") -> None:
        self._progress = progress
        self._rate = Rate()
        self._task = progress.add_task(job.status, total=job.request_counts.total or None, failed="", rate="")

    def __call__(self, job: "Job") -> None:
        counts = job.request_counts
        done = counts.completed + counts.failed
        self._rate.count(done)
        self._progress.update(
            self._task,
            description=job.status,
            total=counts.total or None,
            completed=done,
            failed=f"{counts.failed} failed" if counts.failed else "",
            rate=self._rate.tell(counts.total - done),
        )

    def note(self, line: str) -> None:
        self._progress.console.print(line)


class _Lines:
    """Prints a line whenever the status changes or another tenth of the requests is done, until the job's end."""

    def __init__(self) -> None:
        self._rate = Rate()
        self._printed: tuple[str, int] | None = None

    def __call__(self, job: "Job") -> None:
        counts = job.request_counts
        done = counts.completed + counts.failed
        self._rate.count(done)
        if job.status.final or done == counts.total > 0:
            return  # the summary says it
        state = (str(job.status), done * _LINES_PER_JOB // max(1, counts.total))
        if state != self._printed:
            self._printed = state
            facts = [f"{done} of {counts.total} requests done, {counts.failed} failed"] if counts.total else []
            facts += [rate] if (rate := self._rate.tell(counts.total - done)) else []
            err.print(f"{job.status}{': ' if facts else ''}{', '.join(facts)}")

    def note(self, line: str) -> None:
        err.print(line)
