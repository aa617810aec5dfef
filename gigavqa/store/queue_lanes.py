"""The streams that bundles of a model lie in, and the group of consumers that each has."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Literal, TypeVar

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from gigavqa.store.connection import BLOCK_SECONDS
from gigavqa.store.redis_keys import KEYS, PRIORITIES

GROUP = "workers"

AFFINITY_PRIORITY: Literal["batch"] = "batch"
"""Nobody waits for another worker's caches on the interactive lane."""
_ReplyT = TypeVar("_ReplyT")


class QueueLanes:
    """Lanes of models: streams by priority, and one of bundles on probation."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._grouped: set[str] = set()

    def of(self, model: str) -> list[str]:
        """Return the lanes of a model: by priority, and the one of probation."""
        return [*(KEYS.queue(model, priority) for priority in PRIORITIES), KEYS.probation(model)]

    def forget(self) -> None:
        """Take no group for granted any more."""
        self._grouped.clear()

    async def ensure_groups(self, models: Iterable[str]) -> None:
        """Make the lanes of these models, each with its group of consumers, where there are none."""
        new = [lane for model in models for lane in self.of(model) if lane not in self._grouped]
        if not new:
            return
        async with self._redis.pipeline(transaction=False) as pipeline:
            for lane in new:
                pipeline.xgroup_create(lane, GROUP, id="0", mkstream=True)
            for lane, reply in zip(new, await pipeline.execute(raise_on_error=False), strict=True):
                if isinstance(reply, Exception) and "BUSYGROUP" not in str(reply):
                    raise reply
                self._grouped.add(lane)

    async def with_groups(self, models: Sequence[str], call: Callable[[], Awaitable[_ReplyT]]) -> _ReplyT:
        """Make a call that needs the groups of these models; once more where the state store has lost them."""
        await self.ensure_groups(models)
        try:
            return await call()
        except ResponseError as error:
            if "NOGROUP" not in str(error):
                raise
            self.forget()  # the state store came back with less than it had: another, or one that lost power
            await self.ensure_groups(models)
            return await call()

    async def newest(self, models: Sequence[str]) -> dict[str, bytes]:
        """Return the newest entry of each lane of these models, by lane."""
        lanes = [lane for model in models for lane in self.of(model)]
        async with self._redis.pipeline(transaction=False) as pipeline:
            for lane in lanes:
                pipeline.xrevrange(lane, count=1)
            newest = await pipeline.execute()
        return {lane: rows[0][0] if rows else b"0-0" for lane, rows in zip(lanes, newest, strict=True)}

    async def wait_for_news(self, seen: dict[str, bytes], seconds: float) -> None:
        """Wait until there is an entry newer than those seen, or for so long at most."""
        # Neither an expired lease nor a hand-back adds an entry, so the wait is cut into slices.
        slice_seconds = min(seconds, 0.5, BLOCK_SECONDS)
        await self._redis.xread(seen, count=1, block=max(1, int(slice_seconds * 1000)))
