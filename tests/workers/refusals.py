"""A real server that refuses to write: because its memory is full, or because its disk is."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from redis.asyncio import Redis

from tests.waiting import async_wait_until

Refusal = Callable[[Redis, Path], AbstractAsyncContextManager[None]]


@asynccontextmanager
async def full_memory(redis: Redis, folder: Path) -> AsyncIterator[None]:
    """Refuse what takes memory (OOM); leases can still be renewed."""
    await redis.config_set("maxmemory", 100_000)
    try:
        yield
    finally:
        await redis.config_set("maxmemory", 0)


@asynccontextmanager
async def full_disk(redis: Redis, folder: Path) -> AsyncIterator[None]:
    """Refuse every write (MISCONF): the snapshot that the server was told to keep cannot be written to its folder."""
    (folder / "dump.rdb" / "in the way").mkdir(parents=True)
    await redis.config_set("save", "3600 1")
    await _snapshot(redis, "err")
    try:
        yield
    finally:
        (folder / "dump.rdb" / "in the way").rmdir()
        (folder / "dump.rdb").rmdir()
        await _snapshot(redis, "ok")
        await redis.config_set("save", "")


async def _snapshot(redis: Redis, outcome: str) -> None:
    await redis.bgsave()

    async def done() -> bool:
        return (await redis.info("persistence"))["rdb_last_bgsave_status"] == outcome

    await async_wait_until(done, what=f"a snapshot whose outcome is {outcome}")
