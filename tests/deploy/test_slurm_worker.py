"""The batch script of a worker, without Slurm: how often it starts one that cannot go on."""

import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "deploy/slurm/workers.sbatch"


@pytest.mark.parametrize(("status", "starts"), [(0, 1), (1, 5), (2, 1)], ids=["idle", "failing", "wrong settings"])
def test_a_worker_that_fails_again_and_again_gives_its_gpu_back(tmp_path: Path, status: int, starts: int) -> None:
    """And one with wrong settings at once; the task's status is the worker's."""
    for name, text in {"python": f"echo started; exit {status}", "sleep": ":"}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    told = {"GIGAVQA_PYTHON": str(tmp_path / "python"), "REDIS_URL": "redis://x", "GIGAVQA_WORKER_MODELS": "m"}
    environment = os.environ | told | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    run = subprocess.run(
        ["bash", str(SCRIPT)], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert (run.returncode, run.stdout.count("started")) == (status, starts), run.stderr
    assert ("five times in a row" in run.stderr) == (starts == 5)
