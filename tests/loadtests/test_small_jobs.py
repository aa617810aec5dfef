"""The load test runs against real processes, and its exit status can be trusted."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.flow.installation import Installation
from tests.flow.jobs import MODEL
from tests.flow.pictures import draw_dataset
from tests.waiting import wait_until

LOADTEST = Path(__file__).parents[2] / "loadtests" / "small_jobs.py"


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    """A gateway with a small data set, and a worker that answers at once."""
    draw_dataset(tmp_path / "data" / "plazas", images=1, questions=2)
    installation = Installation(tmp_path)
    try:
        installation.start_server()
        installation.start_gateway()
        installation.start_worker("--model", MODEL, "--engine", "simulated", "--speed", "0")
        workers = f"{installation.url}/v1/workers"
        wait_until(lambda: httpx.get(workers, timeout=10).json()["data"], timeout=60, what="the worker's announcement")
        yield installation
    finally:
        installation.stop()


def _run(host: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "locust", "-f", str(LOADTEST), "--headless", "-u", "3", "-r", "3", "-t", "5s"]
    return subprocess.run([*command, "--host", host], capture_output=True, text=True, timeout=90, check=False)


def test_small_jobs_are_served_without_a_failure(installation: Installation) -> None:
    """A few seconds of three clients end with status 0, having read reports."""
    ended = _run(installation.url)
    assert ended.returncode == 0, ended.stderr
    assert "/v1/jobs/{id}/report" in ended.stderr + ended.stdout


def test_a_gateway_that_is_away_fails_the_load_test() -> None:
    """Nothing listens: status 1."""
    assert _run("http://127.0.0.1:9").returncode == 1


def test_other_machines_are_never_a_target() -> None:
    """An address beyond loopback is refused before a single call."""
    ended = _run("http://192.0.2.1")
    assert ended.returncode != 0
    assert "this machine only" in ended.stderr + ended.stdout
