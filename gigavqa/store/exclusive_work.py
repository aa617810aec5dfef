"""Work that one process at a time does, and another soon after the death of that one."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from redis.asyncio import Redis
from redis.asyncio.lock import Lock
from redis.exceptions import LockError, RedisError


@asynccontextmanager
async def exclusively(redis: Redis, key: str, seconds: float) -> AsyncIterator[bool]:
    """Hold a lock; false where another process has it. One that dies with it leaves it after so many seconds.

    A state store that comes back without it gives it to another: what is done must be repeatable.
    """
    lock = redis.lock(key, timeout=seconds)
    if not await lock.acquire(blocking=False):
        yield False
        return
    renewal = asyncio.create_task(_renew(lock, seconds / 3))
    try:
        yield True
    finally:
        renewal.cancel()
        with contextlib.suppress(LockError):
            await asyncio.shield(lock.release())


async def _renew(lock: Lock, seconds: float) -> None:
    while True:
        await asyncio.sleep(seconds)
        with contextlib.suppress(RedisError):
            await lock.reacquire()
