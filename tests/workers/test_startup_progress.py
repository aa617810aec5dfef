"""What an engine tells of its start, and how it reaches those who wait for it."""

import asyncio
import os
from pathlib import Path

import pytest
from redis.asyncio import Redis

from gigavqa.store.worker_registry import EnginePhase, WorkerRegistry
from gigavqa.workers.engines.simulation.engine import SimulatedEngine
from gigavqa.workers.engines.vllm.startup_progress import DOWNLOADING, PHASE_VARIABLE, READING, PhaseFile, report_phase
from tests.checkpoints.build import ensure_checkpoint
from tests.waiting import async_wait_until
from tests.workers.examples import ENTRY
from tests.workers.simulated_worker import running_worker

HALF_READ = EnginePhase(name=READING, done_bytes=2**30, total_bytes=2**31)


class SlowEngine(SimulatedEngine):
    """Starts when it is let."""

    may_start = asyncio.Event()

    @property
    def phase(self) -> EnginePhase | None:
        """Half of the weights, for as long as it starts."""
        return None if self.may_start.is_set() else HALF_READ

    async def start(self) -> None:
        """Wait."""
        await self.may_start.wait()
        await super().start()


async def test_a_worker_announces_how_far_its_engine_is(redis: Redis, data: Path, tmp_path: Path) -> None:
    """The phase stands in the fleet while the engine starts, and no longer."""
    SlowEngine.may_start = asyncio.Event()

    async def phase() -> list[tuple[str, EnginePhase | None]]:
        return [(worker.state, worker.phase) for worker in await WorkerRegistry(redis).workers()]

    async def loading() -> bool:
        return await phase() == [("starting", HALF_READ)]

    async def ready() -> bool:
        return await phase() == [("ready", None)]

    async with running_worker(redis, data, tmp_path, lambda: SlowEngine(ENTRY, speed=0)):
        await async_wait_until(loading, what="the announced phase")
        SlowEngine.may_start.set()
        await async_wait_until(ready, what="the worker's readiness")


@pytest.mark.parametrize(
    ("phase", "words"),
    [
        (HALF_READ, "reading weights, 50 % of 2.0 GiB"),
        (EnginePhase(name=DOWNLOADING, done_bytes=3 * 2**29), "downloading weights, 1.5 GiB so far"),
        (EnginePhase(name="warming up"), "warming up"),
    ],
)
def test_a_phase_is_told_with_its_share_where_there_is_one(phase: EnginePhase, words: str) -> None:
    """Share and size, bytes so far, or the name alone."""
    assert str(phase) == words


def test_what_an_engine_tells_is_read_until_it_has_started() -> None:
    """Before the first phase and after the end there is none, and nothing is told to nobody."""
    file = PhaseFile("/weights")
    file.open()
    assert file.read() is None
    report_phase(READING, 2**30, 2**31)
    assert file.read() == HALF_READ
    file.close()
    report_phase(READING, 1, 2)
    assert file.read() is None
    assert PHASE_VARIABLE not in os.environ


def test_a_download_is_followed_by_the_bytes_in_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unfinished files count, too."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    blobs = tmp_path / "models--Qwen--Qwen9-VL" / "blobs"
    blobs.mkdir(parents=True)
    (blobs / "a").write_bytes(b"x" * 1000)
    (blobs / "b.incomplete").write_bytes(b"x" * 500)
    file = PhaseFile("Qwen/Qwen9-VL")
    file.open()
    report_phase(DOWNLOADING)
    assert file.read() == EnginePhase(name=DOWNLOADING, done_bytes=1500)
    file.close()


@pytest.mark.engine
async def test_vllm_tells_its_phases_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From its import over the weights, with their size, to the warm-up."""
    from gigavqa.workers.engines.vllm.engine import VllmEngine

    monkeypatch.setattr(PhaseFile, "close", lambda self: None)  # which would forget them
    weights = ensure_checkpoint(ENTRY.weights, tmp_path)
    engine = VllmEngine(ENTRY, str(weights))
    await engine.start()
    told = engine._phases.told()
    await engine.stop()
    monkeypatch.undo()
    engine._phases.close()
    size = sum(path.stat().st_size for path in weights.glob("*.safetensors"))
    names = list(dict.fromkeys(phase.name for phase in told))
    assert names == ["loading vLLM", READING, "preparing the model", "profiling memory", "warming up"]
    assert {phase.total_bytes for phase in told if phase.name == READING} == {size}
