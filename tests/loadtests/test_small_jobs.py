"""The load test runs against real processes, and its exit status can be trusted."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
LOADTEST = ROOT / "loadtests" / "small_jobs.py"


def _run(host: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "locust", "-f", str(LOADTEST), "--headless", "-u", "3", "-r", "3", "-t", "5s"]
    command += ["--stop-timeout", "60"]
    return subprocess.run([*command, "--host", host], capture_output=True, text=True, timeout=90, check=False)


def test_the_command_runs_a_shape_and_tells_of_it(tmp_path: Path) -> None:
    """A few seconds of small jobs end with status 0, a table, CSV and a page, all of which say what was called."""
    command = [sys.executable, "-m", "loadtests", "--only", "small_jobs", "--folder", str(tmp_path), "--seconds"]
    untimed = {**os.environ, "GIGAVQA_LOAD_PATIENCE": "inf", "GIGAVQA_LOAD_UNTIL_CALLED": "/v1/jobs/{id}/report"}
    ended = subprocess.run(
        [*command, "90"], cwd=ROOT, env=untimed, capture_output=True, text=True, timeout=250, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert (tmp_path / "table.md").read_text() == ended.stdout
    assert "| small_jobs | p99 of `/v1/jobs/{id}/report` | 3,000 ms |" in ended.stdout
    assert "/v1/jobs/{id}/report" in (tmp_path / "small_jobs_stats.csv").read_text()
    assert "/v1/jobs/{id}/report" in (tmp_path / "small_jobs.html").read_text()


def test_a_gateway_that_is_away_fails_the_load_test() -> None:
    """Nothing listens: status 1."""
    assert _run("http://127.0.0.1:9").returncode == 1


def test_other_machines_are_never_a_target() -> None:
    """An address beyond loopback is refused before a single call."""
    ended = _run("http://192.0.2.1")
    assert ended.returncode != 0
    assert "this machine only" in ended.stderr + ended.stdout
