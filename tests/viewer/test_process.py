"""The viewer as a process: what it refuses to start with, and how it is set."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from cli.stack import StackOptions
from jobs.errors import SettingsInvalidError
from jobs.home import Home
from jobs.settings import ProcessSettings
from service.settings import Settings
from tests.viewer.viewing import viewing
from viewer.settings import ViewerSettings


def test_a_viewer_that_others_could_reach_does_not_start_unless_it_is_told_to(tmp_path: Path) -> None:
    """Status 2, and one sentence that says what to do."""
    command = [sys.executable, "-m", "viewer", "--home", str(tmp_path), "--host", "0.0.0.0", "--port", "0"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    assert "--allow-unauthenticated" in ended.stderr


@pytest.mark.parametrize("kind", [Settings, ViewerSettings])
@pytest.mark.parametrize("address", ["javascript:alert(1)", "127.0.0.1:8471", 'http://a"b'])
def test_the_address_of_the_viewer_is_one_that_a_page_can_link_to(kind: type[ProcessSettings], address: str) -> None:
    """Gateway and viewer read the same variable, and refuse the same."""
    with pytest.raises(SettingsInvalidError, match="GIGAVQA_VIEWER_URL"):
        kind.from_environment({"GIGAVQA_VIEWER_URL": address})


def test_behind_a_proxy_descriptions_name_the_address_that_browsers_use(tmp_path: Path) -> None:
    """And not the one that the proxy uses; its name is trusted without being said twice."""
    (tmp_path / "data").mkdir()
    Image.new("RGB", (1, 1)).save(tmp_path / "data" / "a.png")
    with viewing(tmp_path, "--url", "https://slides.example.org/viewer/") as running:
        told = running.get("a.png", "info.json", host="slides.example.org").json()
        assert told["id"] == "https://slides.example.org/viewer/iiif/3/a.png"


@pytest.mark.parametrize(
    ("host", "anybody", "listens"),
    [("127.0.0.1", False, "127.0.0.1"), ("0.0.0.0", True, "0.0.0.0"), ("0.0.0.0", False, "127.0.0.1")],
)
def test_beside_a_gateway_that_asks_for_keys_the_viewer_stays_on_this_machine(
    host: str, anybody: bool, listens: str
) -> None:
    """It asks nobody who he is, so that keys in front of the gateway would keep nobody from the pictures."""
    options = StackOptions(Home(), (), (), host=host, allow_unauthenticated=anybody, viewer_port=8471)
    assert options.viewer_host == listens


def test_the_command_takes_the_same_settings(tmp_path: Path) -> None:
    """`gigavqa viewer` is `python -m viewer`: wrong variables are named by both."""
    environ = {**os.environ, "GIGAVQA_HOME": str(tmp_path), "GIGAVQA_VIEWER_RENDERS": "0"}
    command = [sys.executable, "-m", "cli", "viewer", "--port", "0"]
    ended = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, "GIGAVQA_VIEWER_RENDERS" in ended.stderr) == (2, True)
