"""A worker whose engine dies, at its start or in a job, leaves no process behind; the job says what it waits for."""

import contextlib
import importlib.util
from pathlib import Path

import psutil
import pytest
from redis.asyncio import Redis

from gigavqa.cli.following import obstacles
from gigavqa.runtime.embedded_store import StateStoreProcess
from gigavqa.store.queue import JobQueue
from gigavqa.store.worker_registry import WorkerRegistry
from tests.waiting import async_wait_until, wait_until
from tests.workers.examples import ENTRY, job_of, submit
from tests.workers.processes import WorkerProcess, worker_process

pytestmark = [
    pytest.mark.engine,
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vllm is not installed"),
]
WAITS = f"no worker serves {ENTRY.id}: its requests wait. `gigavqa up --model {ENTRY.id} --port 0` starts one"


@pytest.fixture(autouse=True)
def core_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine's core runs in a process of its own, as on a GPU."""
    monkeypatch.setenv("VLLM_ENABLE_V1_MULTIPROCESSING", "1")


def engine_processes(worker: WorkerProcess) -> list[psutil.Process]:
    """All that a worker has started, and what of them has started more."""
    return psutil.Process(worker.pid).children(recursive=True)


def find_core(worker: WorkerProcess) -> psutil.Process | None:
    """The engine's core, as it has just been spawned, or under the name that vLLM gives it."""
    for process in engine_processes(worker):
        with contextlib.suppress(psutil.Error):  # a helper of the start that has just ended
            words = " ".join(process.cmdline())
            if "EngineCore" in words or "spawn_main" in words:
                return process
    return None


def kill_core(worker: WorkerProcess) -> list[psutil.Process]:
    """Kill the engine's core, as the kernel does when memory ends; returns what the worker had started by then."""
    wait_until(lambda: find_core(worker), timeout=240, what="the engine's core")
    started, core = engine_processes(worker), find_core(worker)
    assert core
    core.kill()
    return started


def left_of(started: list[psutil.Process]) -> list[psutil.Process]:
    """Those that still run a minute later."""
    _, alive = psutil.wait_procs(started, timeout=60)
    return [process for process in alive if process.status() != psutil.STATUS_ZOMBIE]


async def what_it_waits_for(redis: Redis) -> list[str]:
    """What whoever follows the job is told."""
    return list(obstacles([ENTRY.id], await WorkerRegistry(redis).workers()))


async def test_an_engine_that_dies_at_its_start_leaves_no_process_and_a_job_that_waits(
    redis: Redis, server: StateStoreProcess, data: Path, tmp_path: Path
) -> None:
    """The worker ends with 1; nothing of the job is lost or spent."""
    job_id = await submit(redis, 1, 2)
    with worker_process(tmp_path, data, server.url) as worker:
        started = kill_core(worker)
        assert worker.wait(120) == 1, worker.log
    assert f"vLLM cannot start {ENTRY.id}: " in worker.log
    assert started and left_of(started) == []
    (told,) = await what_it_waits_for(redis)
    assert told.startswith(WAITS)
    leases = await JobQueue(redis).claim([ENTRY.id], "next", 10, 0)
    assert ((await job_of(redis, job_id)).request_counts.completed, [lease.attempt for lease in leases]) == (0, [1])


async def test_an_engine_that_dies_in_a_job_and_does_not_come_back_hands_the_job_on(
    redis: Redis, server: StateStoreProcess, data: Path, tmp_path: Path
) -> None:
    """Where no other may start: the worker ends with 1, and what it held can be claimed at once."""
    job_id = await submit(redis, 30, 4)
    with worker_process(tmp_path, data, server.url, "--max-starts", "0") as worker:
        worker.wait_until_ready(timeout=240)

        async def has_begun() -> bool:
            return (await job_of(redis, job_id)).request_counts.completed > 0

        await async_wait_until(has_begun, timeout=60, what="a response")
        started = kill_core(worker)
        assert worker.wait(120) == 1, worker.log
    assert "the engine died and did not start again in 0 attempts" in worker.log
    assert started and left_of(started) == []
    (told,) = await what_it_waits_for(redis)
    assert told.startswith(WAITS)
    depth = await JobQueue(redis).depth(ENTRY.id)
    counts = (await job_of(redis, job_id)).request_counts
    assert (depth.leased, depth.waiting > 0, counts.failed) == (0, True, 0)
