"""Every shape of traffic runs against a real installation, as its users would run it but briefly."""

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from loadtests.__main__ import SHAPES
from loadtests.installation import Installation, installed

ROOT = Path(__file__).parents[2]
AT_ONCE = [shape.name for shape in SHAPES if shape.name not in {"spike", "small_jobs"}]
CALLS = {
    "watchers": "first event",
    "exports": "export of a job",
    "chats": "a chat, streamed",
    "misbehaving": "nonsense",
    "soak": "/v1/jobs/{id} (delete)",
    "huge_job": "/v1/jobs/{id}/report of a huge job",
}


@pytest.fixture(scope="module")
def installation() -> Iterator[Installation]:
    """A gateway, a sink and a worker that answers at once."""
    with installed(1, "--speed", "0", "--max-requests", "64") as installation:
        yield installation


def run(url: str, names: list[str], folder: Path, users: int, wanted: Iterable[str] = ()) -> None:
    """Send the shapes together until all that is wanted was called, each without a failure."""
    files = ",".join(f"loadtests/{name}.py" for name in names)
    command = [sys.executable, "-m", "locust", "-f", files, "--headless", "--host", url, "-u", str(users), "-r", "20"]
    command += ["-t", "120s", "--stop-timeout", "120", "--csv", str(folder / "shapes"), "--only-summary"]
    brief = {"GIGAVQA_LOAD_SECONDS": "3", "GIGAVQA_LOAD_REQUESTS": "1000", "GIGAVQA_LOAD_UNTIMED": "1"}
    brief["GIGAVQA_LOAD_UNTIL_CALLED"] = "|".join(wanted)
    ended = subprocess.run(
        command, env={**os.environ, **brief}, cwd=ROOT, capture_output=True, text=True, timeout=250, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_every_shape_runs_without_a_failure(installation: Installation, tmp_path: Path) -> None:
    """All of them together: each does what it is for, and nothing fails."""
    assert set(CALLS) == set(AT_ONCE)
    run(installation.url, AT_ONCE, tmp_path, 12, CALLS.values())


def test_a_spike_comes_and_goes(installation: Installation, tmp_path: Path) -> None:
    """The shape with a course of its own ends by itself."""
    run(installation.url, ["spike"], tmp_path, 60)
