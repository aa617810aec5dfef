"""Retries: jobs that have ended, and are asked again what failed in them or was left unanswered."""

import secrets
from dataclasses import dataclass

from redis.asyncio import Redis

from gigavqa.contract.errors import JobNotFoundError, JobNotRetryableError
from gigavqa.contract.jobs import Job
from gigavqa.store.api_keys import NO_OWNER, Owner
from gigavqa.store.job_registry import JobRegistry, require_waiting_room
from gigavqa.store.lua_scripts import LuaScripts
from gigavqa.store.redis_keys import KEYS


@dataclass(frozen=True)
class Retry:
    """A retry of a job: its number, whether answers that are none are asked too, and the cursor it begins after."""

    number: int
    empty: bool
    after: str

    def recorded(self, cursor: str) -> bool:
        """Return whether the response of a cursor is the retry's own."""
        return _order(cursor) > _order(self.after)


class JobRetries:
    """Takes up jobs that have ended."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._calls = LuaScripts(redis)
        self._registry = JobRegistry(redis)

    async def reopen(
        self, job_id: str, *, empty: bool = False, owner: Owner = NO_OWNER, waiting_limit: int | None = None
    ) -> Job:
        """Put a completed or cancelled job into status `validating`; it keeps its responses until bundles are appended.

        With a `waiting_limit` it waits to be queued, as a new job does that is created with one. Raises
        JobNotFoundError, JobNotRetryableError, QueueFullError and QuotaExceededError.
        """
        status = await self._calls.reopen(
            job_id,
            token=secrets.token_hex(8),
            empty=empty,
            waiting_limits=(waiting_limit, None if waiting_limit is None else owner.waiting_jobs),
        )
        if status == "missing":
            raise JobNotFoundError(f"there is no job {job_id}")
        require_waiting_room(status, owner, waiting_limit)
        if status != "reopened":
            raise JobNotRetryableError(f"job {job_id} is {status}; only completed and cancelled jobs are retried")
        return await self._registry.get(job_id)

    async def of(self, job_id: str) -> Retry | None:
        """Return what is being asked again of a job that is `validating`; None for one that was not asked before."""
        number, empty, after = await self._redis.hmget(KEYS.job(job_id), ["retries", "retry_empty", "retry_after"])
        return Retry(int(number), bool(empty), after.decode()) if after else None


def _order(cursor: str) -> tuple[int, ...]:
    return tuple(map(int, cursor.split("-")))
