"""When an engine is said to hang: by a clock that the test turns."""

import pytest

from gigavqa.workers.engines.engine import EngineStats
from gigavqa.workers.engines.hang_detection import HangDetector, hang_limit_seconds


class Clock:
    """Seconds as the test says."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        """What time it is."""
        return self.now


def looks(watch: HangDetector, clock: Clock, stats: list[EngineStats], every: float = 3.0) -> list[bool]:
    """What is said of each, looked at so many seconds apart, when 10 are too many."""
    said = []
    for each in stats:
        clock.now += every
        said.append(watch.hangs(each, 10.0))
    return said


@pytest.fixture
def clock() -> Clock:
    """The clock."""
    return Clock()


@pytest.fixture
def watch(clock: Clock) -> HangDetector:
    """A watch by that clock."""
    return HangDetector(clock)


def test_requests_without_a_step_hang(clock: Clock, watch: HangDetector) -> None:
    """Counted from the first look that saw them there."""
    assert looks(watch, clock, [EngineStats(unanswered=1, steps=7)] * 5) == [False] * 4 + [True]


def test_the_first_step_of_all_may_hang(clock: Clock, watch: HangDetector) -> None:
    """vLLM tells how much runs after a step alone: what was asked counts."""
    assert looks(watch, clock, [EngineStats(running=0, unanswered=1, steps=0)] * 5)[-1]


def test_steps_are_life(clock: Clock, watch: HangDetector) -> None:
    """However slow: one within the time is enough."""
    slow = [EngineStats(unanswered=1, steps=step // 3) for step in range(60)]
    assert not any(looks(watch, clock, slow))


def test_an_idle_engine_does_not_hang(clock: Clock, watch: HangDetector) -> None:
    """Nor one that was idle until now."""
    idle = [EngineStats(steps=7)] * 100
    assert not any(looks(watch, clock, [*idle, *[EngineStats(unanswered=1, steps=7)] * 3]))


def test_an_engine_that_tells_no_steps_is_not_watched(clock: Clock, watch: HangDetector) -> None:
    """One elsewhere has its own time for an answer."""
    assert not any(looks(watch, clock, [EngineStats(unanswered=1)] * 100))


def test_a_worker_that_stood_still_itself_does_not_blame_its_engine(clock: Clock, watch: HangDetector) -> None:
    """What the engine told meanwhile lies unread at the first look afterwards."""
    looks(watch, clock, [EngineStats(unanswered=1, steps=7)] * 2)
    assert looks(watch, clock, [EngineStats(unanswered=1, steps=7)], every=3600) == [False]


def test_no_time_is_too_long_where_nobody_sets_one(clock: Clock, watch: HangDetector) -> None:
    """0 seconds mean never; a CPU, whose steps are long, has more than a GPU unless somebody says."""
    stuck = EngineStats(unanswered=1, steps=7)
    for _ in range(100):
        clock.now += 3600
        assert not watch.hangs(stuck, hang_limit_seconds(0, "NVIDIA H100"))
    assert [hang_limit_seconds(asked, device) for device in ("cpu", "NVIDIA H100") for asked in (None, 5)] == [
        3600,
        5,
        300,
        5,
    ]
