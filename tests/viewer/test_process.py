"""The viewer as a process: what it refuses to start with, and how it is set."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from gigavqa.launcher import preflight
from gigavqa.launcher.stack import Stack, StackOptions
from gigavqa.runtime.errors import SettingsInvalidError
from gigavqa.runtime.home import Home
from gigavqa.runtime.settings import ProcessSettings
from gigavqa.service.settings import GatewaySettings
from gigavqa.store.listen_settings import requires_keys
from gigavqa.viewer.settings import ViewerSettings
from tests.viewer.viewing import viewing


def test_a_viewer_that_others_could_reach_does_not_start_while_there_is_no_key(tmp_path: Path) -> None:
    """Status 2, and one sentence that says what to do; in its own words, since the gateway has others."""
    command = [sys.executable, "-m", "gigavqa.viewer", "--home", str(tmp_path), "--host", "0.0.0.0", "--port", "0"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    assert "gigavqa admin keys create" in ended.stderr
    assert "may see every picture of the data root, say GIGAVQA_VIEWER_ALLOW_UNAUTHENTICATED=1" in ended.stderr


@pytest.mark.parametrize("kind", [GatewaySettings, ViewerSettings])
@pytest.mark.parametrize("address", ["javascript:alert(1)", "127.0.0.1:8471", 'http://a"b'])
def test_the_address_of_the_viewer_is_one_that_a_page_can_link_to(kind: type[ProcessSettings], address: str) -> None:
    """Gateway and viewer read the same variable, and refuse the same."""
    with pytest.raises(SettingsInvalidError, match="GIGAVQA_VIEWER_URL"):
        kind.from_environment({"GIGAVQA_VIEWER_URL": address})


def test_behind_a_proxy_descriptions_name_the_address_that_browsers_use(tmp_path: Path) -> None:
    """And not the one that the proxy uses; its name is trusted without being said twice, and wants keys."""
    (tmp_path / "data").mkdir()
    Image.new("RGB", (1, 1)).save(tmp_path / "data" / "a.png")
    named = ("--url", "https://slides.example.org/viewer/")
    assert requires_keys(ViewerSettings.read(named, {}))
    with viewing(tmp_path, *named, "--allow-unauthenticated") as running:
        told = running.get("a.png", "info.json", host="slides.example.org").json()
        assert told["id"] == "https://slides.example.org/viewer/iiif/3/a.png"


@pytest.mark.parametrize(("asks", "anybody", "asks_too"), [(True, "", True), (True, "1", False), (False, "", False)])
def test_a_viewer_asks_for_keys_beside_a_gateway_that_does(
    monkeypatch: pytest.MonkeyPatch, asks: bool, anybody: str, asks_too: bool
) -> None:
    """On this machine's own address, too; keys in front of the gateway alone would keep nobody from the pictures."""
    monkeypatch.setenv("GIGAVQA_VIEWER_ALLOW_UNAUTHENTICATED", anybody)
    assert preflight.viewer_requires_keys(asks) is asks_too
    options = StackOptions(Home(), (), (), host="0.0.0.0", viewer_port=8471, viewer_requires_keys=asks_too)
    (viewer,) = Stack(options, "unix:///none", print).viewers
    assert ("--require-keys" in viewer.program.argv) is asks_too


def test_the_command_takes_the_same_settings(tmp_path: Path) -> None:
    """`gigavqa viewer` is `python -m gigavqa.viewer`: wrong variables are named by both."""
    environ = {**os.environ, "GIGAVQA_HOME": str(tmp_path), "GIGAVQA_VIEWER_RENDERS": "0"}
    command = [sys.executable, "-m", "gigavqa", "viewer", "--port", "0"]
    ended = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, "GIGAVQA_VIEWER_RENDERS" in ended.stderr) == (2, True)
