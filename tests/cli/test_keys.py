"""`gigavqa admin keys`, before there is a service and beside one; every command that asks a gateway has a key."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from gigavqa.runtime.embedded_store import start_store
from gigavqa.service.settings import GatewaySettings
from tests.cli.installation import MODEL, Installation, sample, write_dataset
from tests.service.gateways import RunningGateway, running


@dataclass(frozen=True)
class Keyed(Installation):
    """An installation whose commands present a key."""

    key: str = ""

    @property
    def environment(self) -> dict[str, str]:
        """With the key where every command looks for it."""
        return super().environment | {"GIGAVQA_API_KEY": self.key}


def servers(home: Path) -> list[str]:
    """The state stores that run on this home, whoever their parent is now."""
    found = [each.info for each in psutil.process_iter(["name", "cwd"])]
    return [each["name"] for each in found if "valkey" in each["name"] and str(home) in (each["cwd"] or "")]


@pytest.mark.slow
def test_the_first_key_is_made_before_anything_runs(installation: Installation) -> None:
    """It is printed alone, once, and the list tells whose it is and not what; no server is left running."""
    run = installation.run("keys", "create", "--name", "laptop", "--owner", "ada", "--role", "operate")
    assert run.returncode == 0, run.stderr
    key = run.stdout.strip()
    assert key.startswith("gvq_")
    assert len(key) == 56
    assert "shown this once" in run.stderr
    assert key[13:] not in run.stderr
    (listed,) = installation.json("keys", "list", "--json")
    assert (listed["id"], listed["owner"], listed["role"], listed["state"]) == (key[4:12], "ada", "operate", "valid")
    table = installation.ok("keys", "list")
    assert "ada" in table
    assert key[13:] not in table + json.dumps(listed)
    assert servers(installation.home) == []


@pytest.mark.slow
def test_limits_and_expiry_are_kept_as_said(installation: Installation) -> None:
    """0 is no limit but the gateway's own; a time counts from now."""
    arguments = ("--requests-a-minute", "0", "--queued-requests", "7", "--expires", "90d", "--json")
    made = installation.json("keys", "create", "--name", "x", "--owner", "lab-3", *arguments)
    assert (made["role"], made["limits"]["requests_a_minute"], made["limits"]["queued_requests"]) == ("submit", None, 7)
    assert made["expires_at"] > made["created_at"]
    revoked = installation.json("keys", "revoke", made["key"], "--json")
    assert revoked["id"] == made["id"]
    assert [one["state"] for one in installation.json("keys", "list", "--json")] == ["revoked"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("create", "--name", "x", "--owner", "a b"), "--owner"),
        (("create", "--name", "x", "--owner", "a", "--role", "root"), "--role"),
        (("create", "--name", "x", "--owner", "a", "--expires", "soon"), "--expires 'soon'"),
        (("create", "--name", "x", "--owner", "a", "--expires", "2001-01-01"), "over already"),
        (("create", "--name", "x", "--owner", "a", "--open-streams", "-1"), "--open-streams"),
        (("revoke", "12345678"), "no key 12345678"),
    ],
)
def test_what_is_wrong_is_named(installation: Installation, arguments: tuple[str, ...], said: str) -> None:
    """Status 2, and one sentence."""
    run = installation.run("keys", *arguments)
    assert run.returncode == 2
    assert said in run.stderr


@pytest.fixture
def keyed(tmp_path: Path) -> Iterator[tuple[RunningGateway, Keyed]]:
    """A gateway that asks for keys, on the installation's own server, and the installation with a key of Ada's."""
    home = tmp_path / "home"
    write_dataset(home / "data" / "tiny", [sample(number, "images/plaza.png") for number in range(4)])
    settings = GatewaySettings.from_environment({"GIGAVQA_HOME": str(home)}).model_copy(update={"require_keys": True})
    server = start_store(settings.server)
    try:
        key = Installation(home).ok("keys", "create", "--name", "x", "--owner", "ada").strip()
        with running(settings) as gateway:
            yield gateway, Keyed(home, gateway.url, key=key)
    finally:
        server.stop()


@pytest.mark.slow
def test_every_command_presents_the_key(keyed: tuple[RunningGateway, Keyed]) -> None:
    """Those that ask a gateway; without the key, or when it is revoked beside the gateway, they say what is missing."""
    gateway, installation = keyed
    job_id = installation.ok("submit", "-d", "tiny", "-m", MODEL, "--cell", "S0:V1").strip()
    for command in (("jobs",), ("workers",), ("results", job_id), ("report", job_id), ("verdicts", job_id)):
        installation.ok(*command)
    assert installation.json("cancel", job_id, "--json")["owner"] == "ada"
    missing = Installation(installation.home, gateway.url).run("jobs")
    assert missing.returncode == 2
    assert "GIGAVQA_API_KEY" in missing.stderr
    installation.ok("keys", "revoke", installation.key)
    refused = installation.run("jobs")
    assert refused.returncode == 2
    assert "is revoked" in refused.stderr
    assert installation.key[13:] not in refused.stderr
