"""Bundles about one picture go to one worker, and never wait for it longer than the picture is worth."""

import asyncio

import pytest
from redis.asyncio import Redis

from gigavqa.contract.jobs import JobStatus
from gigavqa.contract.leases import Lease
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.queue import ClaimableCounts, JobQueue, QueueDepth
from gigavqa.store.redis_keys import KEYS
from gigavqa.store.results import ResultStore
from tests.store.examples import MODEL, answer, ask_again
from tests.store.pictures import images_of, submit_about
from tests.waiting import async_wait_until

LANE = KEYS.queue(MODEL, "batch")
ROOM = 1000


def patient(redis: Redis, **settings: float) -> JobQueue:
    """A queue whose workers never take what is parked for others while those live."""
    return JobQueue(redis, **{"lease_seconds": 600, "defer_seconds": 300} | settings)  # type: ignore[arg-type]


async def claim(queue: JobQueue, worker: str, max_bundles: int, room: int = ROOM) -> list[Lease]:
    """What a worker gets at once."""
    return await queue.claim([MODEL], worker, max_bundles, 0, room=room)


async def lag_and_pending(redis: Redis) -> tuple[int, int]:
    """What scales workers: entries that nobody read, and those that somebody has or that are parked."""
    (group,) = await redis.xinfo_groups(LANE)
    return group["lag"], group["pending"]


async def test_bundles_about_a_picture_go_to_the_worker_that_looked_at_it(redis: Redis) -> None:
    """Another worker that finds one parks it, and gets the next picture; parking is no attempt."""
    await submit_about(redis, "PPQP")
    queue = patient(redis)
    assert images_of(await claim(queue, "first", 1)) == "P"
    assert images_of(await claim(queue, "second", 3)) == "Q"
    leases = await claim(queue, "first", 3)
    assert images_of(leases) == "PP"
    assert {lease.attempt for lease in leases} == {1}
    assert await claim(queue, "second", 3) == []


async def test_jobs_over_the_same_pictures_share_their_owners(redis: Redis) -> None:
    """A picture is the worker's whoever asks about it."""
    queue = patient(redis)
    for _ in range(2):
        await submit_about(redis, "PQ")
        assert images_of(await claim(queue, "first", 1)) == "P"
        assert images_of(await claim(queue, "second", 1)) == "Q"


@pytest.mark.parametrize(("priority", "shown"), [("interactive", True), ("batch", False)])
async def test_interactive_bundles_and_those_without_pictures_wait_for_nobody(
    redis: Redis, priority: str, shown: bool
) -> None:
    """They go to whoever claims first."""
    await submit_about(redis, "PP", priority=priority, shown=shown)
    queue = patient(redis)
    assert images_of(await claim(queue, "first", 1)) == "P"
    assert images_of(await claim(queue, "second", 1)) == "P"


async def test_entries_of_an_older_release_go_to_whoever_claims_first(redis: Redis) -> None:
    """They do not say what their bundle is about."""
    await submit_about(redis, "PP")
    for entry_id, fields in await redis.xrange(LANE):
        await redis.xdel(LANE, entry_id)
        await redis.xadd(LANE, {b"job": fields[b"job"], b"bundle": fields[b"bundle"]})
    queue = patient(redis)
    assert images_of(await claim(queue, "first", 1)) == "P"
    assert images_of(await claim(queue, "second", 1)) == "P"


async def test_a_claim_ends_with_the_bundle_that_fills_its_requests(redis: Redis) -> None:
    """A worker owns no more pictures than it has room to play, be the first bundles ever so small."""
    await submit_about(redis, "ab", 10)
    await submit_about(redis, "PQR", 40)
    leases = await patient(redis).claim([MODEL], "w", 16, 0, max_requests=100, room=ROOM)
    assert images_of(leases) == "abPQ"


async def test_a_picture_in_demand_gets_a_second_owner(redis: Redis) -> None:
    """Beyond the room of its owner others take its bundles, and own it from there on."""
    await submit_about(redis, "P" * 8, 10)
    queue = patient(redis)
    assert len(await claim(queue, "first", 1, room=25)) == 1
    assert [lease.bundle.id for lease in await claim(queue, "second", 1)] == ["b4"]
    assert await claim(queue, "third", 3) == []
    assert [lease.bundle.id for lease in await claim(queue, "first", 8)] == ["b1", "b2", "b3"]
    assert [lease.bundle.id for lease in await claim(queue, "second", 8)] == ["b5", "b6", "b7"]


async def test_an_idle_worker_takes_the_later_half_of_what_waits_too_long(redis: Redis) -> None:
    """Once the oldest has waited as long as it may, and not before; what the owner plays next stays its own."""
    await submit_about(redis, "PPPPP")
    queue = patient(redis, defer_seconds=0.3)
    assert len(await claim(queue, "first", 1)) == 1
    assert await claim(patient(redis), "patient", 8) == []
    taken: list[Lease] = []

    async def take() -> bool:
        taken.extend(await queue.claim([MODEL], "second", 8, 0, room=ROOM, probation=True))
        return bool(taken)

    await async_wait_until(take, what="the end of the wait")
    assert sorted((lease.bundle.id, lease.probation) for lease in taken) == [("b3", False), ("b4", False)]
    assert [lease.bundle.id for lease in await claim(queue, "first", 8)] == ["b1", "b2"]


async def test_a_worker_with_other_work_at_hand_takes_none_of_what_is_parked(redis: Redis) -> None:
    """However long it waits: the owner has the picture in its caches."""
    await submit_about(redis, "PPQR")
    queue = patient(redis, defer_seconds=0.001)
    assert images_of(await claim(queue, "first", 1)) == "P"
    assert images_of(await claim(queue, "second", 1)) == "Q"
    assert images_of(await claim(queue, "second", 1)) == "R"

    async def takes_the_parked() -> bool:
        return images_of(await claim(queue, "second", 1)) == "P"

    await async_wait_until(takes_the_parked, what="the end of the wait")


async def test_one_claim_looks_beyond_everything_that_is_parked(redis: Redis) -> None:
    """More bundles of another's picture than one script reads do not send a worker away with nothing."""
    await submit_about(redis, "P" * 300 + "Q")
    queue = patient(redis)
    assert images_of(await claim(queue, "first", 1)) == "P"
    assert images_of(await claim(queue, "second", 1)) == "Q"
    assert await lag_and_pending(redis) == (0, 301)


async def test_a_waiting_owner_wakes_when_another_worker_finds_its_picture(redis: Redis) -> None:
    """A blocked claim returns with the bundle, whoever read it first, long before its time is over."""
    queue = patient(redis)
    await submit_about(redis, "P")
    assert len(await claim(queue, "first", 1)) == 1
    waiting = [asyncio.create_task(queue.claim([MODEL], name, 1, 600, room=ROOM)) for name in ("second", "first")]

    async def both_wait() -> bool:
        return int((await redis.info("clients"))["blocked_clients"]) == 2

    await async_wait_until(both_wait, what="two blocked claims")
    await submit_about(redis, "P")
    assert images_of(await asyncio.wait_for(waiting[1], 20)) == "P"
    await submit_about(redis, "Q")
    assert images_of(await asyncio.wait_for(waiting[0], 20)) == "Q"


@pytest.mark.slow
async def test_what_is_parked_stays_so_while_its_worker_renews(redis: Redis) -> None:
    """Beyond a lease, as its leases do; no other worker finds it expired."""
    await submit_about(redis, "PP")
    queue = patient(redis, lease_seconds=1)
    (held,) = await claim(queue, "first", 1)
    beyond = asyncio.get_running_loop().time() + 2.5
    assert await claim(patient(redis), "second", 8) == []

    async def renewed() -> bool:
        assert await queue.renew([held]) == []
        expired = await redis.xpending_range(LANE, "workers", "-", "+", 10, idle=1000)
        assert expired == []
        return asyncio.get_running_loop().time() > beyond

    await async_wait_until(renewed, what="the end of a lease, twice")
    assert images_of(await claim(queue, "first", 1)) == "P"
    assert await claim(queue, "second", 8) == []


async def test_what_is_parked_for_a_dead_worker_passes_on(redis: Redis) -> None:
    """Once its lease has run out, and as a first attempt; what it held spends one."""
    await submit_about(redis, "PPP")
    queue = patient(redis, lease_seconds=1)
    assert len(await claim(queue, "dead", 1)) == 1
    assert await claim(patient(redis), "second", 1) == []
    taken: list[Lease] = []

    async def take() -> bool:
        taken.extend(await claim(queue, "second", 8))
        return len(taken) == 3

    await async_wait_until(take, what="the three bundles")
    assert sorted((lease.bundle.id, lease.attempt) for lease in taken) == [("b0", 2), ("b1", 1), ("b2", 1)]


async def test_a_worker_that_claims_no_more_gives_up_its_pictures_at_once(redis: Redis) -> None:
    """What is parked for it can be claimed, new bundles are not parked for it, and its leases stay."""
    queue = patient(redis)
    await submit_about(redis, "PPP")
    (held,) = await claim(queue, "first", 1)
    assert await claim(queue, "second", 1) == []
    await queue.release(MODEL, "first")
    leases = await claim(queue, "second", 8)
    assert [(lease.bundle.id, lease.attempt) for lease in leases] == [("b1", 1), ("b2", 1)]
    await submit_about(redis, "P")
    assert images_of(await claim(queue, "second", 1)) == "P"
    assert await queue.renew([held, *leases]) == []
    assert await redis.zcard(KEYS.parked(MODEL)) == 0


async def test_renewing_does_not_call_a_released_worker_back(redis: Redis) -> None:
    """While it plays what it holds, nothing is parked for it any more."""
    queue = patient(redis)
    await submit_about(redis, "PP")
    (held,) = await claim(queue, "first", 1)
    await queue.release(MODEL, "first")
    assert await queue.renew([held]) == []
    assert images_of(await claim(queue, "second", 1)) == "P"


async def test_without_its_owners_a_queue_is_first_come_first_served(redis: Redis) -> None:
    """A server that lost them loses no bundle: parked ones go to their worker or, late, to any."""
    queue = patient(redis, lease_seconds=0.4)
    await submit_about(redis, "PPPP")
    assert len(await claim(patient(redis), "first", 1)) == 1
    assert await claim(patient(redis), "second", 1) == []
    owned = [key async for key in redis.scan_iter(KEYS.owner("*"))]
    assert owned
    await redis.delete(*owned, KEYS.room(f"{MODEL}:first"), KEYS.parked(MODEL))
    assert images_of(await claim(queue, "first", 1)) == "P"
    taken: list[Lease] = []

    async def take() -> bool:
        taken.extend(await claim(queue, "second", 8))
        return {lease.bundle.id for lease in taken} >= {"b2", "b3"}

    await async_wait_until(take, what="the bundles that were parked")


async def test_what_is_parked_counts_as_waiting(redis: Redis) -> None:
    """For depth, for the choice of a model, and for what scales workers; trimming leaves it alone."""
    queue = patient(redis)
    await submit_about(redis, "PPPQ")
    await claim(queue, "first", 1)
    await claim(queue, "second", 1)
    assert await queue.depth(MODEL) == QueueDepth(waiting=2, leased=2)
    assert await queue.claimable([MODEL]) == {MODEL: ClaimableCounts(2, 0)}
    assert await lag_and_pending(redis) == (0, 4)
    assert await queue.trim() == 0
    assert len(await claim(queue, "first", 8)) == 2
    assert await queue.depth(MODEL) == QueueDepth(waiting=0, leased=4)


async def test_parked_bundles_of_a_cancelled_job_are_never_leased(redis: Redis) -> None:
    """The job ends without them, and their entries go when their worker comes to them."""
    queue = patient(redis)
    job_id = await submit_about(redis, "PPP")
    (held,) = await claim(queue, "first", 1)
    assert await claim(queue, "second", 1) == []
    await JobRegistry(redis).cancel(job_id)
    await queue.hand_back(held)
    assert (await JobRegistry(redis).get(job_id)).status is JobStatus.CANCELLED
    await JobRegistry(redis).delete(job_id)
    assert await claim(queue, "first", 8) == []
    assert (await lag_and_pending(redis), await redis.zcard(KEYS.parked(MODEL))) == ((0, 0), 0)
    assert await queue.depth(MODEL) == QueueDepth(0, 0)


async def test_a_bundle_that_kills_workers_goes_on_probation_as_if_it_had_never_been_parked(redis: Redis) -> None:
    """Two losses, whatever was parked before them."""
    await submit_about(redis, "PP")
    assert len(await claim(patient(redis), "first", 1)) == 1
    assert await claim(patient(redis), "second", 1) == []
    queue = patient(redis, lease_seconds=0.05)
    attempts: list[tuple[int, bool]] = []

    async def lose() -> bool:
        found = await claim(queue, "mortal", 1) or await queue.claim([MODEL], "mortal", 1, 0, probation=True)
        attempts.extend((lease.attempt, lease.probation) for lease in found if lease.bundle.id == "b1")
        return len(attempts) >= 3

    await async_wait_until(lose, what="the loss of the bundle that was parked")
    assert attempts[:3] == [(1, False), (2, False), (3, True)]


async def test_a_retry_keeps_to_the_pictures_of_its_bundles(redis: Redis) -> None:
    """Reopened bundles are parked as new ones are."""
    queue, results = patient(redis), ResultStore(redis)
    job_id = await submit_about(redis, "PP")
    leases = await claim(queue, "first", 2)
    for lease in leases:
        await results.record(answer(job_id, lease.bundle.requests[0], failure="EngineError"), lease)
    again = [lease.bundle.model_copy(update={"id": f"again-{lease.bundle.id}"}) for lease in leases]
    await ask_again(queue, job_id, again)
    assert await claim(queue, "second", 2) == []
    assert [lease.bundle.id for lease in await claim(queue, "first", 2)] == ["again-b0", "again-b1"]
