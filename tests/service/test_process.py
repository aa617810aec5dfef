"""The gateway as a process: `python -m service`."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from service.settings import Settings
from tests.service.datasets import NAME
from tests.service.gateways import MODEL
from tests.waiting import wait_until

BODY = {"dataset": NAME, "models": [MODEL], "plan": "table1"}
Launch = Callable[..., tuple["subprocess.Popen[bytes]", str]]


@pytest.fixture
def launch(settings: Settings, tmp_path: Path) -> Iterator[Launch]:
    """Starts gateway processes; what is left of them ends with the test."""
    started: list[subprocess.Popen[bytes]] = []
    environ = {"GIGAVQA_HOME": str(settings.home.folder), "REDIS_URL": str(settings.home.redis_url)}

    def start(**variables: str) -> tuple["subprocess.Popen[bytes]", str]:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        command = [sys.executable, "-m", "service", "--port", str(port)]
        with (tmp_path / "gateway.log").open("ab") as log:
            process = subprocess.Popen(command, env={**os.environ, **environ, **variables}, stderr=log)
        started.append(process)
        return process, f"http://127.0.0.1:{port}"

    yield start
    for process in started:
        process.kill()
        process.wait()


def answers(url: str) -> bool:
    """Whether the gateway is ready."""
    try:
        return httpx.get(f"{url}/readyz").is_success
    except httpx.TransportError:
        return False


def test_a_gateway_process_ends_cleanly_with_an_open_stream(launch: Launch, tmp_path: Path) -> None:
    """SIGTERM ends the stream and then the process, which does not wait until its grace period is over."""
    process, url = launch()
    wait_until(lambda: answers(url), what="readiness")
    job_id = httpx.post(f"{url}/v1/jobs", json=BODY).json()["id"]
    with httpx.stream("GET", f"{url}/v1/jobs/{job_id}/events", timeout=20) as response:
        received = response.iter_lines()
        assert "event:" in next(received) + next(received)
        process.send_signal(signal.SIGTERM)
        for _ in received:
            pass
    process.wait(timeout=20)
    assert "graceful shutdown exceeded" not in (tmp_path / "gateway.log").read_text()


def test_jobs_outlive_the_gateway(launch: Launch) -> None:
    """A gateway that was killed finds its jobs again."""
    process, url = launch()
    wait_until(lambda: answers(url), what="readiness")
    job = httpx.post(f"{url}/v1/jobs", json=BODY).json()
    process.kill()
    process.wait()
    _, url = launch()
    wait_until(lambda: answers(url), what="readiness")
    assert httpx.get(f"{url}/v1/jobs/{job['id']}").json() == job


def test_wrong_settings_end_the_process_with_their_name(launch: Launch, tmp_path: Path) -> None:
    """The variable is named, and nothing starts."""
    process, _ = launch(GIGAVQA_INLINE_SAMPLES="few")
    assert process.wait(timeout=20) == 2
    assert "GIGAVQA_INLINE_SAMPLES" in (tmp_path / "gateway.log").read_text()
