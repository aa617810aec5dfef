"""`gigavqa watch`: follows a job by its server-sent events, as a progress bar or as plain lines."""

import json as json_text
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from cli.arguments import DEFAULT_URL, JobId, Json, Url
from cli.console import print_json
from cli.errors import GatewayUnreachableError, JobUnsuccessfulError

if TYPE_CHECKING:
    from cli.client import Gateway
    from jobs.models import Job

_PATIENCE_SECONDS = 60.0
_PAUSE_SECONDS = 0.5


def watch(job_id: JobId = "latest", json: Json = False, url: Url = DEFAULT_URL) -> None:
    """Follow a job until it ends: requests done, failures, items per second, time left.

    Lost connections are taken up where they broke off. Leaving (Ctrl-C) does not touch the job.
    Ends with status 5 when the job does not complete, or completes with failures.

    \b
    gigavqa watch
    gigavqa watch latest --json | jq .request_counts
    """
    from cli.client import Gateway

    with Gateway(url) as gateway:
        job = follow(gateway, gateway.job(job_id))
    if json:
        print_json(job.model_dump(mode="json"))
    require_success(job)


def follow(gateway: "Gateway", job: "Job") -> "Job":
    """Show a job's progress until its final status, and return the job as it ended."""
    from cli.progress import open_progress

    with open_progress(job) as show:
        if not job.status.final:
            for data in events(gateway, job.id):
                show(_updated(job, data))
            job = gateway.job(job.id)
        show(job)
    return job


def require_success(job: "Job") -> None:
    """Raise JobUnsuccessfulError unless every request of the job is answered."""
    from jobs.models import JobStatus

    if job.status is not JobStatus.COMPLETED:
        reasons = "".join(f"\n  {error}" for error in job.errors)
        raise JobUnsuccessfulError(f"job {job.id} ended as {job.status}{reasons}")
    if job.request_counts.failed:
        raise JobUnsuccessfulError(
            f"{job.request_counts.failed} of {job.request_counts.total} requests failed; see "
            f"`gigavqa results {job.id} --status failed`, ask them again with `gigavqa retry {job.id}`"
        )


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
