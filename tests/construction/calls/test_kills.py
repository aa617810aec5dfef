"""A run that is killed goes on where it was: nothing that is recorded is asked again, and no batch is sent anew."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gigavqa.construction.build_folder import BuildFolder
from gigavqa.construction.calls.call_desk import CallDesk, CallReading
from gigavqa.construction.calls.call_log import CallLog
from gigavqa.construction.calls.delivery import CONCURRENT_CHATS, MOST_CHATS
from tests.construction.calls.asking import call
from tests.construction.calls.conftest import Service
from tests.construction.calls.model_server import plain
from tests.waiting import wait_until
from tests.workers.examples import ENTRY
from tests.workers.remote_server import Mood

KILLS = 10


class Run:
    """A process that asks, killed when the record has so many events of a kind, or some time later."""

    def __init__(self, folder: Path, service: Service, number: int) -> None:
        self.log = folder / "chains/calls/familiarity.jsonl"
        argv = [sys.executable, "-m", "tests.construction.calls.desk_process", folder, service.gateway.url, number]
        self._process = subprocess.Popen([str(each) for each in argv])

    def kill_amid(self, event: str, many: int, pause: float) -> None:
        """Kill it, as a power cut would."""
        wait_until(lambda: self._process.poll() is not None or self._count(event) >= many, what="so many events")
        time.sleep(pause)
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def _count(self, event: str) -> int:
        return self.log.read_bytes().count(f'"event":"{event}"'.encode()) if self.log.is_file() else 0


def recorded(path: Path, number: int) -> set[str]:
    """What a build has recorded an answer of."""
    log = CallLog(path)
    log.close()
    return {f"e{each}" for each in range(number) if log.has_reply(call(each).id)}


def finish(folder: Path, service: Service, number: int) -> None:
    """Ask the rest, and see that all is read."""
    build = BuildFolder(folder, "chains")
    with build.locked(), CallDesk(build, lambda _: ENTRY, url=service.gateway.url) as desk:
        assert {type(each) for each in desk.ask(call(each) for each in range(number))} == {CallReading}


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_batch_is_asked_once_through_ten_kills_while_a_third_is_lost(service: Service, tmp_path: Path) -> None:
    """Killed before it is sent, while it is played, and while its answers come: each call is answered once in full."""
    dice, number = random.Random(3), 4 * MOST_CHATS
    lost = {f"e{each}" for each in range(0, number, 3)}
    service.server.begin(
        lambda about, before: Mood(drops=True) if about in lost and not before else plain(about, before), seconds=0.3
    )
    before = service.gateway.client.get("/v1/batches", params={"limit": 100}).json()["data"]
    for kill in range(KILLS):
        event, many = [("call", 1), ("call", number), ("asked", 1), ("batch", 1)][min(kill, 3)]
        Run(tmp_path, service, number).kill_amid(event, many, dice.random() / 2)
    finish(tmp_path, service, number)
    assert service.server.told == {(f"e{each}", 0): 1 for each in range(number)}
    assert service.server.asked.total() == number + len(lost)
    after = service.gateway.client.get("/v1/batches", params={"limit": 100}).json()["data"]
    assert len(after) - len(before) == 1


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_chats_go_on_through_ten_kills_with_what_is_not_recorded(service: Service, tmp_path: Path) -> None:
    """What is recorded is asked no more; what was under way at a kill is asked again, eight at a time at most."""
    dice, number = random.Random(4), MOST_CHATS
    service.server.begin(plain, seconds=0.3)
    path = tmp_path / "chains/calls/familiarity.jsonl"
    known: dict[str, int] = {}
    for kill in range(KILLS):
        Run(tmp_path, service, number).kill_amid("answered", 3 * kill, dice.random() / 10)
        for about in recorded(path, number):
            known.setdefault(about, service.server.told[about, 0])
    finish(tmp_path, service, number)
    assert {about: service.server.told[about, 0] for about in known} == known
    assert len(known) > KILLS
    assert number <= service.server.asked.total() <= number + KILLS * CONCURRENT_CHATS
    assert recorded(path, number) == {f"e{each}" for each in range(number)}
