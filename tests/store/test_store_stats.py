"""What the server counts for operators: nothing falls, and the oldest bundle is one that somebody wants."""

import asyncio

from redis.asyncio import Redis

from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.queue import JobQueue
from gigavqa.store.redis_keys import KEYS
from gigavqa.store.store_stats import StoreStats
from tests.store.examples import MODEL, SPEC, make_bundles, run_job
from tests.waiting import async_wait_until


async def test_totals_by_model_outlive_their_job(redis: Redis) -> None:
    """Requests, tokens and durations stay counted when the job is deleted."""
    job = await run_job(redis, 3, failing={"r1"})
    before = (await StoreStats.of(redis)).totals
    await JobRegistry(redis).delete(job.id)
    after = (await StoreStats.of(redis)).totals
    assert after == before
    assert (after.by("completed"), after.by("failed")) == ({MODEL: 2}, {MODEL: 1})
    assert (after.by("prompt_tokens"), after.by("completion_tokens")) == ({MODEL: 180}, {MODEL: 4})
    ((kind, status, buckets, seconds),) = after.durations()
    assert (kind, status, buckets[-1]) == ("job", "completed", ("+Inf", 1))
    assert [number for _, number in buckets] == sorted(number for _, number in buckets)
    assert 0 < seconds < 300


async def test_a_lease_that_runs_out_is_a_reclaim_and_one_handed_back_is_none(redis: Redis) -> None:
    """Of three bundles one is handed back, and two run out: once into another lease, once onto probation."""
    queue = JobQueue(redis, lease_seconds=0.05)
    job, _ = await JobRegistry(redis).create(SPEC)
    await queue.enqueue(job.id, make_bundles(job.id, 2), "digest")
    first, second = await queue.claim([MODEL], "w", 2, 0)
    await queue.hand_back(first)
    assert [lease.bundle.id for lease in await queue.claim([MODEL], "x", 1, 0)] == [first.bundle.id]
    assert (await StoreStats.of(redis)).totals.by("reclaims") == {}

    async def reclaims(number: int) -> bool:
        await queue.claim([MODEL], "y", 2, 0, probation=True)
        return (await StoreStats.of(redis)).totals.by("reclaims").get(MODEL, 0) >= number

    await async_wait_until(lambda: reclaims(2), what="both leases reclaimed")
    assert second.worker == "w"


async def test_the_oldest_bundle_is_the_oldest_that_somebody_wants(redis: Redis) -> None:
    """Bundles of a cancelled job, which nobody has taken out of their lane, have no age; leased ones another."""
    queue, registry = JobQueue(redis), JobRegistry(redis)
    assert await queue.ages() == {}
    cancelled, _ = await registry.create(SPEC)
    await queue.enqueue(cancelled.id, make_bundles(cancelled.id, 120), "digest")
    await registry.cancel(cancelled.id)
    assert (await queue.ages())[MODEL].waiting is None
    await asyncio.sleep(0.01)  # the ages below are to be of another millisecond
    wanted, _ = await registry.create(SPEC)
    await queue.enqueue(wanted.id, make_bundles(wanted.id, 2), "digest")
    entry = (await redis.xrevrange(KEYS.queue(MODEL, "batch"), count=2))[1][0].decode()
    queued = int(entry.split("-")[0]) / 1000
    age, (seconds, micro) = (await queue.ages())[MODEL], await redis.time()
    assert age.waiting is not None
    assert age.leased is None
    assert abs(seconds + micro / 1e6 - queued - age.waiting) < 5
    for lease in await queue.claim([MODEL], "w", 2, 0):
        assert lease.job_id == wanted.id
    age = (await queue.ages())[MODEL]
    assert age.waiting is None
    assert age.leased is not None


async def test_the_server_tells_its_memory_and_what_waits_to_be_sunk(redis: Redis) -> None:
    """Without a limit of its own, the machine's memory is the limit."""
    await run_job(redis, 3)
    stats = await StoreStats.of(redis)
    assert 0 < stats.used_bytes < stats.limit_bytes
    assert (stats.unsunk, stats.outstanding) == (3, 0)
    assert 0 <= stats.unsunk_seconds < 60
    assert stats.depths[MODEL].waiting == 0
    await redis.config_set("maxmemory", 50_000_000)
    assert (await StoreStats.of(redis)).limit_bytes == 50_000_000
    await redis.config_set("maxmemory", 0)
