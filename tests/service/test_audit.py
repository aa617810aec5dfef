"""Who did what: a line for each change and each refusal, that nobody can forge and that tells no secret."""

import json
import logging
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gigavqa.service.operations import audit
from tests.service.gateways import RunningGateway
from tests.service.tenants import Tenant, make_key
from tests.waiting import wait_until


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where the audit log is written."""
    return tmp_path / "audit.jsonl"


@pytest.fixture
def locked(start: Callable[..., RunningGateway], file: Path) -> RunningGateway:
    """A gateway that asks for keys and keeps an audit log."""
    return start(require_keys=True, audit_log=str(file))


def lines(file: Path, number: int) -> list[dict[str, Any]]:
    """The log once it has so many lines, each a JSON object."""
    wait_until(lambda: file.exists() and len(file.read_bytes().splitlines()) >= number, what="the audit log's lines")
    return [json.loads(line) for line in file.read_bytes().splitlines()]


def test_each_change_is_told_with_who_made_it(locked: RunningGateway, file: Path) -> None:
    """Key, owner, role, method, route, job and status; what only reads is not told. Nobody else can read the file."""
    ada = Tenant(locked, "ada")
    made = ada.submit(headers={"X-Request-Id": "mine"})
    job_id = made.json()["id"]
    ada.get(f"/v1/jobs/{job_id}")
    ada.post(f"/v1/jobs/{job_id}/cancel")
    ada.delete(f"/v1/jobs/{job_id}")
    told = lines(file, 3)
    assert [(line["method"], line["route"], line["status"]) for line in told] == [
        ("POST", "/v1/jobs", 201),
        ("POST", "/v1/jobs/{job_id}/cancel", 200),
        ("DELETE", "/v1/jobs/{job_id}", 200),
    ]
    assert {(line["key"], line["owner"], line["role"], line["client"]) for line in told} == {
        (ada.key.id, "ada", "submit", "127.0.0.1")
    }
    assert (told[0]["request_id"], told[0]["made"]) == ("mine", f"/v1/jobs/{job_id}")
    assert told[1]["path"] == f"/v1/jobs/{job_id}/cancel"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_each_refusal_is_told(locked: RunningGateway, file: Path) -> None:
    """Also of what only reads: no key, a wrong one, a role too small, another's job, a rate, a foreign page or name."""
    ada, bob = Tenant(locked, "ada"), Tenant(locked, "bob", "read", requests_a_minute=2)
    adas = f"/v1/jobs/{ada.submit().json()['id']}"
    locked.client.get("/v1/jobs")
    locked.client.get("/v1/jobs", headers={"X-API-Key": "gvq_zzzzzzzz_" + "A" * 43})
    bob.get(adas)
    bob.post(f"{adas}/cancel")
    bob.get("/v1/jobs")
    ada.post(f"{adas}/cancel", headers={"Origin": "https://elsewhere.example"})
    ada.get("/v1/jobs", headers={"Host": "attacker.example"})
    told = lines(file, 8)[1:]
    assert [(line["status"], line["refused_for"], line["owner"]) for line in told] == [
        (401, "KeyInvalidError", None),
        (401, "KeyInvalidError", None),
        (404, "JobOfAnotherError", "bob"),
        (403, "RoleMissingError", "bob"),
        (429, "RateExceededError", "bob"),
        (403, "ForeignOriginError", None),
        (421, "HostUntrustedError", None),
    ]


def test_no_line_is_forged_and_no_secret_told(
    locked: RunningGateway, file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever stands in the path, and wherever the key does; each request makes one line of ASCII."""
    key, _ = make_key(locked.redis_url, "ada", "submit")
    hostile = '/v1/jobs/x%0A{"status":200,"owner":"root"}%0D%E2%80%A8%1b[2J' + "y" * 5000
    headers = {"X-API-Key": key, "Authorization": "Basic Og==", "User-Agent": key}
    with caplog.at_level(logging.INFO, logger="service.access"):
        for path in (hostile, f"/v1/jobs/{key}/cancel"):
            locked.client.post(path, headers=headers)
    told = lines(file, 2)
    text = file.read_bytes()
    assert len(told) == text.count(b"\n") == 2
    assert all(32 <= byte < 127 or byte == 10 for byte in text)
    assert all(len(line) < 2000 for line in text.splitlines())
    assert [line["owner"] for line in told] == ["ada", "ada"]
    assert told[1]["path"] == f"/v1/jobs/{key[:12]}_.../cancel"
    assert key[13:].encode() not in text
    assert key[13:] not in caplog.text


def test_a_log_that_cannot_be_written_is_counted_and_said(
    start: Callable[..., RunningGateway], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The line itself stands in the gateway's own log, so that it is not lost."""
    locked = start(require_keys=True, audit_log=str(tmp_path / "no" / "such" / "folder"))
    operator = Tenant(locked, "root", "operate")
    with caplog.at_level(logging.ERROR, logger=audit.log.name):
        assert operator.submit().status_code == 201
        wait_until(lambda: '"owner": "root"' in caplog.text, what="the line in the gateway's log")
    assert "gigavqa_audit_failures_total 1.0" in operator.get("/metrics").text


def test_a_log_that_is_moved_away_is_begun_anew(locked: RunningGateway, file: Path) -> None:
    """As who keeps logs does with it, without telling the gateway."""
    ada = Tenant(locked, "ada")
    ada.submit()
    lines(file, 1)
    file.rename(file.with_suffix(".1"))
    ada.submit()
    assert len(lines(file, 1)) == 1


def test_without_keys_changes_are_told_where_a_file_is_named(
    start: Callable[..., RunningGateway], file: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Nobody is known then; and where none is named, nothing is written."""
    start().submit()
    assert capfd.readouterr().err == ""
    start(audit_log=str(file)).submit()
    assert [(line["owner"], line["status"]) for line in lines(file, 1)] == [(None, 201)]
