"""Every alert is fired by the fault that it is for, and ends when that is put right: `make alerts`, some minutes long.

The rules are those of deploy/prometheus with minutes of GIGAVQA_ALERT_MINUTE seconds, 2 unless it is set; 60 changes
nothing. `build/alerts.md` has how long each took.
"""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.waiting import wait_until
from tests.watching.faults import FAULTS, engine_restarts, mount_disk, settings
from tests.watching.programs import program
from tests.watching.watched import Watched

MINUTE = float(os.environ.get("GIGAVQA_ALERT_MINUTE", "2"))
PATIENCE = 180 + 40 * MINUTE
TABLE = Path("build/alerts.md")
_DISK_BYTES = 64 * 2**20

pytestmark = [
    pytest.mark.skipif("GIGAVQA_EVERY_FAULT" not in os.environ, reason="every fault is for `make alerts`"),
    pytest.mark.timeout(4 * PATIENCE),
]


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    """An installation that is well, watched."""
    program("prometheus")
    folder = tmp_path_factory.mktemp("faults")
    mount_disk(folder / "disk", _DISK_BYTES)
    watched = Watched(folder, minute=MINUTE, settings=settings(folder))
    TABLE.parent.mkdir(exist_ok=True)
    TABLE.write_text("| alert | fault | fired after | beside it | ended after |\n|---|---|---|---|---|\n")
    try:
        watched.start()
        yield watched
    finally:
        watched.stop()


@pytest.mark.parametrize("alert", FAULTS)
def test_a_fault_fires_its_alert_until_it_is_put_right(watched: Watched, alert: str) -> None:
    """It does not fire before, and not for long after."""
    fault, labels = FAULTS[alert]
    wait_until(lambda: not watched.fires(alert, labels), timeout=PATIENCE, what=f"the end of an earlier {alert}")
    began, steps = time.monotonic(), fault(watched)
    next(steps)
    try:
        watched.until_fired(alert, labels, timeout=PATIENCE)
        fired, beside = time.monotonic(), watched.firing() - {alert}
    finally:
        next(steps, None)
    right = time.monotonic()
    wait_until(lambda: not watched.fires(alert, labels), timeout=PATIENCE, what=f"the end of {alert}")
    _write_row(alert, fault.__doc__ or "", fired - began, beside, f"{time.monotonic() - right:.0f} s")


@pytest.mark.engine
def test_an_engine_that_dies_again_and_again_fires_its_alert(tmp_path: Path) -> None:
    """vLLM's own process, by the rules as they are delivered: half an hour would be too short with shorter minutes."""
    pytest.importorskip("vllm")
    program("prometheus")
    watched = Watched(tmp_path, minute=60)
    try:
        watched.start()
        for worker in watched.workers:
            worker.kill()
        began, steps = time.monotonic(), engine_restarts(watched)
        next(steps)
        watched.until_fired("GigavqaEngineRestarts", timeout=PATIENCE)
        beside = watched.firing() - {"GigavqaEngineRestarts"}
        _write_row(
            "GigavqaEngineRestarts", engine_restarts.__doc__ or "", time.monotonic() - began, beside, "not waited"
        )
        next(steps, None)
    finally:
        watched.stop()


def _write_row(alert: str, fault: str, fired: float, beside: set[str], ended: str) -> None:
    others = ", ".join(sorted(name.removeprefix("Gigavqa") for name in beside))
    with TABLE.open("a", encoding="utf-8") as table:
        table.write(f"| {alert.removeprefix('Gigavqa')} | {fault} | {fired:.0f} s | {others} | {ended} |\n")
