"""Jobs are created once, listed, watched, cancelled and deleted."""

import asyncio
from collections.abc import Sequence

import pytest
from redis.asyncio import Redis

from gigavqa.contract.errors import IdempotencyConflictError, JobActiveError, JobNotFoundError
from gigavqa.contract.jobs import Job, JobStatus
from gigavqa.store.job_registry import IDEMPOTENCY_SECONDS, JobRegistry
from gigavqa.store.job_rows import JobEvent
from gigavqa.store.job_selection import JobSelection
from gigavqa.store.queue import JobQueue
from gigavqa.store.redis_keys import KEYS
from gigavqa.store.results import ResultStore
from tests.store.examples import MODEL, SPEC, answer, ask_again, make_bundles, run_job


async def test_a_new_job_is_validating_and_can_be_read_back(redis: Redis) -> None:
    """Creation keeps the specification as it is."""
    job, created = await JobRegistry(redis).create(SPEC)
    assert created
    assert (job.spec, job.status) == (SPEC, JobStatus.VALIDATING)
    assert await JobRegistry(redis).get(job.id) == job


async def test_the_same_idempotency_key_gives_the_same_job(redis: Redis) -> None:
    """Ten clients that repeat one call at once make one job."""
    made = await asyncio.gather(*(JobRegistry(redis).create(SPEC, "key") for _ in range(10)))
    assert len({job.id for job, _ in made}) == 1
    assert [created for _, created in made].count(True) == 1
    assert 0 < await redis.ttl(KEYS.idempotency("key")) <= IDEMPOTENCY_SECONDS


async def test_an_idempotency_key_stands_for_one_specification(redis: Redis) -> None:
    """Another specification under a used key is refused and leaves no job."""
    await JobRegistry(redis).create(SPEC, "key")
    with pytest.raises(IdempotencyConflictError, match="key"):
        await JobRegistry(redis).create(SPEC.model_copy(update={"seed": 1}), "key")
    assert len(await JobRegistry(redis).list()) == 1


async def test_an_idempotency_key_of_a_deleted_job_is_free(redis: Redis) -> None:
    """After deletion the key makes a new job."""
    registry = JobRegistry(redis)
    first, _ = await registry.create(SPEC, "key")
    await registry.fail(first.id, ["bad"])
    await registry.delete(first.id)
    second, created = await registry.create(SPEC, "key")
    assert created and second.id != first.id


async def test_of_jobs_that_a_filter_leaves_out_only_the_summary_is_read(redis: Redis) -> None:
    """Two look-ups for the job that is wanted, and one for each other."""
    registry, wanted = JobRegistry(redis), SPEC.model_copy(update={"metadata": {"owner": "mé=1"}})
    ids = [(await registry.create(spec))[0].id for spec in (SPEC, wanted, SPEC, SPEC)]
    nobody = "nobody/model"
    for selection, expected in (
        (JobSelection(metadata=["owner=mé=1"]), [ids[1]]),
        (JobSelection(metadata=["owner=mé=1"], model=nobody), []),
        (JobSelection(dataset="elsewhere"), []),
        (JobSelection(dataset=SPEC.dataset, model=MODEL), ids[::-1]),
    ):
        await redis.config_resetstat()
        page = await registry.page(selection)
        assert ([job.id for job in page.jobs], page.more) == (expected, False)
        assert (await redis.info("commandstats"))["cmdstat_hmget"]["calls"] == len(ids) + len(expected)


async def test_jobs_are_listed_newest_first_in_pages(redis: Redis) -> None:
    """Pages follow each other without a gap and without one job twice."""
    registry = JobRegistry(redis)
    ids = [(await registry.create(SPEC))[0].id for _ in range(5)]
    first = await registry.list(limit=2)
    second = await registry.list(after=first[-1].id, limit=10)
    assert [job.id for job in [*first, *second]] == ids[::-1]
    with pytest.raises(JobNotFoundError, match="nobody"):
        await registry.list(after="nobody")


async def test_lists_leave_out_the_samples_and_count_them(redis: Redis) -> None:
    """A list of jobs is short, however many samples they name."""
    registry = JobRegistry(redis)
    named, _ = await registry.create(SPEC.model_copy(update={"samples": tuple(f"s{n}" for n in range(1000))}))
    whole, _ = await registry.create(SPEC)
    listed = {job.id: job for job in await registry.list()}
    assert listed[named.id].spec.num_samples == 1000
    assert listed[whole.id].spec.num_samples is None
    assert len(listed[named.id].model_dump_json()) < 1000
    assert (listed[whole.id].spec.models, listed[whole.id].created_at) == (SPEC.models, whole.created_at)


async def test_jobs_are_found_and_counted_by_status(redis: Redis) -> None:
    """Through every change of status; pages of one status follow each other though jobs leave it meanwhile."""
    registry = JobRegistry(redis)
    done = await run_job(redis, 2, failing={"r1"})
    ids = [(await registry.create(SPEC))[0].id for _ in range(4)]
    await registry.fail(ids[0], ["why"])
    await registry.cancel(ids[1])
    counts = await registry.count()
    assert {status: number for status, number in counts.items() if number} == {
        JobStatus.COMPLETED: 1, JobStatus.FAILED: 1, JobStatus.CANCELLED: 1, JobStatus.VALIDATING: 2,
    }  # fmt: skip
    assert [job.id for job in await registry.list(status=JobStatus.COMPLETED)] == [done.id]
    (first,) = await registry.list(limit=1, status=JobStatus.VALIDATING)
    await registry.cancel(first.id)
    assert [job.id for job in await registry.list(first.id, status=JobStatus.VALIDATING)] == [ids[2]]
    await ask_again(JobQueue(redis), done.id, make_bundles(done.id, 2))
    assert [job.id for job in await registry.list(status=JobStatus.IN_PROGRESS)] == [done.id]
    assert await redis.hgetall(KEYS.recorded()) == {b"completed": b"1", b"failed": b"1"}


async def test_jobs_that_are_older_than_the_lists_by_status_are_put_into_them(redis: Redis) -> None:
    """What an older gateway left in `validating` is found after an update, and shown in lists."""
    registry = JobRegistry(redis)
    job, _ = await registry.create(SPEC)
    await redis.delete(KEYS.in_status("validating"))
    await redis.hdel(KEYS.job(job.id), "summary")
    assert await registry.validating() == []
    await registry.index()
    assert await registry.validating() == [job.id]
    assert await registry.validating(60) == [], "it is new"
    assert [listed.spec.dataset for listed in await registry.list(status=JobStatus.VALIDATING)] == [SPEC.dataset]


async def test_jobs_that_ended_long_ago_are_found(redis: Redis) -> None:
    """Those that go on are not among them, however old they are."""
    registry = JobRegistry(redis)
    done = await run_job(redis, 1)
    later, _ = await registry.create(SPEC)
    await registry.fail(later.id, ["why"])
    await registry.create(SPEC)
    assert await registry.ended_before(later.created_at) == [done.id]


async def test_a_failed_job_says_why(redis: Redis) -> None:
    """Errors are kept, the status is final, and the queue's room is given back."""
    registry = JobRegistry(redis)
    job, _ = await registry.create(SPEC)
    await JobQueue(redis).enqueue(job.id, make_bundles(job.id, 3, 2), None)
    failed = await registry.fail(job.id, ["samples/a.json, line 3: no answer"])
    assert (failed.status, failed.errors) == (JobStatus.FAILED, ("samples/a.json, line 3: no answer",))
    assert failed.finished_at
    assert await redis.get(KEYS.outstanding()) == b"0"
    assert await JobQueue(redis).claim([MODEL], "w", 10, 0) == []


async def test_jobs_whose_expansion_was_cut_off_are_found_again(redis: Redis) -> None:
    """Only jobs in `validating` are taken up again."""
    registry = JobRegistry(redis)
    waiting, _ = await registry.create(SPEC)
    started, _ = await registry.create(SPEC)
    await JobQueue(redis).enqueue(started.id, make_bundles(started.id, 1), None)
    assert await registry.validating() == [waiting.id]


async def test_cancelling_drops_what_nobody_holds(redis: Redis) -> None:
    """Waiting bundles go at once; the job is cancelled when the leased one is handed back; responses are kept."""
    registry, queue, results = JobRegistry(redis), JobQueue(redis), ResultStore(redis)
    job, _ = await registry.create(SPEC)
    await queue.enqueue(job.id, make_bundles(job.id, 5, 2), None)
    (lease,) = await queue.claim([MODEL], "w", 1, 0)
    await results.record(answer(job.id, lease.bundle.requests[0]), lease)
    assert (await registry.cancel(job.id)).status is JobStatus.CANCELLING
    assert await queue.claim([MODEL], "other", 10, 0) == []
    assert await redis.get(KEYS.outstanding()) == b"1"
    assert await queue.cancelled([job.id]) == {job.id}
    await queue.hand_back(lease)
    cancelled = await registry.get(job.id)
    assert (cancelled.status, cancelled.request_counts.completed) == (JobStatus.CANCELLED, 1)
    assert len(await results.read(job.id)) == 1
    assert await redis.get(KEYS.outstanding()) == b"0"
    assert await queue.depth(MODEL) == type(await queue.depth(MODEL))(waiting=0, leased=0)


async def test_a_job_that_nobody_works_on_is_cancelled_at_once(redis: Redis) -> None:
    """Without a leased bundle there is nothing to wait for, also before anything was enqueued."""
    registry = JobRegistry(redis)
    for bundles in (0, 4000):
        job, _ = await registry.create(SPEC)
        if bundles:
            await JobQueue(redis).enqueue(job.id, make_bundles(job.id, bundles), None)
        assert (await registry.cancel(job.id)).status is JobStatus.CANCELLED


async def test_a_cancelled_job_is_not_filled_by_a_late_enqueue(redis: Redis) -> None:
    """The gateway that still expands a job learns that it was cancelled."""
    registry = JobRegistry(redis)
    job, _ = await registry.create(SPEC)
    await registry.cancel(job.id)
    late = await JobQueue(redis).enqueue(job.id, make_bundles(job.id, 2), None)
    assert late.status is JobStatus.CANCELLED
    assert await JobQueue(redis).claim([MODEL], "w", 10, 0) == []
    assert await redis.get(KEYS.outstanding()) in {None, b"0"}


async def test_cancelling_a_final_job_changes_nothing(redis: Redis) -> None:
    """A completed job stays completed."""
    job = await run_job(redis, 2)
    assert await JobRegistry(redis).cancel(job.id) == job


async def test_an_unknown_job_is_an_error(redis: Redis) -> None:
    """Every call that names a job that does not exist says so."""
    registry = JobRegistry(redis)
    calls = (registry.get, registry.cancel, registry.delete, lambda job_id: registry.fail(job_id, []))
    for call in calls:
        with pytest.raises(JobNotFoundError, match="nobody"):
            await call("nobody")
    with pytest.raises(JobNotFoundError, match="nobody"):
        await JobQueue(redis).enqueue("nobody", make_bundles("nobody", 1), None)


async def test_only_final_jobs_can_be_deleted(redis: Redis) -> None:
    """A job at work is refused."""
    job, _ = await JobRegistry(redis).create(SPEC)
    with pytest.raises(JobActiveError, match=job.id):
        await JobRegistry(redis).delete(job.id)


async def watch(redis: Redis, job: Job, after: str = "0-0") -> Sequence[JobEvent]:
    """All events of a job behind one that is known."""
    return await JobRegistry(redis).events(job.id, after)


async def test_events_tell_statuses_and_progress_in_order(redis: Redis) -> None:
    """They tell every status, and the last progress shows all requests done."""
    job = await run_job(redis, 3)
    events = await watch(redis, job)
    statuses = [event.data["status"] for event in events if event.kind == "status"]
    assert statuses == ["validating", "in_progress", "finalizing", "completed"]
    progress = [event.data["request_counts"] for event in events if event.kind == "progress"]
    assert [counts["completed"] for counts in progress] == [1, 2, 3]


async def test_a_watcher_goes_on_after_the_last_event_it_saw(redis: Redis) -> None:
    """An event's id continues the stream behind it, and nothing follows the last one."""
    job = await run_job(redis, 3)
    events = await watch(redis, job)
    assert await watch(redis, job, events[2].id) == events[3:]
    assert await watch(redis, job, events[-1].id) == []


async def test_a_job_names_the_newest_event_that_it_tells_of(redis: Redis) -> None:
    """From its beginning on: who asks for those behind it hears of nothing older."""
    registry = JobRegistry(redis)
    begun, _ = await registry.create(SPEC)
    ended = await registry.get((await run_job(redis, 3, job=begun)).id)
    events = await watch(redis, begun)
    assert (begun.last_event_id, ended.last_event_id) == (events[0].id, events[-1].id)


async def test_progress_events_stay_few(redis: Redis) -> None:
    """A thousand responses make about a hundred progress events, and the last is among them."""
    job = await run_job(redis, 1000)
    progress = [event for event in await watch(redis, job) if event.kind == "progress"]
    assert 90 <= len(progress) <= 120
    assert progress[-1].data["request_counts"]["completed"] == 1000


async def test_a_deleted_job_has_no_events(redis: Redis) -> None:
    """They go with it."""
    registry = JobRegistry(redis)
    job, _ = await registry.create(SPEC)
    await registry.fail(job.id, [])
    assert await registry.events(job.id)
    await registry.delete(job.id)
    assert await registry.events(job.id) == []
