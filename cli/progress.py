"""Progress of a job: a bar for people at a terminal, plain lines for everything else."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from cli.console import err

if TYPE_CHECKING:
    from jobs.models import Job

Show = Callable[["Job"], None]
_LINES_PER_JOB = 10


class _SpeedColumn(ProgressColumn):
    """Requests per second, lately."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(f"{speed:.2f} items/s" if speed else "- items/s", style="cyan")


class _FailureColumn(ProgressColumn):
    """How many requests failed."""

    def render(self, task: Task) -> Text:
        failed = task.fields["failed"]
        return Text(f"{failed} failed", style="bold red" if failed else "dim")


@contextmanager
def open_progress(job: "Job") -> Iterator[Show]:
    """Give a function that shows the job's present counts; the way of showing depends on standard error."""
    if err.is_terminal:
        yield from _bar(job)
    else:
        yield _Lines()


def _bar(job: "Job") -> Iterator[Show]:
    columns = (
        TextColumn("[bold]{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _FailureColumn(),
        _SpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err) as progress:
        task = progress.add_task(job.status, total=job.request_counts.total or None, failed=0)

        def show(job: "Job") -> None:
            counts = job.request_counts
            progress.update(
                task,
                description=job.status,
                total=counts.total or None,
                completed=counts.completed + counts.failed,
                failed=counts.failed,
            )

        yield show


class _Lines:
    """Prints a line whenever the status changes or another tenth of the requests is done."""

    def __init__(self) -> None:
        self._printed: tuple[str, int] | None = None

    def __call__(self, job: "Job") -> None:
        counts = job.request_counts
        done = counts.completed + counts.failed
        state = (str(job.status), done * _LINES_PER_JOB // counts.total if counts.total else 0)
        if state != self._printed:
            self._printed = state
            err.print(f"{job.status}: {done} of {counts.total} requests done, {counts.failed} failed")
