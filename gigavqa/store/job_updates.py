"""Wait for updates of several jobs: one read of the state store for any number of jobs and watchers."""

from collections.abc import Collection, Mapping

from redis.asyncio import Redis

from gigavqa.store.connection import BLOCK_SECONDS
from gigavqa.store.redis_keys import KEYS

JobPosition = tuple[bytes, bytes]
"""The newest response and the newest event of a job that are known."""


class JobUpdates:
    """Waits for responses and events of jobs."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def marks(self, job_ids: Collection[str]) -> dict[str, JobPosition]:
        """Return the newest response and event of each job; jobs that do not exist have none."""
        async with self._redis.pipeline(transaction=False) as pipeline:
            for stream in (stream for job_id in job_ids for stream in self._streams(job_id)):
                pipeline.xrevrange(stream, count=1)
            newest = [rows[0][0] if rows else b"0-0" for rows in await pipeline.execute()]
        return dict(zip(job_ids, zip(newest[::2], newest[1::2], strict=True), strict=True))

    async def wait(self, known: Mapping[str, JobPosition], seconds: float) -> set[str]:
        """Return the jobs of which there is more than is `known`; waits up to `seconds` while there is nothing."""
        streams = {
            stream: mark
            for job_id, marks in known.items()
            for stream, mark in zip(self._streams(job_id), marks, strict=True)
        }
        block = max(1, int(min(seconds, BLOCK_SECONDS) * 1000))
        told = {stream.decode() for stream, _ in await self._redis.xread(streams, count=1, block=block)}
        return {job_id for job_id in known if told.intersection(self._streams(job_id))}

    def _streams(self, job_id: str) -> tuple[str, str]:
        return KEYS.results(job_id), KEYS.events(job_id)
