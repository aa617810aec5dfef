"""The simulated worker that cores per GPU are reckoned with."""

import pytest

from performance.pipeline import SimulatedChat, SimulatedImage, SimulatedTurn, WorkerLimits, play_pictures
from workers.engines.simulation.roofline import Roofline

ROOFLINE = Roofline.of("h100", "8b")
NUMBER = 8


def pictures(cpu_seconds: float) -> list[SimulatedImage]:
    """Pictures of 4096 visual tokens with one chat of two turns each."""
    made = []
    for number in range(NUMBER):
        raster = (f"k{number}", 4096)
        turns = (SimulatedTurn((raster, "Which?"), is_given=False), SimulatedTurn(("Why?",), is_given=False))
        made.append(SimulatedImage(f"p{number}", (SimulatedChat((raster,), turns, 1.0),), cpu_seconds))
    return made


def test_an_engine_is_never_idle_when_pixels_cost_nothing() -> None:
    """It has all chats from the start."""
    assert play_pictures(pictures(0.0), ROOFLINE, 10, WorkerLimits(threads=1)).idle == 0.0


@pytest.mark.parametrize(("threads", "rounds"), [(1, NUMBER), (2, NUMBER // 2), (8, 1)])
def test_slow_rendering_is_what_takes_the_time(threads: int, rounds: int) -> None:
    """Pictures are rendered by as many threads at once, and the engine is done soon after the last one."""
    played = play_pictures(pictures(100.0), ROOFLINE, 10, WorkerLimits(threads=threads))
    assert 100.0 * rounds <= played.seconds <= 100.0 * rounds + 5.0
    assert played.idle >= 100.0 * rounds - 5.0


def test_rasters_wait_for_room() -> None:
    """With room for one raster, the next picture is rendered when the one before is done with."""
    bounds = WorkerLimits(threads=8, ahead_bytes=10, most_bytes=10)
    assert play_pictures(pictures(100.0), ROOFLINE, 10, bounds).seconds >= 100.0 * NUMBER


def test_a_faster_engine_takes_less_time() -> None:
    """By as much."""
    slow, fast = (
        play_pictures(pictures(0.0), ROOFLINE, 10, WorkerLimits(threads=1, engine_speed=s)) for s in (1.0, 4.0)
    )
    assert fast.seconds == pytest.approx(slow.seconds / 4)
