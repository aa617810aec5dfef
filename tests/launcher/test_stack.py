"""What `gigavqa up` tells its workers."""

import sys
from pathlib import Path

import pytest

from gigavqa.launcher.placement import WorkerPlan
from gigavqa.launcher.stack import Stack, StackOptions
from gigavqa.runtime.home import Home


@pytest.mark.parametrize(("seconds", "told"), [(None, []), (30.0, ["--shift", "30.0"])])
def test_workers_are_told_what_was_asked_for_and_nothing_else(
    tmp_path: Path, seconds: float | None, told: list[str]
) -> None:
    """Arguments of all, then of the worker's own engines; without a time slice the worker chooses one."""
    options = StackOptions(
        Home.from_environment({"GIGAVQA_HOME": str(tmp_path)}),
        (),
        (WorkerPlan("worker-0", ("alpha", "beta"), arguments=("dtype=float16",)),),
        engine_arguments=("seed=1",),
        shift_seconds=seconds,
    )
    (worker,) = Stack(options, "redis://state", announce=lambda *_: None).workers
    models = ["--model", "alpha", "--model", "beta"]
    assert worker.program.argv == [
        sys.executable, "-P", "-m", "gigavqa.workers", *models, "--metrics-port", "0",
        "--engine", "vllm", "--engine-arg", "seed=1", *told, "--engine-arg", "dtype=float16",
    ]  # fmt: skip
    assert worker.program.environment["REDIS_URL"] == "redis://state"
