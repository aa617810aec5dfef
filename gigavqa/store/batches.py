"""Batches of chats, as OpenAI has them: each is a job that stands in no list, and what is told of it."""

import secrets
import time
from collections.abc import Sequence
from typing import Literal

from pydantic import Field
from redis.asyncio import Redis

from gigavqa.contract.base import Contract
from gigavqa.contract.errors import QueueFullError, QuotaExceededError
from gigavqa.contract.jobs import JobSpec
from gigavqa.store.api_keys import ALL_OWNERS
from gigavqa.store.lua_scripts import LuaScripts
from gigavqa.store.redis_keys import KEYS

BatchStatus = Literal[
    "validating", "failed", "in_progress", "finalizing", "completed", "expired", "cancelling", "cancelled"
]
FINAL_BATCH: frozenset[BatchStatus] = frozenset({"failed", "completed", "expired", "cancelled"})
RETENTION_SECONDS = 30 * 24 * 3600
"""How long a batch that has ended can be looked at, and its files where nothing else is asked for."""

_RETRY_AFTER_SECONDS = 60.0


class BatchFault(Contract):
    """Why a batch failed as a whole: a line of its input that is no request."""

    code: str
    message: str
    line: int | None = None
    param: str | None = None


class BatchCounts(Contract):
    """Lines of a batch by what became of them."""

    total: int = 0
    completed: int = 0
    failed: int = 0


class BatchUsage(Contract):
    """Tokens of all answers of a batch."""

    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0


class StoredBatch(Contract):
    """A batch. Its job has the same id. Times are in seconds; `owner` is empty where nobody is asked."""

    id: str
    endpoint: str
    input_file_id: str
    completion_window: str
    status: BatchStatus = "validating"
    created_at: int
    expires_at: int
    times: dict[str, int] = Field(default_factory=dict, description="when it came into each status, by the status")
    output_file_id: str | None = None
    error_file_id: str | None = None
    errors: tuple[BatchFault, ...] = ()
    counts: BatchCounts = BatchCounts()
    usage: BatchUsage | None = None
    model: str | None = None
    metadata: dict[str, str] | None = None
    output_expires_after: int | None = None
    owner: str = ""
    queued_limit: int | None = Field(default=None, description="most requests of the owner's in the queue")

    @property
    def final(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.status in FINAL_BATCH

    def turned(self, status: BatchStatus, **fields: object) -> "StoredBatch":
        """Return the batch in another status, since now."""
        return self.model_copy(update={"status": status, "times": {**self.times, status: int(time.time())}, **fields})


def new_batch_id() -> str:
    """Make the id of a batch."""
    return f"batch_{secrets.token_hex(12)}"


class BatchRegistry:
    """The batches of all owners. Any gateway may ask that a batch be cancelled."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._calls = LuaScripts(redis)

    async def add(self, batch: StoredBatch, *, limit: int, owners_limit: int | None = None) -> None:
        """Take a batch, to be worked on; so many may be, and so many of the owner's.

        Raises QueueFullError and QuotaExceededError.
        """
        added = await self._calls.add_batch(
            batch.id, batch.owner, batch.model_dump_json(), limit=limit, owners_limit=owners_limit
        )
        if added == "full":
            raise QueueFullError(f"{limit} batches are being played already", _RETRY_AFTER_SECONDS)
        if added == "quota":
            message = f"{owners_limit} batches of {batch.owner} are being played already, which is this key's limit"
            raise QuotaExceededError(message, _RETRY_AFTER_SECONDS)

    async def save(self, batch: StoredBatch) -> None:
        """Keep what became of a batch, in one step: whoever sees that it has ended finds its place free.

        For the gateway that works on it.
        """
        async with self._redis.pipeline() as pipeline:
            pipeline.hset(KEYS.batch(batch.id), "batch", batch.model_dump_json())
            if batch.final:
                pipeline.sadd(KEYS.ended_batches(), batch.id)
            for owner in (batch.owner, ALL_OWNERS):  # missing if the state store came back without the batch
                (pipeline.srem if batch.final else pipeline.sadd)(KEYS.open_batches(owner), batch.id)
                pipeline.zadd(KEYS.batches(owner), {batch.id: batch.created_at * 1_000_000}, nx=True)
            await pipeline.execute()

    async def get(self, batch_id: str, owner: str) -> StoredBatch | None:
        """Return a batch of an owner's, or of ALL, `cancelling` from when that is asked for; or None."""
        found = await self._read(batch_id)
        return found if found and owner in {ALL_OWNERS, found.owner} else None

    async def cancel(self, batch_id: str) -> None:
        """Ask that a batch be cancelled."""
        await self._redis.hsetnx(KEYS.batch(batch_id), "cancelling_at", int(time.time()))

    async def is_cancelled(self, batch_id: str) -> bool:
        """Return whether that is asked for."""
        return bool(await self._redis.hexists(KEYS.batch(batch_id), "cancelling_at"))

    async def list(self, owner: str, *, after: str | None, limit: int) -> tuple[Sequence[StoredBatch], bool]:
        """Return up to `limit` batches of an owner's, or of ALL, behind `after`, newest first, and if there is more."""
        newest = "+inf"
        if after is not None and (score := await self._redis.zscore(KEYS.batches(owner), after)) is not None:
            newest = f"({int(score)}"
        ids = await self._redis.zrevrangebyscore(KEYS.batches(owner), newest, "-inf", 0, limit + 1)
        found = [await self._read(id_.decode()) for id_ in ids[:limit]]
        return [each for each in found if each], len(ids) > limit

    async def open(self) -> Sequence[str]:
        """Return the ids of the batches that are to be worked on, those among them of which only traces are left."""
        found = await self._redis.sunion(KEYS.open_batches(ALL_OWNERS), KEYS.ended_batches())
        return sorted(id_.decode() for id_ in found)

    async def close(self, batch: StoredBatch) -> None:
        """Work on a batch no more; it stays to be read for `RETENTION_SECONDS`."""
        ended = (time.time() - 2 * RETENTION_SECONDS) * 1_000_000
        async with self._redis.pipeline() as pipeline:
            pipeline.srem(KEYS.ended_batches(), batch.id)
            for owner in (batch.owner, ALL_OWNERS):
                pipeline.srem(KEYS.open_batches(owner), batch.id)  # where an earlier version let it end
                pipeline.zremrangebyscore(KEYS.batches(owner), "-inf", ended)
            pipeline.expire(KEYS.batch(batch.id), RETENTION_SECONDS)
            await pipeline.execute()

    async def open_job(self, batch: StoredBatch) -> None:
        """Make the job of a batch, which stands in no list; safe to repeat."""
        spec = JobSpec(dataset="", models=(batch.model or "",))
        told = spec.model_dump_json()
        await self._calls.open(batch.id, spec=told, kind="batch", owner=batch.owner, owners_limit=batch.queued_limit)

    async def _read(self, batch_id: str) -> StoredBatch | None:
        found, cancelling_at = await self._redis.hmget(KEYS.batch(batch_id), ["batch", "cancelling_at"])
        if not found:
            return None
        batch = StoredBatch.model_validate_json(found)
        if cancelling_at:
            times = {**batch.times, "cancelling": int(cancelling_at)}
            batch = batch.model_copy(update={"times": times})
        return batch
