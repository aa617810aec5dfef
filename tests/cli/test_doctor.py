"""The doctor tells a working installation from a broken one."""

import json
import socket
from pathlib import Path

import pytest
import redis

from cli.checks import machine, state
from jobs.server import start_server
from tests.cli.installation import Installation

CHECKS = {"Python", "libvips", "OpenSlide", "PyTorch", "vLLM", "GPU", "server", "data root", "disk", "port"}


def test_doctor_looks_at_every_part(installation: Installation) -> None:
    """Each finding that is not ok says what to do."""
    run = installation.run("doctor", "--json", "--port", "0", timeout=200)
    findings = json.loads(run.stdout)
    assert {finding["name"] for finding in findings} == CHECKS
    assert [finding for finding in findings if finding["status"] != "ok" and not finding["advice"]] == []
    assert run.returncode == any(finding["status"] == "fail" for finding in findings)


def test_a_server_that_does_not_answer_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """REDIS_URL without a server behind it, and what to do."""
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:9/0")
    finding = state.server()
    assert finding.status == "fail"
    assert "REDIS_URL" in finding.advice


def test_a_server_that_evicts_is_a_failure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A server behind REDIS_URL that drops keys when its memory is full, and what to set."""
    server = start_server(tmp_path)
    redis.Redis.from_url(server.url).config_set("maxmemory-policy", "allkeys-lru")
    monkeypatch.setenv("REDIS_URL", server.url)
    finding = state.server()
    server.stop()
    assert finding.status == "fail"
    assert "allkeys-lru" in finding.found
    assert "noeviction" in finding.advice


def test_a_port_that_another_program_holds_is_a_warning() -> None:
    """The advice names the way out."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        finding = machine.port(other.getsockname()[1])
    assert finding.status == "warn"
    assert "--port 0" in finding.advice
