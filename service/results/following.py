"""Following jobs: their events as they happen, and one look at the server for all who wait for news."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, TypeVar

from fastapi import APIRouter, Header
from sse_starlette import EventSourceResponse, ServerSentEvent

from jobs.errors import JobNotFoundError, ServerUnavailableError
from jobs.news import JobNews, Mark
from jobs.registry import JobEvent, JobRegistry
from service.http import examples
from service.http.openapi import example, problems
from service.http.parameters import BEGINNING, CURSOR, JobId, Registry, Stopping, part
from service.operations.instrumentation import CurrentInstrumentation

router = APIRouter(prefix="/v1/jobs/{job_id}/events", tags=["results"])
Item = TypeVar("Item")


class Followers:
    """Everybody who waits for news of a job. `pause_seconds` lie at least between two times that somebody is woken."""

    def __init__(self, news: JobNews, pause_seconds: float) -> None:
        self._news = news
        self._pause_seconds = pause_seconds
        self._known: dict[str, Mark] = {}
        self._waiting: dict[str, set[asyncio.Event]] = {}
        self._anybody = asyncio.Event()

    @asynccontextmanager
    async def of(self, job_id: str) -> AsyncIterator[asyncio.Event]:
        """Give an event that is set whenever there may be more of the job than at the time of this call."""
        event = asyncio.Event()
        known = await self._news.marks([job_id])
        self._known.setdefault(job_id, known[job_id])
        self._waiting.setdefault(job_id, set()).add(event)
        self._anybody.set()
        try:
            yield event
        finally:
            self._waiting[job_id].discard(event)
            if not self._waiting[job_id]:
                del self._waiting[job_id], self._known[job_id]

    async def run(self) -> None:
        """Look for news as long as somebody waits for them; to be run again when it fails."""
        while True:
            if not self._known:
                self._anybody.clear()
                await self._anybody.wait()
            if told := await self._news.wait(self._known, self._pause_seconds):
                await self._wake(told)
                await asyncio.sleep(self._pause_seconds)

    async def _wake(self, job_ids: set[str]) -> None:
        # Marked before they are woken, so that what comes while they read wakes them again.
        for job_id, mark in (await self._news.marks(job_ids)).items():
            if job_id in self._known:
                self._known[job_id] = mark
                for event in self._waiting[job_id]:
                    event.set()


class Watching(JobRegistry):
    """A registry over connections of its own: a watcher blocks one while it waits, and must not block a submission."""


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
    *,
    registry: Registry,
    watching: Annotated[Watching, part(Watching)],
    instrumentation: CurrentInstrumentation,
    stopping: Stopping,
    job_id: JobId,
    last_event_id: Annotated[
        str | None,
        Header(pattern=CURSOR, description="id of the last event that is known"),
    ] = None,
) -> EventSourceResponse:
    """Send `status` and `progress` events with the job's status and request counts; ends when the job is final."""
    await registry.get(job_id)
    events = _until_stopped(watching.events(job_id, last_event_id or BEGINNING), stopping)
    return EventSourceResponse(instrumentation.open_stream("events", _sent(events)))


async def _sent(events: AsyncIterator[JobEvent]) -> AsyncIterator[ServerSentEvent]:
    async for event in events:
        yield ServerSentEvent(json.dumps(event.data), event=event.kind, id=event.id)


async def _until_stopped(source: AsyncIterator[Item], stopping: asyncio.Event) -> AsyncIterator[Item]:
    """Pass on what `source` yields; ends at once when `stopping` is set, also while the source is waiting."""
    stopped = asyncio.ensure_future(stopping.wait())
    try:
        while not stopping.is_set():
            following = asyncio.ensure_future(_next(source))
            try:
                await asyncio.wait({following, stopped}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                if not following.done():
                    following.cancel()
                    await asyncio.wait({following})
            if following.cancelled():
                return
            for item in following.result():
                yield item
                break
            else:
                return
    finally:
        stopped.cancel()


async def _next(source: AsyncIterator[Item]) -> tuple[Item, ...]:
    # A tuple, because StopAsyncIteration cannot leave a task.
    async for item in source:
        return (item,)
    return ()
