"""Real worker processes that are told to end, killed, and left without their server."""

import importlib.util
import os
import random
import signal
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest
from redis import Redis as PlainRedis
from redis.asyncio import Redis

from gigavqa.contract.requests import Turn
from gigavqa.runtime.embedded_store import StateStoreProcess, start_store
from gigavqa.store.connection import connect
from gigavqa.store.crashes import MAX_SOLO_CRASHES
from gigavqa.store.queue import JobQueue
from gigavqa.tiling.views import View
from tests.waiting import async_wait_until, wait_until
from tests.workers.examples import ENTRY, image, job_of, make_request, responses_of, submit, submit_requests
from tests.workers.processes import WorkerProcess, simulated, worker_process

NO_ENGINE = importlib.util.find_spec("vllm") is None
NEVER = 1e-6
SLOW = 0.05


async def until_recorded(redis: Redis, job_id: str, num_responses: int, *, seconds: float = 60) -> None:
    """Wait until that many responses are recorded."""

    async def recorded() -> bool:
        counts = (await job_of(redis, job_id)).request_counts
        return counts.completed + counts.failed >= num_responses

    await async_wait_until(recorded, timeout=seconds, what=f"{num_responses} responses")


async def until_leased(redis: Redis, num_bundles: int) -> None:
    """Wait until that many bundles are leased."""

    async def leased() -> bool:
        return (await JobQueue(redis).depth(ENTRY.id)).leased >= num_bundles

    await async_wait_until(leased, timeout=60, what=f"{num_bundles} leases")


@pytest.mark.slow
async def test_a_worker_that_is_to_end_when_idle_plays_all_and_ends(
    redis: Redis, server: StateStoreProcess, data: Path, tmp_path: Path
) -> None:
    """With `--idle-seconds` it plays what is queued, says once that it ends, and ends with status 0."""
    job_id = await submit(redis, 10, 2)
    with worker_process(
        tmp_path, data, server.url, *simulated(0, "--idle-seconds", "1", "--heartbeat-seconds", "0.2")
    ) as worker:
        assert worker.wait() == 0, worker.log
        assert worker.log.count("nothing to play") == 1
    assert len(await responses_of(redis, job_id)) == 20


@pytest.mark.slow
async def test_a_worker_that_is_to_end_when_idle_says_that_it_was_told_to_end_before(
    server: StateStoreProcess, data: Path, tmp_path: Path
) -> None:
    """Whoever counts workers that found nothing left, as a Job of Kubernetes does, must not count this one."""
    with worker_process(tmp_path, data, server.url, *simulated(0, "--idle-seconds", "600")) as worker:
        worker.wait_until_ready()
        worker.tell_to_end()
        assert worker.wait() == 128 + signal.SIGTERM, worker.log


@pytest.mark.slow
async def test_sigterm_finishes_what_is_begun(
    redis: Redis, server: StateStoreProcess, data: Path, tmp_path: Path
) -> None:
    """Within its grace the worker records all that it has claimed, claims no more, and ends with status 0."""
    job_id = await submit(redis, 40, 2)
    with worker_process(tmp_path, data, server.url, *simulated(SLOW, "--max-requests", "4")) as worker:
        await until_recorded(redis, job_id, 1)
        worker.tell_to_end()
        assert worker.wait() == 0, worker.log
    responses, depth = await responses_of(redis, job_id), await JobQueue(redis).depth(ENTRY.id)
    assert depth.leased == 0
    assert len(responses) == 2 * (40 - depth.waiting) < 80


@pytest.mark.slow
async def test_sigterm_hands_back_what_does_not_finish(
    redis: Redis, server: StateStoreProcess, data: Path, tmp_path: Path
) -> None:
    """Without a grace, what is generating can be claimed at once, and no attempt is spent."""
    await submit(redis, 2, 2)
    with worker_process(tmp_path, data, server.url, *simulated(NEVER, "--grace", "0")) as worker:
        await until_leased(redis, 2)
        worker.tell_to_end()
        assert worker.wait() == 0, worker.log
    leases = await JobQueue(redis).claim([ENTRY.id], "next", 10, 0)
    assert [lease.attempt for lease in leases] == [1, 1]


@pytest.mark.slow
async def test_a_second_sigterm_does_not_wait_for_the_grace(
    redis: Redis, server: StateStoreProcess, data: Path, tmp_path: Path
) -> None:
    """Ten minutes of grace end with the second signal."""
    await submit(redis, 1, 1)
    with worker_process(tmp_path, data, server.url, *simulated(NEVER, "--grace", "600")) as worker:
        await until_leased(redis, 1)
        worker.tell_to_end()
        wait_until(lambda: "draining" in worker.log, what="the drain")
        worker.tell_to_end()
        assert worker.wait() == 0, worker.log


@pytest.mark.slow
async def test_nothing_is_lost_or_recorded_twice_through_kills(data: Path, tmp_path: Path) -> None:
    """A worker is killed twice and the server once while 200 requests are played: 200 responses, each exactly once."""
    server = start_store(tmp_path / "server")
    redis = connect(server.url)
    job_id = await submit(redis, 50, 4)
    arguments = simulated(SLOW, "--max-requests", "8")
    for num_responses in (20, 60):
        with worker_process(tmp_path, data, server.url, *arguments) as worker:
            await until_recorded(redis, job_id, num_responses)
            worker.kill()
    with worker_process(tmp_path, data, server.url, *arguments) as worker:
        await until_recorded(redis, job_id, 100)
        os.kill(server.pid, signal.SIGKILL)
        server.stop()
        server = start_store(tmp_path / "server")
        await until_recorded(redis, job_id, 200)
        worker.tell_to_end()
        assert worker.wait() == 0, worker.log
    responses, job = await responses_of(redis, job_id), await job_of(redis, job_id)
    await redis.aclose()
    server.stop()
    assert len({response.request_id for response in responses}) == len(responses) == 200
    assert (job.request_counts.completed, job.request_counts.failed) == (200, 0)


@pytest.mark.slow
@pytest.mark.timeout(400)
async def test_no_request_is_blamed_for_fewer_deaths_than_four(
    redis: Redis, server: StateStoreProcess, data: Path, tmp_path: Path
) -> None:
    """Ten jobs of 200 requests, during each of which one of three workers is killed three times: 2,000 answers."""
    dice = random.Random(20)
    with ExitStack() as running:

        def start() -> WorkerProcess:
            arguments = simulated(0.1, "--max-requests", "16")
            return running.enter_context(worker_process(tmp_path, data, server.url, *arguments, forked=True))

        workers = [start() for _ in range(3)]
        for _ in range(10):
            job_id = await submit(redis, 10, 20)
            for moment in sorted(dice.sample(range(1, 200), MAX_SOLO_CRASHES - 1)):
                await until_recorded(redis, job_id, moment)
                victim = dice.randrange(len(workers))
                workers[victim].kill()
                workers[victim] = start()
            await until_recorded(redis, job_id, 200)
            counts = (await job_of(redis, job_id)).request_counts
            assert (counts.completed, counts.failed) == (200, 0)


@pytest.mark.slow
def test_an_unknown_model_ends_the_worker_with_an_error(server: StateStoreProcess, data: Path, tmp_path: Path) -> None:
    """Status 2, and one line that says what there is."""
    with worker_process(tmp_path, data, server.url, "--model", "gpt") as worker:
        assert worker.wait() == 2
    assert "did you mean" in worker.log
    assert "Traceback" not in worker.log


@pytest.mark.slow
def test_a_worker_does_not_start_on_a_server_that_evicts(data: Path, tmp_path: Path) -> None:
    """Status 2, and one line that says what to set."""
    server = start_store(tmp_path / "server")
    PlainRedis.from_url(server.url).config_set("maxmemory-policy", "volatile-lru")
    with worker_process(tmp_path, data, server.url, *simulated(NEVER)) as worker:
        assert worker.wait() == 2
    server.stop()
    assert "set `maxmemory-policy noeviction`" in worker.log
    assert "Traceback" not in worker.log


@pytest.mark.engine
@pytest.mark.skipif(NO_ENGINE, reason="vllm is not installed")
async def test_the_engine_ends_with_a_killed_worker(
    redis: Redis, server: StateStoreProcess, data: Path, tmp_path: Path
) -> None:
    """A worker on the real engine answers a job; after its SIGKILL none of its processes is left."""
    job_id = await submit(redis, 2, 4)
    with worker_process(tmp_path, data, server.url) as worker:
        worker.wait_until_ready(timeout=240)
        await until_recorded(redis, job_id, 8)
        assert_all_end_with(worker)
    responses = await responses_of(redis, job_id)
    assert {response.engine.name for response in responses if response.engine} == {"vllm"}


@pytest.mark.engine
@pytest.mark.skipif(NO_ENGINE, reason="vllm is not installed")
def test_the_engine_ends_with_a_worker_that_is_killed_while_it_starts(
    server: StateStoreProcess, data: Path, tmp_path: Path
) -> None:
    """Also a process of the engine that has only just been spawned ends with the worker."""
    with worker_process(tmp_path, data, server.url) as worker:
        wait_until(lambda: _spawned(worker), timeout=240, what="a process of the engine")
        assert_all_end_with(worker)


def assert_all_end_with(worker: WorkerProcess) -> None:
    """Kill the worker; its children must be gone within ten seconds."""
    children = psutil.Process(worker.pid).children(recursive=True)
    worker.kill()
    assert children
    _, alive = psutil.wait_procs(children, timeout=10)
    assert [process for process in alive if process.status() != psutil.STATUS_ZOMBIE] == []


def _spawned(worker: WorkerProcess) -> bool:
    children = psutil.Process(worker.pid).children()
    return any("spawn_main" in " ".join(_words(child)) for child in children)


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:  # a helper of the start that has just ended
        return []


@pytest.mark.slow
async def test_answers_that_are_weighed_through_a_kill_are_recorded_once(
    redis: Redis, server: StateStoreProcess, data: Path, tmp_path: Path
) -> None:
    """Forty answers, each with its picture shown and masked: eighty likelihoods, those of an undisturbed run."""
    turns = [
        (Turn(parts=(View(image=image(number % 4), mask=mask), f"Question {number}?"), forced=f"answer {number}"),)
        for number in range(40)
        for mask in ("", "mean")
    ]
    asked = [make_request(f"w{number}", None, turns=turn) for number, turn in enumerate(turns)]
    job_id, undisturbed = await submit_requests(redis, *asked), await submit_requests(redis, *asked)
    slow = simulated(SLOW, "--max-requests", "4")
    with worker_process(tmp_path, data, server.url, *slow) as worker:
        await until_recorded(redis, job_id, 10)
        worker.kill()
    with worker_process(tmp_path, data, server.url, *simulated(1)):
        for one in (job_id, undisturbed):
            await until_recorded(redis, one, len(asked))
    told, expected = [await responses_of(redis, one) for one in (job_id, undisturbed)]
    assert len({response.request_id for response in told}) == len(told) == 80
    likelihoods = {one.request_id: one.turns[0].likelihood for one in told}
    assert likelihoods == {one.request_id: one.turns[0].likelihood for one in expected}
    assert all(likelihoods.values())
    assert likelihoods["w0"] != likelihoods["w1"]
    assert {one.rasters[0].view.mask for one in told} == {"", "mean"}
