"""Bundles are enqueued whole, claimed by priority, leased, renewed and handed back."""

import asyncio
import contextlib
from collections.abc import Iterable, Iterator, Sequence

import pytest
from redis import Redis as SyncRedis
from redis.asyncio import Redis

from gigavqa.contract.errors import JobNotRetryableError, JobTooLargeError, QueueFullError
from gigavqa.contract.jobs import Job, JobStatus
from gigavqa.contract.leases import Lease
from gigavqa.contract.requests import Bundle
from gigavqa.runtime.embedded_store import StateStoreProcess
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.lua_scripts import LuaScripts, PackedBundle
from gigavqa.store.queue import JobQueue, QueueDepth
from gigavqa.store.queue_lanes import GROUP
from gigavqa.store.redis_keys import KEYS
from gigavqa.store.results import ResultStore
from gigavqa.store.store_stats import StoreStats
from tests.store.examples import MODEL, SPEC, answer, ask_again, make_bundles, run_job
from tests.waiting import async_wait_until

OTHER_MODEL = "other-model"


async def new_job(redis: Redis) -> Job:
    """A job that waits for its bundles."""
    job, _ = await JobRegistry(redis).create(SPEC)
    return job


def bundles_of(leases: list[Lease]) -> list[str]:
    """Ids of the bundles leased."""
    return [lease.bundle.id for lease in leases]


async def test_a_job_goes_from_validating_to_completed(redis: Redis) -> None:
    """Every request is answered once, the job is completed with the last one, and nothing of it stays queued."""
    job = await run_job(redis, 6)
    assert (job.status, job.request_counts.completed, job.dataset_digest) == (JobStatus.COMPLETED, 6, "digest")
    assert job.in_progress_at and job.finished_at and job.created_at <= job.in_progress_at <= job.finished_at
    assert await redis.get(KEYS.outstanding()) == b"0"
    assert await JobQueue(redis).depth(MODEL) == QueueDepth(0, 0)
    assert (await redis.xpending(KEYS.queue(MODEL, "batch"), "workers"))["pending"] == 0


async def test_a_lease_carries_the_bundle_as_it_was_enqueued(redis: Redis) -> None:
    """Nothing of a bundle is lost on its way through the queue."""
    job = await new_job(redis)
    bundles = make_bundles(job.id, 3, 4)
    await JobQueue(redis).enqueue(job.id, bundles, None)
    leases = await JobQueue(redis).claim([MODEL], "w", 10, 0)
    assert [lease.bundle for lease in leases] == bundles
    assert {(lease.attempt, lease.probation) for lease in leases} == {(1, False)}


async def test_interactive_bundles_go_first(redis: Redis) -> None:
    """A later interactive job overtakes a batch job that waits, over all models of a worker."""
    queue, batch, interactive = JobQueue(redis), await new_job(redis), await new_job(redis)
    await queue.enqueue(batch.id, make_bundles(batch.id, 2), None)
    quick = make_bundles(interactive.id, 2, model=OTHER_MODEL, priority="interactive")
    await queue.enqueue(interactive.id, quick, None)
    leases = await queue.claim([MODEL, OTHER_MODEL], "w", 3, 0)
    assert [lease.job_id for lease in leases] == [interactive.id, interactive.id, batch.id]


async def test_a_worker_gets_bundles_of_its_models_only_and_no_more_than_it_asks_for(redis: Redis) -> None:
    """Slots and models bound a claim."""
    queue, job = JobQueue(redis), await new_job(redis)
    await queue.enqueue(job.id, make_bundles(job.id, 5), None)
    assert await queue.claim([OTHER_MODEL], "w", 5, 0) == []
    assert len(await queue.claim([MODEL], "w", 3, 0)) == 3
    assert await queue.depth(MODEL) == QueueDepth(waiting=2, leased=3)


async def test_a_waiting_worker_wakes_when_bundles_come(redis: Redis) -> None:
    """A blocked claim returns with the bundle, long before its time is over."""
    queue, job = JobQueue(redis), await new_job(redis)
    waiting = asyncio.create_task(queue.claim([MODEL], "w", 1, 600))
    await async_wait_until(lambda: redis.exists(KEYS.queue(MODEL, "batch")), what="the worker's lanes")
    await queue.enqueue(job.id, make_bundles(job.id, 1), None)
    assert len(await asyncio.wait_for(waiting, 20)) == 1


async def test_a_worker_goes_on_when_the_server_lost_its_data(redis: Redis) -> None:
    """A claim makes its lanes again, and the next job is served."""
    queue = JobQueue(redis)
    assert await queue.claim([MODEL], "w", 1, 0) == []
    await redis.flushall()
    assert await queue.claim([MODEL], "w", 1, 0) == []
    job = await new_job(redis)
    await JobQueue(redis).enqueue(job.id, make_bundles(job.id, 1), None)
    assert len(await queue.claim([MODEL], "w", 1, 0)) == 1


async def test_bundles_that_cannot_be_read_are_passed_over(redis: Redis, caplog: pytest.LogCaptureFixture) -> None:
    """One is lost and one damaged: the third is leased, they are named and counted, and a retry asks them again."""
    queue, job = JobQueue(redis), await new_job(redis)
    bundles = make_bundles(job.id, 3)
    await queue.enqueue(job.id, bundles, None)
    await redis.hdel(KEYS.payloads(job.id), "b0")
    await redis.hset(KEYS.payloads(job.id), "b1", b"no zstd")
    (lease,) = await queue.claim([MODEL], "w", 1, 0)
    assert (lease.bundle, await queue.claim([MODEL], "w", 1, 0)) == (bundles[2], [])
    assert await queue.depth(MODEL) == QueueDepth(waiting=2, leased=1)
    assert (await redis.xpending(KEYS.queue(MODEL, "batch"), GROUP))["pending"] == 1
    assert (await StoreStats.of(redis)).totals.by("unreadable") == {MODEL: 2}
    assert [f"job {job.id}: bundle {name} is passed over" in caplog.text for name in ("b0", "b1", "b2")] == [1, 1, 0]
    await JobRegistry(redis).cancel(job.id)
    await ResultStore(redis).record(answer(job.id, lease.bundle.requests[0]), lease)
    assert (await JobRegistry(redis).get(job.id)).status is JobStatus.CANCELLED
    await ask_again(queue, job.id, bundles)
    assert bundles_of(await queue.claim([MODEL], "w", 9, 0)) == ["b0", "b1"]


async def test_a_full_queue_takes_nothing_of_a_job(redis: Redis) -> None:
    """The limit counts requests over all jobs; a refused job can come again when there is room."""
    queue = JobQueue(redis, limit_requests=10)
    first, second = await new_job(redis), await new_job(redis)
    await queue.enqueue(first.id, make_bundles(first.id, 3, 2), None)
    with pytest.raises(QueueFullError, match=second.id) as refused:
        await queue.enqueue(second.id, make_bundles(second.id, 5), None)
    assert refused.value.retry_after > 0
    assert (await JobRegistry(redis).get(second.id)).status is JobStatus.VALIDATING
    assert await redis.get(KEYS.outstanding()) == b"6"
    await JobRegistry(redis).cancel(first.id)
    assert (await queue.enqueue(second.id, make_bundles(second.id, 5), None)).status is JobStatus.IN_PROGRESS


async def test_jobs_that_come_at_once_do_not_exceed_the_limit(redis: Redis) -> None:
    """Of twenty jobs that race for ten places, ten get one."""
    queue = JobQueue(redis, limit_requests=10)
    jobs = [await new_job(redis) for _ in range(20)]
    calls = (queue.enqueue(job.id, make_bundles(job.id, 1), None) for job in jobs)
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    assert sum(isinstance(outcome, Job) for outcome in outcomes) == 10
    assert sum(isinstance(outcome, QueueFullError) for outcome in outcomes) == 10


async def test_a_job_beyond_the_limit_is_told_so(redis: Redis) -> None:
    """Waiting would not help, so it is another error than a full queue."""
    job = await new_job(redis)
    with pytest.raises(JobTooLargeError, match="5 requests"):
        await JobQueue(redis, limit_requests=4).enqueue(job.id, make_bundles(job.id, 5), None)


async def test_an_enqueue_that_was_cut_off_is_repeated_safely(redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gateway that dies between two chunks leaves a job that a second call completes: each bundle once."""
    monkeypatch.setattr("gigavqa.store.queue._CHUNK_BUNDLES", 2)
    queue, results, job = JobQueue(redis), ResultStore(redis), await new_job(redis)
    append, appended = LuaScripts.append, 0

    async def dying_append(self: LuaScripts, job_id: str, bundles: Iterable[PackedBundle]) -> str | None:
        nonlocal appended
        appended += 1
        if appended == 3:
            raise KeyboardInterrupt
        return await append(self, job_id, bundles)

    with monkeypatch.context() as patch, contextlib.suppress(KeyboardInterrupt):
        patch.setattr(LuaScripts, "append", dying_append)
        await queue.enqueue(job.id, make_bundles(job.id, 9), None)
    (early,) = await queue.claim([MODEL], "w", 1, 0)
    await results.record(answer(job.id, early.bundle.requests[0]), early)
    assert await JobRegistry(redis).validating() == [job.id]
    await queue.enqueue(job.id, make_bundles(job.id, 9), None)
    assert bundles_of(await queue.claim([MODEL], "w", 20, 0)) == [f"b{n}" for n in range(1, 9)]
    assert await redis.get(KEYS.outstanding()) == b"8"


async def test_bundles_are_appended_while_further_ones_are_made(redis: Redis, server: StateStoreProcess) -> None:
    """A job is never whole in memory: when its last bundle is made, all but the last few are in the queue."""
    job, _ = await JobRegistry(redis).create(SPEC)
    queue, bundles = JobQueue(redis, limit_requests=1000), make_bundles(job.id, 1000)
    appended: list[int] = []

    def made() -> Iterator[Bundle]:
        with SyncRedis.from_url(server.url) as client:
            for bundle in bundles:
                appended.append(int(client.hlen(KEYS.bundles(job.id))))
                yield bundle

    await queue.reserve(job.id, 1000, "digest")
    assert (await queue.append(job.id, made())).request_counts.total == 1000
    assert max(number - before for number, before in enumerate(appended)) < 200


async def test_room_can_be_looked_for_without_taking_it(redis: Redis) -> None:
    """A client is sent away before anything is done for it; what could never have room is told apart."""
    queue = JobQueue(redis, limit_requests=4)
    job, _ = await JobRegistry(redis).create(SPEC)
    await queue.require_room(4)
    await queue.enqueue(job.id, make_bundles(job.id, 3), None)
    await queue.require_room(1)
    with pytest.raises(QueueFullError):
        await queue.require_room(2)
    with pytest.raises(JobTooLargeError):
        await queue.require_room(5)


async def test_an_enqueue_repeated_after_the_job_ended_adds_nothing(redis: Redis) -> None:
    """A call whose reply was lost is answered with the job as it is."""
    job = await run_job(redis, 3)
    assert await JobQueue(redis).enqueue(job.id, make_bundles(job.id, 3), "digest") == job
    assert await JobQueue(redis).claim([MODEL], "w", 10, 0) == []


async def test_responses_may_come_before_the_last_bundle_is_in(redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job whose requests are all recorded while it is still being enqueued is completed when it starts."""
    queue, results, job = JobQueue(redis), ResultStore(redis), await new_job(redis)
    start = LuaScripts.start

    async def start_after_answers(self: LuaScripts, job_id: str, num_bundles: int, warnings: Sequence[str]) -> None:
        for lease in await queue.claim([MODEL], "w", 10, 0):
            await results.record(answer(job.id, lease.bundle.requests[0]), lease)
        await start(self, job_id, num_bundles, warnings)

    monkeypatch.setattr(LuaScripts, "start", start_after_answers)
    assert (await queue.enqueue(job.id, make_bundles(job.id, 2), None)).status is JobStatus.COMPLETED


async def test_a_renewed_lease_stays_and_a_silent_one_passes_on(redis: Redis) -> None:
    """Only the bundle whose worker fell silent goes to the next worker, as its second attempt."""
    queue, job = JobQueue(redis, lease_seconds=0.4), await new_job(redis)
    await queue.enqueue(job.id, make_bundles(job.id, 2), None)
    renewed, silent = await queue.claim([MODEL], "first", 2, 0)
    taken: list[Lease] = []

    async def taken_over() -> bool:
        assert await queue.renew([renewed]) == []
        taken.extend(await queue.claim([MODEL], "second", 2, 0))
        return bool(taken)

    await async_wait_until(taken_over, what="the end of the silent lease")
    assert [(lease.bundle.id, lease.attempt) for lease in taken] == [(silent.bundle.id, 2)]
    assert await queue.renew([renewed, silent]) == [silent]
    assert await queue.renew(taken) == []


async def test_two_workers_that_race_for_an_expired_lease_share_nothing(redis: Redis) -> None:
    """Each expired bundle goes to exactly one of many workers."""
    queue, job = JobQueue(redis, lease_seconds=0.3), await new_job(redis)
    await queue.enqueue(job.id, make_bundles(job.id, 20), None)
    await queue.claim([MODEL], "dead", 20, 0)
    taken: list[str] = []

    async def take_over() -> bool:
        claims = await asyncio.gather(*(queue.claim([MODEL], f"w{n}", 3, 0) for n in range(10)))
        taken.extend(bundle for leases in claims for bundle in bundles_of(leases))
        return len(taken) >= 20

    await async_wait_until(take_over, what="the expiry of the leases")
    assert sorted(taken) == sorted({f"b{n}" for n in range(20)})


async def test_a_bundle_handed_back_is_claimable_at_once_as_the_same_attempt(redis: Redis) -> None:
    """Draining a worker costs the bundle neither time nor an attempt, however often it happens."""
    queue, job = JobQueue(redis, lease_seconds=600), await new_job(redis)
    await queue.enqueue(job.id, make_bundles(job.id, 1), None)
    for worker in ("first", "second", "third", "fourth"):
        (lease,) = await queue.claim([MODEL], worker, 1, 0)
        assert (lease.attempt, lease.probation) == (1, False)
        assert await queue.depth(MODEL) == QueueDepth(waiting=0, leased=1)
        await queue.hand_back(lease)
        assert await queue.depth(MODEL) == QueueDepth(waiting=1, leased=0)


async def test_a_lost_lease_cannot_be_handed_back(redis: Redis) -> None:
    """The worker that lost a bundle does not take it from the one that has it."""
    queue, job = JobQueue(redis, lease_seconds=600), await new_job(redis)
    await queue.enqueue(job.id, make_bundles(job.id, 1), None)
    (lost,) = await queue.claim([MODEL], "first", 1, 0)
    await queue.hand_back(lost)
    (held,) = await queue.claim([MODEL], "second", 1, 0)
    await queue.hand_back(lost)
    assert await queue.renew([held]) == []
    assert await queue.claim([MODEL], "third", 1, 0) == []


async def test_a_bundle_with_nothing_left_is_acknowledged_when_handed_back(redis: Redis) -> None:
    """Requests that were recorded without a lease do not bring the bundle back for ever."""
    queue, results, job = JobQueue(redis), ResultStore(redis), await new_job(redis)
    bundles = make_bundles(job.id, 2)
    await queue.enqueue(job.id, bundles, None)
    assert await results.record(answer(job.id, bundles[0].requests[0]), None)
    first, _second = await queue.claim([MODEL], "w", 2, 0)
    await queue.hand_back(first)
    assert await queue.claim([MODEL], "w", 2, 0) == []
    assert await queue.depth(MODEL) == QueueDepth(waiting=0, leased=1)


async def test_an_expired_lease_of_a_cancelled_job_ends_the_job(redis: Redis) -> None:
    """A worker that died with the last bundle of a cancelled job does not keep the job from its end."""
    queue, job = JobQueue(redis, lease_seconds=0.3), await new_job(redis)
    await queue.enqueue(job.id, make_bundles(job.id, 1), None)
    await queue.claim([MODEL], "dead", 1, 0)
    await JobRegistry(redis).cancel(job.id)

    async def cancelled() -> bool:
        await queue.trim()
        return (await JobRegistry(redis).get(job.id)).status is JobStatus.CANCELLED

    await async_wait_until(cancelled, what="the end of the job")


async def test_a_lane_has_its_group_before_any_worker_comes(redis: Redis) -> None:
    """An autoscaler reads its lag there, and starts the first worker by it."""
    queue, job = JobQueue(redis), await new_job(redis)
    await queue.enqueue(job.id, make_bundles(job.id, 3), None)
    (group,) = await redis.xinfo_groups(KEYS.queue(MODEL, "batch"))
    assert (group["lag"], group["pending"]) == (3, 0)


async def test_trimming_keeps_what_is_waiting_or_leased_and_the_lag_known(redis: Redis) -> None:
    """Entries that are done with go, whatever the order in which they were done."""
    queue, results, job = JobQueue(redis), ResultStore(redis), await new_job(redis)
    await queue.enqueue(job.id, make_bundles(job.id, 10), None)
    leases = await queue.claim([MODEL], "w", 6, 0)
    for lease in (leases[5], leases[0], leases[3], leases[1]):
        await results.record(answer(job.id, lease.bundle.requests[0]), lease)
    assert await queue.trim() == 2
    (group,) = await redis.xinfo_groups(KEYS.queue(MODEL, "batch"))
    assert (group["lag"], group["pending"]) == (4, 2)
    assert len(await queue.claim([MODEL], "w", 10, 0)) == 4


async def test_trimming_forgets_workers_that_are_gone_and_hold_nothing(redis: Redis) -> None:
    """Worker names do not pile up; a name with a lease stays, so that the lease can expire."""
    job = await new_job(redis)
    queue = JobQueue(redis, lease_seconds=0.001)
    await queue.enqueue(job.id, make_bundles(job.id, 1), None)
    await queue.claim([MODEL], "holder", 1, 0)
    await JobQueue(redis).claim([MODEL], "idle", 1, 0)

    async def names() -> set[bytes]:
        await queue.trim()
        return {consumer["name"] for consumer in await redis.xinfo_consumers(KEYS.queue(MODEL, "batch"), "workers")}

    async def idle_is_forgotten() -> bool:
        return await names() == {b"holder"}

    await async_wait_until(idle_is_forgotten, what="the end of the idle worker's name")


async def test_a_retry_asks_failed_requests_again_and_keeps_the_answers(redis: Redis) -> None:
    """Only failures are forgotten; the counts follow; the job completes again."""
    queue, results = JobQueue(redis), ResultStore(redis)
    job = await run_job(redis, 4, failing={"r1", "r3"})
    assert (job.status, job.request_counts.completed, job.request_counts.failed) == (JobStatus.COMPLETED, 2, 2)
    reopened = await ask_again(queue, job.id, make_bundles(job.id, 4))
    assert (reopened.status, reopened.request_counts.failed) == (JobStatus.IN_PROGRESS, 0)
    leases = await queue.claim([MODEL], "w", 10, 0)
    assert bundles_of(leases) == ["b1", "b3"]
    for lease in leases:
        assert await results.record(answer(job.id, lease.bundle.requests[0], text="again"), lease)
    job = await JobRegistry(redis).get(job.id)
    assert (job.status, job.request_counts.completed, job.request_counts.failed) == (JobStatus.COMPLETED, 4, 0)
    texts = {response.request_id: response.turns[0].text for _, response in await results.read(job.id)}
    assert texts == {"r0": "B", "r1": "again", "r2": "B", "r3": "again"}


async def test_only_ended_jobs_can_be_retried(redis: Redis) -> None:
    """A job at work and one that failed as a whole are refused, and told so; full queues refuse, too."""
    queue, job = JobQueue(redis), await new_job(redis)
    await queue.enqueue(job.id, make_bundles(job.id, 1), None)
    with pytest.raises(JobNotRetryableError, match="in_progress"):
        await ask_again(queue, job.id, make_bundles(job.id, 1))
    await JobRegistry(redis).fail(job.id, ["its images are gone"])
    with pytest.raises(JobNotRetryableError):
        await ask_again(queue, job.id, make_bundles(job.id, 1))
    failed = await run_job(redis, 2, failing={"r0", "r1"})
    with pytest.raises(JobTooLargeError):
        await ask_again(JobQueue(redis, limit_requests=1), failed.id, make_bundles(failed.id, 2))


async def outstanding(redis: Redis) -> int:
    """Requests that are reserved in the queue, over all jobs."""
    return int(await redis.get(KEYS.outstanding()) or 0)


async def test_a_cancelled_job_goes_on_with_what_is_not_answered(redis: Redis) -> None:
    """Of six requests one was answered and one failed before the cancellation: five are asked, and each counts once."""
    queue, results, registry = JobQueue(redis), ResultStore(redis), JobRegistry(redis)
    job = await new_job(redis)
    await queue.enqueue(job.id, make_bundles(job.id, 3, 2), "digest")
    (held,) = await queue.claim([MODEL], "w", 1, 0)
    await results.record(answer(job.id, held.bundle.requests[0]), held)
    await results.record(answer(job.id, held.bundle.requests[1], failure="EngineError"), held)
    assert (await registry.cancel(job.id)).status is JobStatus.CANCELLED
    assert await outstanding(redis) == 0

    again = [bundle.model_copy(update={"id": f"again-{bundle.id}"}) for bundle in make_bundles(job.id, 3, 2)]
    resumed = await ask_again(queue, job.id, again, "digest")
    counts = resumed.request_counts
    assert (resumed.status, counts.total, counts.completed, counts.failed) == (JobStatus.IN_PROGRESS, 6, 1, 0)
    assert (resumed.finished_at, await outstanding(redis)) == (None, 5)
    leases = await queue.claim([MODEL], "w", 10, 0)
    assert bundles_of(leases) == ["again-b0", "again-b1", "again-b2"]
    new = [await results.record(answer(job.id, r), lease) for lease in leases for r in lease.bundle.requests]
    assert new == [False, True, True, True, True, True]
    job = await registry.get(job.id)
    assert (job.status, job.request_counts.completed, job.failures) == (JobStatus.COMPLETED, 6, {})
    assert (await outstanding(redis), await queue.depth(MODEL)) == (0, QueueDepth(0, 0))


async def test_a_late_answer_of_before_the_cancellation_counts_once(redis: Redis) -> None:
    """A worker that lost touch records after the job went on: its answer is kept, and the job still completes."""
    queue, results, registry = JobQueue(redis), ResultStore(redis), JobRegistry(redis)
    job = await new_job(redis)
    await queue.enqueue(job.id, make_bundles(job.id, 1, 2), "digest")
    (late,) = await queue.claim([MODEL], "late", 1, 0)
    await registry.cancel(job.id)
    await queue.hand_back(late)
    await ask_again(queue, job.id, [make_bundles(job.id, 1, 2)[0].model_copy(update={"id": "again"})], "digest")
    assert await results.record(answer(job.id, late.bundle.requests[0], text="late"), late)
    (lease,) = await queue.claim([MODEL], "w", 1, 0)
    assert not await results.record(answer(job.id, lease.bundle.requests[0]), lease)
    assert await results.record(answer(job.id, lease.bundle.requests[1]), lease)
    await queue.hand_back(lease)
    job = await registry.get(job.id)
    assert (job.status, job.request_counts.completed) == (JobStatus.COMPLETED, 2)
    assert (await queue.depth(MODEL)) == QueueDepth(0, 0)


async def test_a_job_that_was_cancelled_before_it_was_queued_can_begin(redis: Redis) -> None:
    """It gets the total, the digest and the beginning that it never had."""
    queue, job = JobQueue(redis), await new_job(redis)
    await JobRegistry(redis).cancel(job.id)
    begun = await ask_again(queue, job.id, make_bundles(job.id, 2), "digest")
    assert (begun.request_counts.total, begun.dataset_digest) == (2, "digest")
    assert begun.in_progress_at is not None


async def test_a_cancelled_job_that_goes_on_is_played_once(redis: Redis) -> None:
    """What the cancellation left in the lane is no second copy of the bundles that the retry queues."""
    registry, queue = JobRegistry(redis), JobQueue(redis)
    job, _ = await registry.create(SPEC)
    bundles = make_bundles(job.id, 3)
    await queue.enqueue(job.id, bundles, None)
    await registry.cancel(job.id)
    await ask_again(queue, job.id, bundles)
    leases = await queue.claim([MODEL], "w", 10, 0)
    assert sorted(lease.bundle.id for lease in leases) == ["b0", "b1", "b2"]


async def test_leases_begin_anew_when_the_clock_stepped_back(redis: Redis) -> None:
    """A lane whose leases were given, kept or trimmed at a later time than now has no lease from before the step."""
    job, _ = await JobRegistry(redis).create(SPEC)
    queue = JobQueue(redis)
    await queue.enqueue(job.id, make_bundles(job.id, 1), None)
    (lease,) = await queue.claim([MODEL], "dead", 1, 0)
    assert await redis.hdel(KEYS.clock(), lease.stream) == 1
    assert await queue.renew([lease]) == []
    assert await redis.hdel(KEYS.clock(), lease.stream) == 1
    await redis.xclaim(lease.stream, GROUP, "dead", 0, [lease.entry_id], idle=20_000, justid=True)
    await queue.trim()
    (pending,) = await redis.xpending_range(lease.stream, GROUP, "-", "+", 10)
    assert pending["time_since_delivered"] >= 20_000
    await redis.hset(KEYS.clock(), lease.stream, str(10**18))
    await queue.trim()
    (pending,) = await redis.xpending_range(lease.stream, GROUP, "-", "+", 10)
    assert pending["time_since_delivered"] < 20_000
    assert pending["times_delivered"] == 1
