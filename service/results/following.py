"""Wakes those who follow jobs: one look at the server for all of them, at most every so often."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from jobs.news import JobNews, Mark


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
