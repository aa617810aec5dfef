"""`gigavqa watch`: follows a job by its server-sent events, as a progress bar or as plain lines."""

import json as json_text
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from cli.arguments import DEFAULT_URL, JobId, Json, Url
from cli.console import err, print_json
from cli.errors import GatewayUnreachableError, JobUnsuccessfulError

if TYPE_CHECKING:
    from cli.client import Gateway
    from jobs.models import Job

_PATIENCE_SECONDS = 60.0
_PAUSE_SECONDS = 0.5
_INTERRUPTED = 130


def watch(job_id: JobId = "latest", json: Json = False, url: Url = DEFAULT_URL) -> None:
    """Follow a job until it ends: requests done, failures, requests per second, time left; then what it took.

    Lost connections are taken up where they broke off. Leaving (Ctrl-C) does not touch the job. What it waits for is
    told: a model that no worker serves, an engine that starts.
    Ends with status 5 when the job does not complete, or completes with failures.

    \b
    gigavqa watch
    gigavqa watch latest --json | jq .request_counts
    """
    from cli.client import Gateway

    with Gateway(url) as gateway, leaving(job := gateway.job(job_id)):
        job = follow(gateway, job)
    say_next(job)
    if json:
        print_json(job.model_dump(mode="json"))
    require_success(job)


def follow(gateway: "Gateway", job: "Job") -> "Job":
    """Show a job's progress until its final status, then what it took, and return the job as it ended."""
    from cli.progress import open_progress
    from cli.summary import summary
    from cli.waiting import obstacles_told

    with open_progress(job) as show:
        if not job.status.final:
            with obstacles_told(gateway, job.spec.models, show.note):
                for data in events(gateway, job.id):
                    show(_updated(job, data))
            job = gateway.job(job.id)
        show(job)
    for line in summary(job):
        err.print(line)
    return job


@contextmanager
def leaving(job: "Job") -> Iterator[None]:
    """Say what Ctrl-C means, and end with status 130 when it comes."""
    come_back = f"job {job.id} goes on; `gigavqa watch {job.id}` comes back to it"
    if err.is_terminal and not job.status.final:
        err.print("Ctrl-C leaves the job running")
    try:
        yield
    except KeyboardInterrupt:
        err.print(come_back)
        raise typer.Exit(_INTERRUPTED) from None


def say_next(job: "Job") -> None:
    """Name the command that shows what a job has brought."""
    if job.request_counts.completed:
        err.print(f"next      gigavqa report {job.id}")


def require_success(job: "Job") -> None:
    """Raise JobUnsuccessfulError unless every request of the job is answered."""
    from cli.summary import failure_lines
    from jobs.models import JobStatus

    if job.status is JobStatus.CANCELLED:
        raise JobUnsuccessfulError(f"job {job.id} was cancelled; `gigavqa retry {job.id}` goes on with it")
    if job.status is not JobStatus.COMPLETED:
        reasons = "".join(f"\n  {error}" for error in job.errors)
        raise JobUnsuccessfulError(f"job {job.id} ended as {job.status}{reasons}")
    if job.request_counts.failed:
        raise JobUnsuccessfulError("\n".join(failure_lines(job)))


def events(gateway: "Gateway", job_id: str) -> Iterator[dict[str, Any]]:
    """Data of a job's events until its last one; a lost connection is opened again behind the last event seen.

    Raises GatewayUnreachableError when no gateway has answered for a minute.
    """
    import httpx

    last_id: str | None = None
    given_up_at = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            for event_id, data in _stream(gateway, job_id, last_id):
                last_id, given_up_at = event_id or last_id, time.monotonic() + _PATIENCE_SECONDS
                yield data
        except httpx.TransportError as error:
            if time.monotonic() > given_up_at:
                raise GatewayUnreachableError(f"the gateway at {gateway.url} is gone: {error}") from error
        else:
            # The stream also ends when the gateway stops; only the job says whether it is over.
            if gateway.job(job_id).status.final:
                return
        time.sleep(_PAUSE_SECONDS)


def _stream(gateway: "Gateway", job_id: str, after: str | None) -> Iterator[tuple[str, dict[str, Any]]]:
    from httpx_sse import EventSource

    with gateway.events(job_id, after) as response:
        for event in EventSource(response).iter_sse():
            if event.data:  # pings have none
                yield event.id, json_text.loads(event.data)


def _updated(job: "Job", data: dict[str, Any]) -> "Job":
    return job.model_validate(job.model_dump() | {name: data[name] for name in ("status", "request_counts")})
