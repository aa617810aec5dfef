"""An engine is ended wholly, also when its processes end while they are being ended."""

import importlib.util
import os
import signal
from pathlib import Path
from typing import Any

import psutil
import pytest

from gigavqa.workers.engines.vllm.engine import VllmEngine
from tests.checkpoints.build import ensure_checkpoint
from tests.workers.examples import ENTRY

pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vllm is not installed"),
]


async def test_a_core_that_is_gone_when_its_children_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is frozen, so that it outlives its time; the look at its children says once that there is no such process."""
    monkeypatch.setenv("VLLM_ENABLE_V1_MULTIPROCESSING", "1")
    engine = VllmEngine(ENTRY, str(ensure_checkpoint(ENTRY.weights, tmp_path)))
    await engine.start()
    cores = [psutil.Process(each.pid) for each in engine._llm.engine_core.resources.engine_manager.processes]
    look, looks = psutil.Process.children, []

    def gone_once(process: psutil.Process, *args: Any, **settings: Any) -> Any:
        looks.append(process.pid)
        if len(looks) == 1:
            raise psutil.NoSuchProcess(process.pid)
        return look(process, *args, **settings)

    monkeypatch.setattr(psutil.Process, "children", gone_once)
    os.kill(cores[0].pid, signal.SIGSTOP)
    await engine.stop()
    assert looks and not [core for core in cores if core.is_running() and core.status() != psutil.STATUS_ZOMBIE]
