"""Progress of a job: a bar for people at a terminal, plain lines for everything else."""

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from gigavqa.cli.console import err
from gigavqa.contract.jobs import Job
from gigavqa.contract.remedies import remedy_of

_LINES_PER_JOB = 10
_WINDOW_SECONDS = 60.0
_LEAST_SECONDS = 1.0


class ProgressDisplay(Protocol):
    """Shows how far a job is. `note` says a line beside it, from any thread."""

    def __call__(self, job: Job) -> None:
        """Show the job's present counts."""
        ...

    def note(self, line: str) -> None:
        """Say something that the counts do not tell."""
        ...


class RequestRate:
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
        """Return the rate up to this moment; None while too little has been seen."""
        if not self._seen:
            return None
        (since, before), (_, done) = self._seen[0], self._seen[-1]
        seconds = self._clock() - since
        return (done - before) / seconds if seconds >= _LEAST_SECONDS and done > before else None

    def tell(self, left: int) -> str:
        """Return the rate and the time that what is left takes at it, in words; nothing while it is unknown."""
        rate = self.per_second()
        return f"{rate:.2f}/s, {format_duration(left / rate)} left" if rate and left else ""


@contextmanager
def open_progress(job: Job) -> Iterator[ProgressDisplay]:
    """Give what shows the job's present counts; the way of showing depends on standard error."""
    if err.is_terminal:
        columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
        facts = (TextColumn("{task.fields[failed]}", style="bold red", markup=False), TextColumn("{task.fields[rate]}"))
        with Progress(*columns, *facts, console=err) as progress:
            yield _ProgressBar(progress, job)
    else:
        yield _ProgressLines()


class _ProgressBar:
    """A bar, which is drawn ten times a second whether or not anything is told."""

    def __init__(self, progress: Progress, job: Job) -> None:
        self._progress = progress
        self._rate = RequestRate()
        self._task = progress.add_task(job.status, total=job.request_counts.total or None, failed="", rate="")

    def __call__(self, job: Job) -> None:
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


class _ProgressLines:
    """Prints a line whenever the status changes or another tenth of the requests is done, until the job's end."""

    def __init__(self) -> None:
        self._rate = RequestRate()
        self._printed: tuple[str, int] | None = None

    def __call__(self, job: Job) -> None:
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


def summary_lines(job: Job) -> Iterator[str]:
    """Lines about a job that has ended; the failures are told by `failure_lines`."""
    counts, usage = job.request_counts, job.usage
    seconds = _seconds(job)
    took = f" in {format_duration(seconds)}" if seconds is not None else ""
    rate = f", {counts.completed / seconds:.2f}/s" if seconds and counts.completed else ""
    yield f"{job.status!s:<10}{counts.completed} of {counts.total} requests answered{took}{rate}"
    if usage.prompt_tokens:
        cached = f"{100 * usage.cached_tokens / usage.prompt_tokens:.0f} % from the prefix cache"
        yield f"tokens    {usage.prompt_tokens:,} read ({cached}), {usage.completion_tokens:,} written"
    if usage.microdollars:
        yield f"cost      {usage.microdollars / 1e6:,.2f} US dollars"
    if usage.views:
        saved = f": {usage.views - usage.rasters:,} renderings saved" if usage.views > usage.rasters else ""
        yield f"pictures  {usage.views:,} shown, {usage.rasters:,} different{saved}"
    if usage.slowest_image:
        yield f"slowest   {usage.slowest_image}, rendered after {format_duration(usage.slowest_seconds)}"


def warning_lines(job: Job) -> Iterator[str]:
    """Return what to know of how a job asks."""
    return (f"warning: {text}" for text in job.warnings)


def failure_lines(job: Job) -> Iterator[str]:
    """Yield what failed, by type, and for each kind what helps; `retry` alone is named only where it can help."""
    kinds = sorted(job.failures.items(), key=lambda kind: -kind[1])
    types = ", ".join(f"{number} {kind}" for kind, number in kinds)
    yield f"{job.request_counts.failed} of {job.request_counts.total} requests failed: {types or 'of unknown type'}"
    yield f"  `gigavqa results {job.id} --status failed` shows what each of them says"
    if job.retryable:
        yield f"  `gigavqa retry {job.id}` asks again; {job.retryable} of them may be answered then"
    if job.retryable < job.request_counts.failed:
        yield from dict.fromkeys(f"  {remedy}" for kind, _ in kinds if (remedy := remedy_of(kind, job)))


def _seconds(job: Job) -> float | None:
    if job.in_progress_at is None or job.finished_at is None:
        return None
    return (job.finished_at - job.in_progress_at).total_seconds()


def format_duration(seconds: float) -> str:
    """Return a duration as people say it: `0.42 s`, `12 s`, `3 min 5 s`, `2 h 10 min`."""
    if seconds < 10:
        return f"{seconds:.2g} s" if seconds >= 0.01 else "no time"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
