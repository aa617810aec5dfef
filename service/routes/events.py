"""Events: the progress of a job as server-sent events."""

import json
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Header
from sse_starlette import EventSourceResponse, ServerSentEvent

from jobs.errors import JobNotFoundError, ServerUnavailableError
from jobs.registry import JobEvent
from service.gateway import CurrentGateway
from service.http import examples
from service.http.openapi import example, problems
from service.http.parameters import CURSOR, JobId
from service.http.streams import until_stopped
from service.results.responses import BEGINNING

router = APIRouter(prefix="/v1/jobs/{job_id}/events", tags=["results"])


@router.get(
    "",
    summary="Watch a job",
    response_class=EventSourceResponse,
    responses={
        200: example(examples.EVENTS, "text/event-stream", "Server-sent events, until the job is final"),
        **problems(JobNotFoundError, ServerUnavailableError),
    },
)
async def watch_job(
    gateway: CurrentGateway,
    job_id: JobId,
    last_event_id: Annotated[
        str | None,
        Header(pattern=CURSOR, description="id of the last event that is known"),
    ] = None,
) -> EventSourceResponse:
    """Send `status` and `progress` events with the job's status and request counts; ends when the job is final."""
    await gateway.registry.get(job_id)
    events = until_stopped(gateway.watching.events(job_id, last_event_id or BEGINNING), gateway.stopping)
    return EventSourceResponse(gateway.instrumentation.open_stream("events", _sent(events)))


async def _sent(events: AsyncIterator[JobEvent]) -> AsyncIterator[ServerSentEvent]:
    async for event in events:
        yield ServerSentEvent(json.dumps(event.data), event=event.kind, id=event.id)
