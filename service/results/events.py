"""Following jobs: one look at the server for all who wait for news, and events that are read once for all of them."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import APIRouter, Header
from sse_starlette import EventSourceResponse, ServerSentEvent

from gigavqa.contract.errors import JobNotFoundError, QuotaExceededError
from gigavqa.contract.jobs import JobStatus
from gigavqa.runtime.errors import StateStoreUnavailableError
from gigavqa.service.http import examples
from gigavqa.service.http.auth import StreamSlot
from gigavqa.service.http.openapi import example, problem_responses
from gigavqa.service.http.parameters import BEGINNING, CURSOR, JobId, Registry, Stopping, component
from gigavqa.service.operations.instrumentation import CurrentInstrumentation
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.job_rows import JobEvent
from gigavqa.store.job_updates import JobPosition, JobUpdates

router = APIRouter(prefix="/v1/jobs/{job_id}/events", tags=["results"])
_RECHECK_SECONDS = 30.0  # a job that is gone without a word is missed by then


@dataclass(eq=False)
class JobFollower:
    """Somebody who waits for news of one job.

    `news` is set whenever there may be some. `events` came since they were taken. `ended` tells that the job may have
    ended, which its status says.
    """

    news: asyncio.Event = field(default_factory=asyncio.Event)
    events: list[JobEvent] = field(default_factory=list)
    ended: bool = False

    def take(self) -> list[JobEvent]:
        """Take the events that came."""
        taken, self.events = self.events, []
        return taken


class JobFollowers:
    """Everybody who waits for news of a job. `pause_seconds` lie at least between two times that somebody is woken."""

    def __init__(self, news: JobUpdates, registry: JobRegistry, pause_seconds: float) -> None:
        self._news = news
        self._registry = registry
        self._pause_seconds = pause_seconds
        self._known: dict[str, JobPosition] = {}
        self._waiting: dict[str, set[JobFollower]] = {}
        self._anybody = asyncio.Event()

    @asynccontextmanager
    async def of(self, job_id: str) -> AsyncIterator[JobFollower]:
        """Follow a job: its news, and all its events, since the time of this call."""
        follower = JobFollower()
        if job_id not in self._known:
            known = await self._news.marks([job_id])
            self._known.setdefault(job_id, known[job_id])
        self._waiting.setdefault(job_id, set()).add(follower)
        self._anybody.set()
        try:
            yield follower
        finally:
            self._waiting[job_id].discard(follower)
            if not self._waiting[job_id]:
                del self._waiting[job_id], self._known[job_id]

    async def run(self) -> None:
        """Look for news as long as somebody waits for them; to be run again when it fails."""
        look_at = time.monotonic() + _RECHECK_SECONDS
        while True:
            if not self._known:
                self._anybody.clear()
                await self._anybody.wait()
            if told := await self._news.wait(self._known, self._pause_seconds):
                await self._wake(told)
                await asyncio.sleep(self._pause_seconds)
            if time.monotonic() >= look_at:
                await self._look_for_ends()
                look_at = time.monotonic() + _RECHECK_SECONDS

    async def _wake(self, job_ids: set[str]) -> None:
        for job_id, (newest, _) in (await self._news.marks(job_ids)).items():
            if job_id in self._known:
                _, last = self._known[job_id]
                self._tell(job_id, newest, await self._registry.events(job_id, last.decode()))

    def _tell(self, job_id: str, newest: bytes, events: Sequence[JobEvent]) -> None:
        """Pass on events, which were read once for all; what comes while they are told is news again."""
        if job_id not in self._known:  # the last one left meanwhile
            return
        _, last = self._known[job_id]
        self._known[job_id] = newest, events[-1].id.encode() if events else last
        for follower in self._waiting[job_id]:
            follower.events += events
            follower.ended |= any(_is_final(event) for event in events)
            follower.news.set()

    async def _look_for_ends(self) -> None:
        for job_id in list(self._known):
            status = await self._registry.status(job_id)
            if status is None or status.final:
                for follower in self._waiting.get(job_id, ()):
                    follower.ended = True
                    follower.news.set()


def _is_final(event: JobEvent) -> bool:
    return event.kind == "status" and JobStatus(event.data["status"]).final


@router.get(
    "",
    summary="Watch a job",
    response_class=EventSourceResponse,
    dependencies=[StreamSlot],
    responses={
        200: example(examples.EVENTS, "text/event-stream", "Server-sent events, until the job is final"),
        **problem_responses(JobNotFoundError, QuotaExceededError, StateStoreUnavailableError),
    },
)
async def watch_job(
    *,
    registry: Registry,
    followers: Annotated[JobFollowers, component(JobFollowers)],
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
    events = follow_events(registry, followers, job_id, after=last_event_id or BEGINNING, stopping=stopping)
    return EventSourceResponse(instrumentation.open_stream("events", _server_sent_events(events)))


async def follow_events(
    registry: JobRegistry, followers: JobFollowers, job_id: str, *, after: str, stopping: asyncio.Event
) -> AsyncIterator[JobEvent]:
    """Yield a job's events behind the id `after` and those to come, until it is final or gone, or `stopping` is set."""
    async with followers.of(job_id) as follower:
        while not stopping.is_set():
            follower.ended = False
            # The status is read before the events: a final one means that no further event will come.
            status = await registry.status(job_id)
            while events := await registry.events(job_id, after):
                for event in events:
                    after = event.id
                    yield event
            if status is None or status.final:
                return
            while not follower.ended and not stopping.is_set():
                await wait_for_either(follower.news, stopping)
                follower.news.clear()
                for event in follower.take():
                    if _event_order(event.id) > _event_order(after):
                        after = event.id
                        yield event


async def wait_for_either(first: asyncio.Event, second: asyncio.Event) -> None:
    """Wait until one of the events is set."""
    waiting = {asyncio.ensure_future(event.wait()) for event in (first, second)}
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for one in waiting:
            one.cancel()


def _event_order(event_id: str) -> tuple[int, ...]:
    return tuple(map(int, event_id.split("-")))


async def _server_sent_events(events: AsyncIterator[JobEvent]) -> AsyncIterator[ServerSentEvent]:
    async for event in events:
        yield ServerSentEvent(json.dumps(event.data), event=event.kind, id=event.id)
