"""Follows a job by its server-sent events until it ends, and says meanwhile what it waits for."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import httpx
import typer

from gigavqa.cli.client import TerminalClient
from gigavqa.cli.console import err
from gigavqa.cli.errors import JobUnsuccessfulError
from gigavqa.cli.progress import failure_lines, open_progress, summary_lines
from gigavqa.client.errors import GigavqaError
from gigavqa.contract.jobs import Job, JobStatus
from gigavqa.runtime.exit_statuses import ExitStatus
from gigavqa.store.worker_registry import WorkerStatus

_LOOK_SECONDS = 2.0
_GATEWAY_GONE = "the gateway does not answer; waiting for it"


def follow(gateway: TerminalClient, job: Job) -> Job:
    """Show a job's progress until its final status, then what it took, and return the job as it ended."""
    with open_progress(job) as show:
        if not job.status.final:
            with report_obstacles(gateway, job.spec.models, show.note):
                for now in gateway.watch(job.id):
                    show(job := now)
        show(job)
    for line in summary_lines(job):
        err.print(line)
    return job


@contextmanager
def exit_on_interrupt(job: Job) -> Iterator[None]:
    """Say what Ctrl-C means, and end with status 130 when it comes."""
    come_back = f"job {job.id} goes on; `gigavqa watch {job.id}` comes back to it"
    if err.is_terminal and not job.status.final:
        err.print("Ctrl-C leaves the job running")
    try:
        yield
    except KeyboardInterrupt:
        err.print(come_back)
        raise typer.Exit(ExitStatus.INTERRUPTED) from None


def suggest_next(job: Job) -> None:
    """Name the command that shows what a job has brought."""
    if job.request_counts.completed:
        err.print(f"next      gigavqa report {job.id}")


def require_success(job: Job) -> None:
    """Raise JobUnsuccessfulError unless every request of the job is answered."""
    if job.status is JobStatus.CANCELLED:
        raise JobUnsuccessfulError(f"job {job.id} was cancelled; `gigavqa retry {job.id}` goes on with it")
    reasons = "".join(f"\n  {error}" for error in job.errors)
    if job.status is not JobStatus.COMPLETED:
        raise JobUnsuccessfulError(f"job {job.id} ended as {job.status}{reasons}")
    if job.errors:
        raise JobUnsuccessfulError(f"job {job.id} is as it was: nothing of it was asked again{reasons}")
    if job.request_counts.failed:
        raise JobUnsuccessfulError("\n".join(failure_lines(job)))


def obstacles(models: Sequence[str], workers: Sequence[WorkerStatus]) -> Iterator[str]:
    """Say for each model that nobody can ask now what it waits for."""
    for model in dict.fromkeys(models):
        serving = [worker for worker in workers if model in worker.models]
        if not serving:
            yield (
                f"no worker serves {model}: its requests wait. `gigavqa up --model {model} --port 0` starts one beside "
                "this service"
            )
        elif all(worker.state == "starting" for worker in serving):
            phase = next((worker.phase.name for worker in serving if worker.phase), "the engine")
            yield f"the worker of {model} starts: {phase}"
        elif len(phases := [worker.phase.name for worker in serving if worker.phase]) == len(serving):
            yield f"the worker of {model} answers nothing: {phases[0]}"


@contextmanager
def report_obstacles(gateway: TerminalClient, models: Sequence[str], say: Callable[[str], None]) -> Iterator[None]:
    """Say what a job waits for, as long as the block lasts: each thing once, until it has changed."""
    ended = threading.Event()

    def look() -> None:
        told: list[str] = []
        while not ended.is_set():
            try:
                found = list(obstacles(models, gateway.workers()))
                if _GATEWAY_GONE in told:
                    say("the gateway answers again")
            except (GigavqaError, httpx.TransportError):
                found = list(dict.fromkeys([*told, _GATEWAY_GONE]))
            for line in found:
                if line not in told:
                    say(line)
            told = found
            ended.wait(_LOOK_SECONDS)

    looking = threading.Thread(target=look, name="obstacles", daemon=True)
    looking.start()
    try:
        yield
    finally:
        ended.set()
        looking.join(_LOOK_SECONDS)
