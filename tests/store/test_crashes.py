"""Real processes and the real server are killed; nothing is lost and nothing is recorded twice."""

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from redis.asyncio import Redis

from gigavqa.contract.errors import JobNotFoundError
from gigavqa.contract.jobs import Job, JobStatus
from gigavqa.contract.leases import Lease
from gigavqa.contract.requests import Bundle, Turn
from gigavqa.contract.responses import Response
from gigavqa.runtime.embedded_store import StateStoreProcess, start_store
from gigavqa.store.connection import connect
from gigavqa.store.crashes import MAX_SOLO_CRASHES
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.queue import JobQueue, QueueDepth
from gigavqa.store.redis_keys import KEYS
from gigavqa.store.results import ResultStore
from gigavqa.store.sink import ParquetSink
from tests.store.examples import MODEL, SPEC, answer, make_bundles, run_job
from tests.store.parts import parts_of, rows_of, sink_all
from tests.store.processes import LEASE_SECONDS
from tests.waiting import async_wait_until
from tests.warm import WarmProgram, warm_process


@contextmanager
def process(role: str, *arguments: str, out: int = 2) -> Iterator[WarmProgram]:
    """One of the processes of `tests.store.processes`, which writes to a descriptor; ends with the block."""
    program = warm_process().start("tests.store.processes", [role, *arguments], os.environ, out, 2)
    try:
        yield program
    finally:
        program.kill()
        program.wait()


def poisoned(bundles: list[Bundle], request_id: str) -> list[Bundle]:
    """The bundles with one request that kills whoever runs it."""
    for index, bundle in enumerate(bundles):
        requests = [
            r.model_copy(update={"turns": (Turn(parts=("poison",)),)}) if r.id == request_id else r
            for r in bundle.requests
        ]
        bundles[index] = bundle.model_copy(update={"requests": tuple(requests)})
    return bundles


async def started(redis: Redis, bundles: int, requests_each: int, poison: str = "") -> Job:
    """A job in progress."""
    job, _ = await JobRegistry(redis).create(SPEC)
    return await JobQueue(redis).enqueue(job.id, poisoned(make_bundles(job.id, bundles, requests_each), poison), None)


async def play_until_final(url: str, job_id: str, redis: Redis) -> int:
    """Start a player again whenever it dies, as a supervisor does; returns how often it died."""
    deaths = 0
    while not (await JobRegistry(redis).get(job_id)).status.final:
        with process("play", url, job_id) as player:
            code = await asyncio.to_thread(player.wait, 60)
        assert code in {0, -signal.SIGKILL}
        deaths += code != 0
    return deaths


async def responses_of(redis: Redis, job_id: str) -> list[Response]:
    """Everything that a job recorded."""
    return [response for _, response in await ResultStore(redis).read(job_id, limit=1000)]


async def test_bundles_of_a_killed_process_come_back(server: StateStoreProcess, redis: Redis) -> None:
    """What a process had claimed when it was killed goes to the next one, as the second attempt."""
    await started(redis, 7, 2)
    read, write = os.pipe()
    with process("claim", server.url, out=write) as claimer, os.fdopen(read) as told:
        os.close(write)
        assert await asyncio.to_thread(told.readline) == "7\n"
        claimer.kill()
    queue, taken = JobQueue(redis, lease_seconds=LEASE_SECONDS), list[Lease]()

    async def all_back() -> bool:
        taken.extend(await queue.claim([MODEL], "heir", 10, 0))
        return len(taken) >= 7

    await async_wait_until(all_back, what="the return of the bundles")
    assert sorted(lease.bundle.id for lease in taken) == [f"b{n}" for n in range(7)]
    assert {lease.attempt for lease in taken} == {2}


@pytest.mark.slow
async def test_a_poison_request_dies_alone(server: StateStoreProcess, redis: Redis) -> None:
    """Of twenty good requests and one that kills its process, twenty are answered and exactly one fails."""
    job = await started(redis, 7, 3, poison="r10")
    deaths = await play_until_final(server.url, job.id, redis)
    responses = await responses_of(redis, job.id)
    assert sorted(response.request_id for response in responses) == sorted(f"r{n}" for n in range(21))
    (failed,) = [response for response in responses if response.failure]
    assert failed.failure and (failed.request_id, failed.failure.type) == ("r10", "WorkerCrashed")
    assert failed.failure.retryable
    assert deaths == 2 + MAX_SOLO_CRASHES
    job = await JobRegistry(redis).get(job.id)
    assert (job.status, job.request_counts.completed, job.request_counts.failed) == (JobStatus.COMPLETED, 20, 1)
    assert await JobQueue(redis).depth(MODEL) == QueueDepth(0, 0)
    assert await redis.get(KEYS.outstanding()) == b"0"


@pytest.mark.slow
async def test_poison_at_the_end_of_a_bundle_ends_the_bundle(server: StateStoreProcess, redis: Redis) -> None:
    """When the suspect was the last request of the job, recording its failure completes the job."""
    job = await started(redis, 1, 2, poison="r1")
    await play_until_final(server.url, job.id, redis)
    assert [response.ok for response in await responses_of(redis, job.id)] == [True, False]


async def probation(queue: JobQueue, worker: str) -> Lease:
    """The next lease of the probation lane, waited for."""
    leases: list[Lease] = []

    async def claimed() -> bool:
        leases.extend(await queue.claim([MODEL], worker, 5, 0, probation=True))
        return bool(leases)

    await async_wait_until(claimed, what="a bundle on probation")
    (lease,) = leases
    return lease


async def on_probation(redis: Redis, num_bundles: int, requests_each: int) -> tuple[Job, JobQueue]:
    """A job all of whose bundles failed on their only attempt but the last."""
    job = await started(redis, num_bundles, requests_each)
    queue = JobQueue(redis, lease_seconds=0.3, max_attempts=2)
    assert len(await queue.claim([MODEL], "dead", num_bundles, 0)) == num_bundles

    async def moved() -> bool:
        assert await queue.claim([MODEL], "other", 5, 0) == []
        return await redis.xlen(KEYS.probation(MODEL)) == num_bundles

    await async_wait_until(moved, what="the move to the probation lane")
    return job, queue


async def test_the_probation_lane_is_served_when_asked_and_one_bundle_at_a_time(redis: Redis) -> None:
    """Without `probation` its bundles stay; with it they come alone, as the last attempt."""
    _, queue = await on_probation(redis, 2, 1)
    lease = await probation(queue, "w")
    assert (lease.probation, lease.attempt) == (True, 2)
    assert await queue.depth(MODEL) == QueueDepth(waiting=1, leased=1)


async def die_of(queue: JobQueue, request_id: str, times: int) -> None:
    """Claim the bundle on probation, begin the request and fall silent, so many times."""
    for _ in range(times):
        assert await queue.begin_probation(await probation(queue, "dies"), request_id)


async def test_a_suspect_is_blamed_only_for_deaths_in_a_row_beside_it_alone(redis: Redis) -> None:
    """Workers may be killed beside an innocent request; one death too many gives it up, and asking again may help."""
    job, queue = await on_probation(redis, 1, 2)
    await die_of(queue, "r0", MAX_SOLO_CRASHES)
    assert await responses_of(redis, job.id) == []
    lease = await probation(queue, "w")
    (blamed,) = await responses_of(redis, job.id)
    assert blamed.failure and (blamed.request_id, blamed.failure.retryable) == ("r0", True)
    assert blamed.attempt == lease.attempt - 1 == 1 + MAX_SOLO_CRASHES
    assert f"{MAX_SOLO_CRASHES} times in a row" in blamed.failure.message


async def test_deaths_beside_different_requests_blame_nobody(redis: Redis) -> None:
    """Workers that die while they run one request after the other are no sign of poison."""
    job, queue = await on_probation(redis, 1, MAX_SOLO_CRASHES + 1)
    for number in range(MAX_SOLO_CRASHES):
        lease = await probation(queue, "dies")
        await queue.begin_probation(lease, f"r{number}")
        await ResultStore(redis).record(answer(job.id, lease.bundle.requests[number]), lease)
    await die_of(queue, f"r{MAX_SOLO_CRASHES}", 1)
    await probation(queue, "w")
    assert all(response.ok for response in await responses_of(redis, job.id))


async def test_a_bundle_handed_back_from_probation_blames_nobody(redis: Redis) -> None:
    """As on SIGTERM: what was handed back is no death, however often, and those before it still count."""
    job, queue = await on_probation(redis, 1, 2)
    await die_of(queue, "r0", MAX_SOLO_CRASHES - 1)
    for _ in range(MAX_SOLO_CRASHES):
        lease = await probation(queue, "draining")
        assert await queue.begin_probation(lease, "r0")
        await queue.hand_back(lease)
    assert (await probation(queue, "draining")).attempt == lease.attempt
    await queue.hand_back(lease)
    assert await responses_of(redis, job.id) == []
    await die_of(queue, "r0", 1)
    await probation(queue, "w")
    assert [response.request_id for response in await responses_of(redis, job.id)] == ["r0"]


@pytest.mark.slow
@pytest.mark.parametrize("begins", [True, False])
async def test_a_worker_that_lost_its_lease_and_lives_is_no_death(redis: Redis, begins: bool) -> None:
    """On a machine with other work leases run out beside innocents; workers that are heard of again blame nobody."""
    job, queue = await on_probation(redis, 1, 1)
    lost: list[Lease] = []
    for number in range(2 * MAX_SOLO_CRASHES):
        lease = await probation(queue, f"slow-{number}")
        if begins:
            assert await queue.begin_probation(lease, "r0")
        assert await queue.renew(lost) == lost
        lost = [lease]
    assert await responses_of(redis, job.id) == []


@pytest.mark.slow
async def test_deaths_among_lost_leases_still_count(redis: Redis) -> None:
    """What kills its workers is found also when some of them only lost their leases."""
    job, queue = await on_probation(redis, 1, 2)
    for _ in range(MAX_SOLO_CRASHES - 2):
        await die_of(queue, "r0", 1)
        slow = await probation(queue, "slow")
        assert await queue.begin_probation(slow, "r0")
        heir = await probation(queue, "heir")
        assert not await queue.begin_probation(slow, "r0")
        await queue.hand_back(heir)
    await die_of(queue, "r0", 2)
    assert await responses_of(redis, job.id) == []
    await probation(queue, "w")
    assert [response.request_id for response in await responses_of(redis, job.id)] == ["r0"]


async def test_a_mark_that_is_repeated_counts_once(redis: Redis) -> None:
    """A worker whose reply was lost marks the request again, which is no second start."""
    job, queue = await on_probation(redis, 1, 1)
    lease = await probation(queue, "dies")
    for _ in range(MAX_SOLO_CRASHES + 1):
        assert await queue.begin_probation(lease, "r0")
    await probation(queue, "w")
    assert await responses_of(redis, job.id) == []


async def test_a_suspect_that_was_answered_is_not_blamed(redis: Redis) -> None:
    """A worker that dies between two requests of a bundle on probation leaves no failure."""
    job, queue = await on_probation(redis, 1, 2)
    lease = await probation(queue, "dies")
    await queue.begin_probation(lease, "r0")
    await ResultStore(redis).record(answer(job.id, lease.bundle.requests[0]), lease)
    await probation(queue, "w")
    assert [response.ok for response in await responses_of(redis, job.id)] == [True]


async def test_a_bundle_whose_mere_claim_kills_ends_too(redis: Redis) -> None:
    """Workers that die again and again before any request runs fail the whole bundle, instead of for ever."""
    job, queue = await on_probation(redis, 1, 3)

    async def ended() -> bool:
        await queue.claim([MODEL], "dies", 1, 0, probation=True)
        return (await JobRegistry(redis).get(job.id)).status.final

    await async_wait_until(ended, what="the end of the bundle")
    assert {r.failure.type for r in await responses_of(redis, job.id) if r.failure} == {"WorkerCrashed"}
    assert (await JobRegistry(redis).get(job.id)).request_counts.failed == 3


async def test_a_lost_lease_marks_no_suspect(redis: Redis) -> None:
    """A worker that lost its bundle is told so before it runs a request of it."""
    _, queue = await on_probation(redis, 1, 1)
    lost = await probation(queue, "slow")
    await queue.hand_back(lost)
    await probation(queue, "w")
    assert not await queue.begin_probation(lost, "r0")


@pytest.mark.slow
async def test_a_job_survives_kills_of_its_workers_and_of_the_server(binary: Path, tmp_path: Path) -> None:
    """With the server and every worker killed in the middle, each request is recorded exactly once."""
    server = start_store(tmp_path, binary=binary)
    redis = connect(server.url)
    job = await started(redis, 100, 4)

    async def recorded_more_than(number: int) -> bool:
        return (await JobRegistry(redis).get(job.id)).request_counts.completed > number

    try:
        with process("play", server.url, job.id) as first, process("play", server.url, job.id):
            await async_wait_until(lambda: recorded_more_than(20), what="the first responses")
            first.kill()
            os.kill(server.pid, signal.SIGKILL)
            server = await asyncio.to_thread(start_store, tmp_path, binary=binary, die_with_parent=False)
            await async_wait_until(lambda: recorded_more_than(60), what="responses after the restart")
        await play_until_final(server.url, job.id, redis)
        responses = await responses_of(redis, job.id)
        assert sorted(response.request_id for response in responses) == sorted(f"r{n}" for n in range(400))
        assert (await JobRegistry(redis).get(job.id)).request_counts.completed == 400
        assert await redis.get(KEYS.outstanding()) == b"0"
    finally:
        await redis.aclose()
        server.stop()


@pytest.mark.parametrize("moment", ["before-write", "after-write", "after-mark", "after-second-write"])
async def test_a_sink_killed_at_any_step_loses_and_doubles_nothing(
    server: StateStoreProcess, redis: Redis, tmp_path: Path, moment: str
) -> None:
    """The sink that comes after finishes the part that was left, with what has been recorded of two jobs since."""
    queue, hot, results = JobQueue(redis), ResultStore(redis), ResultStore(redis, str(tmp_path))
    jobs = [(await started(redis, 10, 1)).id for _ in range(2)]
    leases = sorted(await queue.claim([MODEL], "w", 20, 0), key=lambda lease: (lease.bundle.id, lease.job_id))
    for lease in leases[:10]:
        await hot.record(answer(lease.job_id, lease.bundle.requests[0]), lease)
    before = {job_id: await hot.read(job_id) for job_id in jobs}
    with process("sink", server.url, str(tmp_path), moment) as dying:
        assert await asyncio.to_thread(dying.wait, 60) == -signal.SIGKILL
    assert {job_id: await results.read(job_id) for job_id in jobs} == before
    for lease in leases[10:]:
        await hot.record(answer(lease.job_id, lease.bundle.requests[0]), lease)
    await redis.delete(KEYS.sink_lock())  # instead of waiting for the lock of the dead to expire
    await sink_all(redis, tmp_path, rows=4)
    for job_id in jobs:
        assert (await results.read(job_id))[:5] == before[job_id]
        assert sorted(rows_of(tmp_path / f"job={job_id}")) == sorted(f"r{n}" for n in range(10))
        assert await redis.hlen(KEYS.texts(job_id)) == 0


@pytest.mark.parametrize("moment", ["before-parts", "after-parts", "after-a-chunk"])
async def test_a_deletion_killed_at_any_step_leaves_no_half_of_a_job(
    server: StateStoreProcess, redis: Redis, tmp_path: Path, moment: str
) -> None:
    """The job is not there any more, and what is left of it is removed later; other jobs stay whole."""
    job, kept = await run_job(redis, 5), await run_job(redis, 2)
    await sink_all(redis, tmp_path)
    with process("delete", server.url, str(tmp_path), job.id, moment) as dying:
        assert await asyncio.to_thread(dying.wait, 60) == -signal.SIGKILL
    registry = JobRegistry(redis, str(tmp_path))
    assert [found.id for found in await registry.list()] == [kept.id]
    with pytest.raises(JobNotFoundError):
        await registry.get(job.id)
    assert await registry.finish_deletions() == 1
    assert await registry.finish_deletions() == 0
    assert [key async for key in redis.scan_iter(f"*{job.id}*")] == []
    assert sorted(rows_of(tmp_path)) == ["r0", "r1"]
    assert len(await ResultStore(redis, str(tmp_path)).read(kept.id)) == 2


async def test_a_deletion_may_be_repeated_until_it_is_done(
    server: StateStoreProcess, redis: Redis, tmp_path: Path
) -> None:
    """Whoever deleted the job deletes it again after a crash, and then it is unknown."""
    job = await run_job(redis, 3)
    await sink_all(redis, tmp_path)
    with process("delete", server.url, str(tmp_path), job.id, "before-parts") as dying:
        await asyncio.to_thread(dying.wait, 60)
    registry = JobRegistry(redis, str(tmp_path))
    await registry.delete(job.id)
    assert not parts_of(tmp_path)
    with pytest.raises(JobNotFoundError):
        await registry.delete(job.id)


async def test_what_is_recorded_while_its_job_is_deleted_leaves_no_part(redis: Redis, tmp_path: Path) -> None:
    """A sink that wrote a part meanwhile takes it back."""
    job = await run_job(redis, 3)

    class Late(ParquetSink):
        async def _mark(self, job_id: str, *part: object) -> int:
            await JobRegistry(redis, str(tmp_path)).delete(job_id)
            return await super()._mark(job_id, *part)  # type: ignore[arg-type]

    await Late(redis, str(tmp_path)).run_until_drained()
    assert not parts_of(tmp_path)
    assert [key async for key in redis.scan_iter(f"*{job.id}*")] == []
