"""Bundles are claimed, leased, handed back and given up."""

from redis.asyncio import Redis

from jobs.models import JobStatus
from jobs.queue import JobQueue
from jobs.registry import JobRegistry
from jobs.results import ResultStore
from tests.jobs.examples import MODEL, SPEC, answer, make_bundles


async def test_a_job_goes_from_validating_to_completed(redis: Redis) -> None:
    """Every request is answered once and the job is completed with the last one."""
    job, _ = await JobRegistry(redis).create(SPEC)
    queue, results = JobQueue(redis), ResultStore(redis)
    job = await queue.enqueue(job.id, make_bundles(job.id, 3, 2), "digest")
    assert job.status is JobStatus.IN_PROGRESS
    leases = await queue.claim([MODEL], "w", 10, 0)
    for lease in leases:
        for request in lease.bundle.requests:
            assert await results.record(answer(job.id, request), lease)
    job = await JobRegistry(redis).get(job.id)
    assert (job.status, job.request_counts.completed) == (JobStatus.COMPLETED, 6)
    assert [r.request_id for _, r in await results.read(job.id)] == [f"r{n}" for n in range(6)]
    assert [e.data["status"] async for e in JobRegistry(redis).events(job.id)][-1] == "completed"
    assert await redis.get("gigavqa:outstanding") == b"0"
    assert await queue.depth(MODEL) == type(await queue.depth(MODEL))(0, 0)
    assert await queue.claim([MODEL], "w", 10, 0.05) == []
    await queue.trim()
    await JobRegistry(redis).delete(job.id)
