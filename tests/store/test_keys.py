"""No key is left behind."""

from pathlib import Path

from redis.asyncio import Redis

from gigavqa.contract.jobs import JobStatus
from gigavqa.store.api_keys import ApiKeys, Limits, Owner
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.queue import JobQueue
from gigavqa.store.quotas import Quotas
from gigavqa.store.redis_keys import KEYS, PRIORITIES
from gigavqa.store.results import ResultStore
from gigavqa.store.searches import SearchRecord, SearchStore
from gigavqa.store.sink import ParquetSink
from gigavqa.store.worker_registry import WorkerRegistry, WorkerStatus
from tests.store.examples import MODEL, NOW, SPEC, answer, ask_again, make_bundles, run_job
from tests.store.parts import parts_of

LASTING = {
    KEYS.jobs(),
    KEYS.recorded(),
    KEYS.totals(),
    *(KEYS.in_status(status) for status in JobStatus),
    KEYS.outstanding(),
    KEYS.queued(),
    KEYS.api_keys(),
    KEYS.api_keys_used(),
    KEYS.jobs_of("ada"),
    *(KEYS.jobs_of(f"ada:{status}") for status in JobStatus),
    KEYS.clock(),
    KEYS.depth(),
    KEYS.models(),
    KEYS.unsunk(),
    KEYS.workers(),
    KEYS.probation(MODEL),
    *(KEYS.queue(MODEL, priority) for priority in PRIORITIES),
}
"""Keys of the installation, whose number does not grow with its jobs."""


ID = "an-api-key"


def hidden(key: str) -> str:
    """The name of a server's key, with `ID` in place of an API key's id, which is random."""
    before = key.rpartition(":")[0]
    return f"{before}:{ID}" if before in {KEYS.rate("")[:-1], KEYS.streams("")[:-1]} else key


async def live_through_everything(redis: Redis, folder: Path) -> list[str]:
    """Make every kind of key; returns the ids of the jobs."""
    registry, queue, results = JobRegistry(redis, str(folder)), JobQueue(redis, max_attempts=1), ResultStore(redis)
    retried = await run_job(redis, 4, failing={"r1", "r2"})
    await ParquetSink(redis, str(folder)).run_until_drained()
    await ask_again(queue, retried.id, make_bundles(retried.id, 2))
    for lease in await queue.claim([MODEL], "w", 10, 0):
        await results.record(answer(retried.id, lease.bundle.requests[0], failure="EngineError"), lease)
    cancelled, _ = await registry.create(SPEC, "key", Owner("ada", 100, 10))
    await queue.enqueue(cancelled.id, make_bundles(cancelled.id, 3, 2), "digest")
    (lease,) = await queue.claim([MODEL], "w", 1, 0)
    await queue.begin_probation(lease, "r0")
    await results.record(answer(cancelled.id, lease.bundle.requests[0]), lease)
    await SearchStore(redis).keep(cancelled.id, "search", SearchRecord(text="pages"))
    await SearchStore(redis).claim(cancelled.id, "another", "", "w")
    await registry.cancel(cancelled.id)
    await queue.hand_back(lease)
    failed, _ = await registry.create(SPEC)
    await registry.fail(failed.id, ["why"])
    key, known = await ApiKeys(redis).create("test", "ada", "submit", limits=Limits(requests_a_minute=1))
    await ApiKeys(redis).find(key)
    quotas = Quotas(redis)
    await quotas.pass_request(known)
    await quotas.close_stream(await quotas.open_stream(known))
    await quotas.open_stream(known)
    await WorkerRegistry(redis).announce(WorkerStatus(worker="w", models=(MODEL,), state="ready", since=NOW), ttl=60)
    return [retried.id, cancelled.id, failed.id]


async def test_every_key_lasts_has_a_ttl_or_belongs_to_a_job(redis: Redis, tmp_path: Path) -> None:
    """What is written without a job either expires or is one of a few keys of the installation."""
    jobs = await live_through_everything(redis, tmp_path)
    for key in [key.decode() async for key in redis.scan_iter("*")]:
        of_a_job = any(key == KEYS.job(job_id) or key.startswith(f"{KEYS.job(job_id)}:") for job_id in jobs)
        assert of_a_job or key in LASTING or await redis.ttl(key) > 0, key


async def test_deleting_a_job_leaves_none_of_its_keys(redis: Redis, tmp_path: Path) -> None:
    """After all jobs are deleted, no key names one of them, its idempotency key included."""
    jobs = await live_through_everything(redis, tmp_path)
    for job_id in jobs:
        await JobRegistry(redis, str(tmp_path)).delete(job_id)
    left = {key.decode() async for key in redis.scan_iter("*")}
    of_the_key = {KEYS.rate(ID), KEYS.streams(ID)}
    assert {hidden(key) for key in left - LASTING} == {KEYS.worker("w"), *of_the_key}
    assert not [key for key in left if key.startswith(KEYS.jobs_of("ada"))]
    assert not await redis.exists(KEYS.queued())
    assert await redis.zcard(KEYS.jobs()) == 0
    assert not [status for status in JobStatus if await redis.exists(KEYS.in_status(status))]
    assert await redis.get(KEYS.outstanding()) == b"0"
    assert parts_of(tmp_path) == []


async def test_deleting_a_job_removes_what_an_older_release_kept_of_it(redis: Redis) -> None:
    """The list of failures that retries had replaced, which nothing writes any more."""
    job = await run_job(redis, 1)
    await redis.rpush(f"{KEYS.job(job.id)}:history", "text")
    await JobRegistry(redis).delete(job.id)
    assert [key async for key in redis.scan_iter(f"{KEYS.job(job.id)}*")] == []
