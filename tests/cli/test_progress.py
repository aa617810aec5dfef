"""The figures of progress: a rate that does not jump, times in words, and what a job waits for."""

from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from gigavqa.cli import following
from gigavqa.cli.following import obstacles, report_obstacles
from gigavqa.cli.progress import RequestRate, format_duration
from gigavqa.store.worker_registry import WorkerStatus
from tests.waiting import wait_until


class Clock:
    """A clock that a test moves."""

    now = 0.0

    def __call__(self) -> float:
        """Seconds."""
        return self.now


def test_the_rate_is_that_of_the_last_minute() -> None:
    """Sixteen requests that end together every eight seconds are two a second, also between two such moments."""
    clock = Clock()
    rate = RequestRate(clock)
    for step in range(20):
        clock.now = 8.0 * step
        rate.count(16 * step)
        if step >= 8:
            assert rate.per_second() == pytest.approx(2.0)
    clock.now += 4.0
    assert rate.per_second() == pytest.approx(2.0, rel=0.1)


def test_the_rate_falls_when_nothing_is_done_any_more() -> None:
    """It does not stay at what it was."""
    clock = Clock()
    rate = RequestRate(clock)
    rate.count(0)
    clock.now = 10.0
    rate.count(100)
    assert rate.per_second() == pytest.approx(10.0)
    clock.now = 100.0
    assert rate.per_second() == pytest.approx(1.0)


def test_a_watcher_that_comes_late_counts_from_where_it_came() -> None:
    """A thousand requests that were done before are no speed, and too little time gives none."""
    clock = Clock()
    rate = RequestRate(clock)
    rate.count(1000)
    assert rate.per_second() is None
    clock.now = 10.0
    rate.count(1010)
    assert rate.tell(60) == "1.00/s, 1 min 0 s left"


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.4213, "0.42 s"), (12.4, "12 s"), (185, "3 min 5 s"), (7800, "2 h 10 min"), (0, "no time")]
)
def test_durations_are_said_as_people_say_them(seconds: float, words: str) -> None:
    """In two units at most."""
    assert format_duration(seconds) == words


def worker(state: str, phase: str | None = None) -> WorkerStatus:
    """A worker of the model `m`."""
    told = {"name": phase} if phase else None
    status = {"worker": "w", "models": ["m"], "state": state, "phase": told, "since": datetime.now(UTC)}
    return WorkerStatus.model_validate(status)


def test_what_a_job_waits_for_is_said_of_each_model() -> None:
    """Nobody serves the model, or its engine starts; a model that is served is no obstacle."""
    (nobody,) = obstacles(["n"], [worker("ready")])
    assert "no worker serves n" in nobody and "gigavqa up --model n" in nobody
    assert list(obstacles(["m", "m"], [worker("starting", "reading weights")])) == [
        "the worker of m starts: reading weights"
    ]
    assert list(obstacles(["m"], [worker("starting"), worker("ready")])) == []
    refused = worker("ready", "waits: key refused (401)")
    assert list(obstacles(["m"], [refused])) == ["the worker of m answers nothing: waits: key refused (401)"]
    assert list(obstacles(["m"], [refused, worker("ready")])) == []


class _ComingAndGoing:
    """A gateway that answers as it is told, one time after the other; the last answer stays."""

    def __init__(self, answers: list[list[WorkerStatus] | None]) -> None:
        self._answers = answers

    def workers(self) -> list[WorkerStatus]:
        """Return the next answer, or none comes."""
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if answer is None:
            raise httpx.ConnectError("refused")
        return answer


def test_a_gateway_that_goes_and_comes_back_is_told_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside whatever else a job waits for."""
    monkeypatch.setattr(following, "_LOOK_SECONDS", 0.01)
    told: list[str] = []
    gateway: Any = _ComingAndGoing([[worker("ready")], None, None, [worker("ready")]])
    with report_obstacles(gateway, ["m"], told.append):
        wait_until(lambda: len(told) >= 2, what="both lines")
    assert told == ["the gateway does not answer; waiting for it", "the gateway answers again"]
