"""What a worker of several models looks at before it chooses one."""

import pytest
from redis.asyncio import Redis

from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.queue import ClaimableCounts, JobQueue
from tests.store.examples import MODEL, SPEC, make_bundles
from tests.waiting import async_wait_until

OTHER_MODEL = "other-model"


async def enqueue(redis: Redis, num_bundles: int, model: str = MODEL, priority: str = "batch") -> str:
    """Queue a job of that many bundles; returns its id."""
    job, _ = await JobRegistry(redis).create(SPEC)
    bundles = make_bundles(job.id, num_bundles, model=model, priority=priority)
    await JobQueue(redis).enqueue(job.id, bundles, None)
    return job.id


async def test_bundles_are_counted_by_model_and_interactive_ones_apart(redis: Redis) -> None:
    """A model that nobody asked for has none."""
    await enqueue(redis, 3)
    await enqueue(redis, 2, priority="interactive")
    await enqueue(redis, 4, model=OTHER_MODEL)
    counts = await JobQueue(redis).claimable([MODEL, OTHER_MODEL, "idle"])
    assert counts == {MODEL: ClaimableCounts(5, 2), OTHER_MODEL: ClaimableCounts(4, 0), "idle": ClaimableCounts(0, 0)}


@pytest.mark.parametrize("priority", ["batch", "interactive"])
async def test_a_lease_is_not_claimable_until_it_is_handed_back(redis: Redis, priority: str) -> None:
    """What a worker holds does not count; what it gave up does, once."""
    queue = JobQueue(redis)
    await enqueue(redis, 2, priority=priority)
    lease, _ = await queue.claim([MODEL], "w", 2, 0)
    assert (await queue.claimable([MODEL]))[MODEL] == ClaimableCounts(0, 0)
    await queue.hand_back(lease)
    assert (await queue.claimable([MODEL]))[MODEL] == ClaimableCounts(1, int(priority == "interactive"))


@pytest.mark.parametrize("deaths", [1, 2])
async def test_what_a_dead_worker_held_becomes_claimable(redis: Redis, deaths: int) -> None:
    """Its leases run out, and count as soon as somebody could claim them: also on the way to probation."""
    queue = JobQueue(redis, lease_seconds=0.1)
    await enqueue(redis, 3)

    async def all_claimable() -> bool:
        return (await queue.claimable([MODEL]))[MODEL].bundles == 3

    for _ in range(deaths):
        await async_wait_until(all_claimable, what="three claimable bundles")
        await queue.claim([MODEL], "dead", 3, 0)
    await async_wait_until(all_claimable, what="three claimable bundles")


async def test_bundles_of_cancelled_jobs_are_not_claimable(redis: Redis) -> None:
    """Neither those that wait nor those whose worker is gone: nobody loads a model to drop them."""
    queue = JobQueue(redis, lease_seconds=0.01)
    job_id = await enqueue(redis, 3, priority="interactive")
    await queue.claim([MODEL], "dead", 1, 0)
    await JobRegistry(redis).cancel(job_id)
    assert (await queue.claimable([MODEL]))[MODEL] == ClaimableCounts(0, 0)
