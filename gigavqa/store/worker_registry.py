"""Registry of workers: each announces itself again and again, and expires when it falls silent."""

from datetime import datetime
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from gigavqa.contract.base import Contract
from gigavqa.contract.responses import EngineInfo
from gigavqa.store.redis_keys import KEYS

if TYPE_CHECKING:
    from redis.asyncio import Redis


class EnginePhase(Contract):
    """The phase of an engine that starts, and the share of it that is done where that is known."""

    name: str = Field(examples=["reading weights", "profiling memory", "warming up"])
    done_bytes: int | None = None
    total_bytes: int | None = None

    def __str__(self) -> str:
        """In words: the phase, with its share or its bytes."""
        if self.done_bytes is None:
            return self.name
        if not self.total_bytes:
            return f"{self.name}, {self.done_bytes / 2**30:.1f} GiB so far"
        return f"{self.name}, {100 * self.done_bytes // self.total_bytes} % of {self.total_bytes / 2**30:.1f} GiB"


class WorkerStatus(Contract):
    """The status that a worker announces."""

    worker: str
    models: tuple[str, ...] = Field(description="models that it serves, in time slices when there are several")
    loaded: str | None = Field(default=None, description="the model in its engine; none while it starts or switches")
    state: Literal["starting", "ready", "switching", "draining"]
    phase: EnginePhase | None = Field(default=None, description="how far an engine is that starts")
    running: int = Field(default=0, description="requests that the engine is generating")
    waiting: int = Field(default=0, description="requests that are claimed and not yet generating")
    device: str = "cpu"
    engine: EngineInfo | None = None
    engine_seconds: dict[str, float] = Field(
        default={},
        description="seconds since its start that its engine was busy, waited for pixels, was idle, or loading",
    )
    metrics_url: str | None = None
    sources: tuple[str, ...] = Field(default=(), description="sources that its chats may search, besides corpora")
    since: datetime = Field(description="start of the worker")


class WorkerRegistry:
    """The announcements of all workers."""

    def __init__(self, redis: "Redis") -> None:
        self._redis = redis

    async def announce(self, status: WorkerStatus, ttl: float = 15.0) -> None:
        """Show the worker for `ttl` seconds; to be repeated well within them."""
        async with self._redis.pipeline() as pipeline:
            pipeline.set(KEYS.worker(status.worker), status.model_dump_json(), px=max(1, int(ttl * 1000)))
            pipeline.sadd(KEYS.workers(), status.worker)
            await pipeline.execute()

    async def workers(self) -> list[WorkerStatus]:
        """Return the workers that announced themselves within their time to live, by name."""
        names = sorted(name.decode() for name in await self._redis.smembers(KEYS.workers()))
        if not names:
            return []
        found = await self._redis.mget([KEYS.worker(name) for name in names])
        if silent := [name for name, status in zip(names, found, strict=True) if status is None]:
            await self._redis.srem(KEYS.workers(), *silent)
        return [WorkerStatus.model_validate_json(status) for status in found if status is not None]

    async def withdraw(self, worker: str) -> None:
        """Forget a worker that ended."""
        async with self._redis.pipeline() as pipeline:
            pipeline.delete(KEYS.worker(worker))
            pipeline.srem(KEYS.workers(), worker)
            await pipeline.execute()
