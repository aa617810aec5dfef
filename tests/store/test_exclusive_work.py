"""One process at a time has a lock."""

import asyncio
import time

from redis.asyncio import Redis

from gigavqa.store.exclusive_work import exclusively
from tests.waiting import async_wait_until

SECONDS = 1.0


async def test_a_lock_is_held_as_long_as_the_work_takes(redis: Redis) -> None:
    """Longer than a dead process leaves it; the next one has it at once when the work ends."""
    began = time.monotonic()

    async def is_refused_for_long() -> bool:
        async with exclusively(redis, "one", SECONDS) as theirs:
            assert not theirs
        return time.monotonic() - began > 2 * SECONDS

    async with exclusively(redis, "one", SECONDS) as mine:
        assert mine
        await async_wait_until(is_refused_for_long, what="the time of two locks")
        async with exclusively(redis, "two", SECONDS) as theirs:
            assert theirs
    async with exclusively(redis, "one", SECONDS) as theirs:
        assert theirs
    assert await redis.keys("*") == []


async def test_the_lock_of_the_dead_passes_to_another(redis: Redis) -> None:
    """Nobody renews it."""
    await redis.set("one", "dead", px=200)

    async def is_mine() -> bool:
        async with exclusively(redis, "one", SECONDS) as mine:
            return mine

    assert not await is_mine()
    await async_wait_until(is_mine, what="the lock")


async def test_whoever_lost_a_lock_leaves_the_next_ones_alone(redis: Redis) -> None:
    """A server came back without it, and another took it meanwhile."""
    taken, ended = asyncio.Event(), asyncio.Event()

    async def take() -> None:
        async with exclusively(redis, "one", SECONDS) as mine:
            assert mine
            taken.set()
            await ended.wait()

    async with exclusively(redis, "one", SECONDS):
        await redis.flushall()
        other = asyncio.create_task(take())
        await taken.wait()
    assert await redis.exists("one")
    ended.set()
    await other
