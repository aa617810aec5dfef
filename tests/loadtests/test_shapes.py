"""Every shape of traffic runs against a real installation, as its users would run it but briefly, and is judged."""

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from loadtests import verdicts
from loadtests.__main__ import SHAPES
from loadtests.installation import Installation, running_installation

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
AT_ONCE = [shape.name for shape in SHAPES if shape.name not in {"spike", "small_jobs"}]
CALLS = {
    "watchers": ("first event",),
    "exports": ("export of a job", "/v1/jobs"),
    "chats": ("a chat", "first piece of a streamed chat"),
    "misbehaving": ("a small job beside misbehaviour, to its end", "nonsense", "flood of jobs"),
    "soak": ("/v1/jobs/{id} (delete)", "/metrics"),
    "huge_job": ("/v1/jobs/{id}/report of a huge job",),
}


@pytest.fixture(scope="module")
def installation() -> Iterator[Installation]:
    """A gateway, a sink and a worker that answers at once."""
    with running_installation(1, "--speed", "0", "--max-requests", "64") as installation:
        yield installation


def run(
    url: str,
    names: list[str],
    folder: Path,
    users: int,
    *,
    patience: str = "inf",
    wanted: Iterable[str] = (),
    grace: str = "120",
) -> tuple[int, str]:
    """Send the shapes together until all that is wanted was called; returns the exit status, and what is said."""
    files = ",".join(f"loadtests/{name}.py" for name in names)
    command = [sys.executable, "-m", "locust", "-f", files, "--headless", "--host", url, "-u", str(users), "-r", "20"]
    command += ["-t", "120s", "--stop-timeout", grace, "--csv", str(folder / "shapes"), "--only-summary"]
    brief = {
        "GIGAVQA_LOAD_SECONDS": "3",
        "GIGAVQA_LOAD_REQUESTS": "1000",
        "GIGAVQA_LOAD_PATIENCE": patience,
        "GIGAVQA_LOAD_UNTIL_CALLED": "|".join(wanted),
        "GIGAVQA_LOAD_VERDICTS": str(folder / "verdicts.csv"),
    }
    ended = subprocess.run(
        command, env={**os.environ, **brief}, cwd=ROOT, capture_output=True, text=True, timeout=250, check=False
    )
    return ended.returncode, ended.stdout + ended.stderr


def test_without_patience_every_shape_misses_its_times_and_nothing_else(
    installation: Installation, tmp_path: Path
) -> None:
    """All of them together do what they are for without a failure; each time is judged, and the exit status tells."""
    assert set(CALLS) == set(AT_ONCE)
    wanted = [name for names in CALLS.values() for name in names]
    status, said = run(installation.url, AT_ONCE, tmp_path, 14, patience="0", wanted=wanted)
    found = verdicts.read(tmp_path / "verdicts.csv")
    times = [verdict.what for verdict in found if verdict.what.startswith(("p99 of", "requests a second"))]
    assert [verdict.what for verdict in found if not verdict.kept] == times, said
    called = {verdict.what for verdict in found if verdict.found != "never called"}
    assert {f"p99 of `{name}`" for name in wanted} <= called, said
    assert status == 1


def test_a_spike_comes_and_goes(installation: Installation, tmp_path: Path) -> None:
    """The shape with a course of its own ends by itself."""
    status, said = run(installation.url, ["spike"], tmp_path, 60)
    assert status == 0, said


def test_what_is_never_called_is_no_success(installation: Installation, tmp_path: Path) -> None:
    """A shape that ends before it came to its point has missed what was required."""
    status, said = run(installation.url, ["huge_job"], tmp_path, 1, wanted=["/v1/datasets"], grace="0")
    missed = {verdict.what: verdict.found for verdict in verdicts.read(tmp_path / "verdicts.csv") if not verdict.kept}
    assert (status, missed["p99 of `/v1/jobs/{id}/report of a huge job`"]) == (1, "never called"), said
