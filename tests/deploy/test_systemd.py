"""The units of deploy/systemd: systemd reads them whole, and what they start and wait for is the program's."""

import importlib.util
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from gigavqa.service.settings import GatewaySettings
from gigavqa.workers.settings import WorkerSettings
from tests.deploy.manifests import ROOT

UNITS = sorted((ROOT / "deploy" / "systemd").glob("*.service"))


def _value(unit: Path, name: str) -> str:
    (found,) = re.findall(rf"^{name}=(.*)$", unit.read_text("utf-8"), re.MULTILINE)
    return str(found)


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_systemd_takes_the_unit(unit: Path, tmp_path: Path) -> None:
    """Every line, and the program in its place."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed on this machine")
    name = unit.name.replace("@", "@qwen3-vl-8b")
    here = unit.read_text("utf-8").replace("/opt/gigavqa/bin/python", shutil.which("true") or "/bin/true")
    (tmp_path / name).write_text(here.replace("User=gigavqa\nGroup=gigavqa\n", ""))
    command = ["systemd-analyze", "verify", "--man=no", str(tmp_path / name)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    said = [line for line in done.stderr.splitlines() if name in line]
    assert said == [], done.stderr


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_a_unit_starts_a_room_and_waits_for_its_end(unit: Path) -> None:
    """With arguments that it knows, and more time than it takes."""
    _, *words = shlex.split(_value(unit, "ExecStart").replace("%i", "demo-qwen3-vl"))
    assert words[:2] == ["-P", "-m"] and importlib.util.find_spec(words[2])
    kind = WorkerSettings if words[2] == "gigavqa.workers" else GatewaySettings
    settings = kind.read(words[3:], {})
    drain = settings.grace_seconds + 20 + getattr(settings, "drain_seconds", 0)
    assert float(_value(unit, "TimeoutStopSec")) > drain
    assert _value(unit, "RestartPreventExitStatus") == "2"
