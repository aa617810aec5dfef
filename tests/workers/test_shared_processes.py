"""A worker of three models as a process of its own: killed, and on the real engine."""

import importlib.util
from pathlib import Path

import psutil
import pytest
from redis.asyncio import Redis

from gigavqa.catalogue.load import read_entry
from gigavqa.catalogue.write import write_entry
from gigavqa.runtime.embedded_store import StateStoreProcess
from tests.checkpoints.build import ensure_checkpoint
from tests.workers.examples import ENTRY, job_of, responses_of
from tests.workers.processes import simulated, worker_process
from tests.workers.shared_worker import MODELS, played, submit_to
from tests.workers.test_processes import until_recorded

FAMILIES = ("tiny-internvl3.5-hf", "tiny-qwen2.5-vl", "tiny-glm-4.5v")
SLOW = 0.05


@pytest.mark.slow
async def test_kills_lose_nothing_of_any_model(
    redis: Redis, server: StateStoreProcess, data: Path, tmp_path: Path
) -> None:
    """Killed in the shifts of different models, the worker leaves leases that run out: 90 responses, each once.

    Twice, because what is in play at a third death has spent its attempts and is held to be the cause.
    """
    job_id = await submit_to(redis, dict.fromkeys(MODELS, 10), requests_each=3)
    sources = [word for model in MODELS for word in ("--model-from", f"{model}={ENTRY.id}")]
    arguments = simulated(SLOW, *sources, "--max-requests", "6", "--shift-bundles", "4")
    for num_responses in (8, 40):
        with worker_process(tmp_path, data, server.url, *arguments, models=MODELS) as worker:
            await until_recorded(redis, job_id, num_responses)
            worker.kill()
    with worker_process(tmp_path, data, server.url, *arguments, models=MODELS) as worker:
        await until_recorded(redis, job_id, 90)
        worker.tell_to_end()
        assert worker.wait() == 0, worker.log
    responses, job = await responses_of(redis, job_id), await job_of(redis, job_id)
    assert len({response.request_id for response in responses}) == len(responses) == 90
    assert (job.request_counts.completed, job.request_counts.failed) == (90, 0)
    assert len(await played(redis, job_id)) >= len(MODELS)


@pytest.mark.slow
def test_one_source_for_several_models_is_refused(server: StateStoreProcess, data: Path, tmp_path: Path) -> None:
    """The worker ends with a line that says what to write."""
    arguments = ("--model-from", ENTRY.id)
    with worker_process(tmp_path, data, server.url, *arguments, models=MODELS) as worker:
        assert worker.wait() == 2
    assert f"ID={ENTRY.id}" in worker.log
    assert "Traceback" not in worker.log


@pytest.mark.engine
@pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vllm is not installed")
async def test_three_families_work_in_shifts_on_the_real_engine(
    redis: Redis, server: StateStoreProcess, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is loaded once and answers all of its requests; the engines of the others have ended by then."""
    monkeypatch.setenv("VLLM_CPU_KVCACHE_SPACE", "1")  # GiB; checkpoints in folders would have 4
    for model in FAMILIES:
        entry = read_entry(Path(__file__).parent / "families" / f"{model}.toml")
        weights = ensure_checkpoint(entry.weights, tmp_path / "checkpoints")
        write_entry(entry.model_copy(update={"weights": str(weights)}), tmp_path / "catalogue")
    job_id = await submit_to(redis, dict(zip(FAMILIES, (1, 2, 3), strict=True)), requests_each=2)
    with worker_process(tmp_path, data, server.url, models=FAMILIES, forked=True) as worker:
        await until_recorded(redis, job_id, 12, seconds=400)
        assert len(_engines()) == 1
        worker.tell_to_end()
        assert worker.wait() == 0, worker.log
    responses = await responses_of(redis, job_id)
    assert [response.failure for response in responses] == [None] * 12
    assert await played(redis, job_id) == list(zip(reversed(FAMILIES), (6, 4, 2), strict=True))
    engines = {response.engine.model_revision for response in responses if response.engine}
    assert len(engines) == len(FAMILIES)


def _engines() -> list[psutil.Process]:
    children = psutil.Process().children(recursive=True)  # forks are children of the server that forked them
    return [child for child in children if "EngineCore" in child.name() or "EngineCore" in " ".join(child.cmdline())]
