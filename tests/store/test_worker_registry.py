"""Workers are seen while they announce themselves."""

from redis.asyncio import Redis

from gigavqa.store.redis_keys import KEYS
from gigavqa.store.worker_registry import WorkerRegistry, WorkerStatus
from tests.store.examples import MODEL, NOW
from tests.waiting import async_wait_until


def status(worker: str) -> WorkerStatus:
    """The announcement of a worker."""
    return WorkerStatus(worker=worker, models=(MODEL,), state="ready", running=3, since=NOW)


async def test_workers_are_listed_as_they_announced_themselves(redis: Redis) -> None:
    """By name, with all that they said."""
    worker_registry = WorkerRegistry(redis)
    await worker_registry.announce(status("b"), ttl=60)
    await worker_registry.announce(status("a"), ttl=60)
    assert await worker_registry.workers() == [status("a"), status("b")]


async def test_a_silent_worker_is_forgotten(redis: Redis) -> None:
    """Its time to live ends, and its name goes with the next look."""
    worker_registry = WorkerRegistry(redis)
    await worker_registry.announce(status("dead"), ttl=0.1)

    async def forgotten() -> bool:
        return await worker_registry.workers() == []

    await async_wait_until(forgotten, what="the end of the announcement")
    assert not await redis.exists(KEYS.workers())


async def test_a_worker_that_ends_withdraws(redis: Redis) -> None:
    """It is gone at once."""
    worker_registry = WorkerRegistry(redis)
    await worker_registry.announce(status("w"), ttl=60)
    await worker_registry.withdraw("w")
    assert await worker_registry.workers() == []
