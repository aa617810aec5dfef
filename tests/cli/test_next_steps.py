"""What `gigavqa` alone says, in whatever state it finds an installation."""

import re
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from gigavqa.cli.next_steps import GatewayState, Situation, describe
from tests.cli.conftest import Service
from tests.cli.installation import MODEL, Installation
from tests.cli.test_documented_commands import unknown

MOST_LINES = 13  # twelve, then where help is


def job(number: int, status: str, failed: int = 0) -> dict[str, Any]:
    """A job as the gateway lists it."""
    return {"id": f"job_{number}", "status": status, "spec": {"dataset": "demo"}, "request_counts": {"failed": failed}}


GATEWAYS = [
    None,
    GatewayState(refusal="it asks for a key"),
    GatewayState(),
    GatewayState([MODEL]),
    GatewayState([MODEL, "other"], [job(number, "in_progress") for number in range(40)]),
    GatewayState([MODEL], [job(2, "in_progress"), job(1, "completed", failed=3)]),
]
SITUATIONS = [
    Situation(Path("/home/of/somebody/.gigavqa"), "http://127.0.0.1:8470", datasets, report, gateway)
    for datasets, report, gateway in product(([], ["demo", "b", "c", "d"]), (None, Path("/r/report.html")), GATEWAYS)
]


@pytest.mark.parametrize("columns", [60, 80, 200])
@pytest.mark.parametrize("situation", SITUATIONS, ids=range(len(SITUATIONS)))
def test_every_state_is_told_in_a_dozen_lines_with_a_next_step(situation: Situation, columns: int) -> None:
    """Of commands that there are; the last line says where help is."""
    lines = describe(situation, columns)
    assert len(lines) <= MOST_LINES
    assert lines[-1].startswith("help ")
    steps = [line[10:].partition("   #")[0].strip() for line in lines if line[:10] in {"next      ", " " * 10}]
    assert steps
    commands = [step.removeprefix("gigavqa ") for step in steps if step.startswith("gigavqa ")]
    assert {command: found for command in commands if (found := unknown(command))} == {}


def test_open_jobs_come_first_then_what_has_ended() -> None:
    """With what failed."""
    found = Situation(Path("/h"), "http://g", ["demo"], None, GATEWAYS[-1])
    steps = re.findall(r"gigavqa (\w+ \S+)", "\n".join(describe(found, 200)[2:-1]))
    assert steps[:3] == ["watch job_2", "report job_1", "retry job_1"]


def test_where_nothing_is_the_demo_is_next(installation: Installation, tmp_path: Path) -> None:
    """With status 0, and nothing is made for it."""
    fresh = Installation(tmp_path / "fresh")
    text = fresh.ok()
    assert "nothing yet" in text
    assert re.search(r"^next +gigavqa demo ", text, re.MULTILINE)
    assert not fresh.home.exists()
    assert "1 data set: tiny" in installation.ok()


def test_a_running_gateway_is_told_with_its_models_and_jobs(service: Service) -> None:
    """From the gateway of GIGAVQA_URL."""
    assert f"{service.installation.url}: {MODEL}; no job yet" in service.installation.ok()
    submitted = service.installation.ok("submit", "-d", "tiny", "-m", "demo-sight").strip()
    assert f"gigavqa watch {submitted}" in service.installation.ok()
    service.installation.ok("cancel", submitted)


def test_an_address_of_something_else_is_told(installation: Installation) -> None:
    """Whatever it is: nothing breaks."""
    assert "none at nonsense" in replace(installation, url="nonsense").ok()
