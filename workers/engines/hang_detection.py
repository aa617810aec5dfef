"""Tells that an engine hangs: that it has requests, and its steps have stopped.

Neither vLLM nor CUDA gives a step on one GPU a time; a fault of driver, kernel or GPU would hold its requests for ever.
"""

import time
from collections.abc import Callable

from gigavqa.workers.engines.engine import EngineStats

_SECONDS = 300.0
_SECONDS_ON_A_CPU = 3600.0
"""A step prefills the whole prompt there, which of a large model takes its time."""


def hang_limit_seconds(asked: float | None, device: str) -> float | None:
    """Return how long an engine on this device may be at one thing, as the setting says it; None for any time."""
    if asked is None:
        return _SECONDS_ON_A_CPU if device == "cpu" else _SECONDS
    return asked or None


class HangDetector:
    """Watches the steps of one engine, as often as `hangs` is asked."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._steps: int | None = None
        self._looked = clock()
        self._still = 0.0

    def hangs(self, stats: EngineStats, seconds: float | None) -> bool:
        """Return whether requests have been there for so many seconds, and no step was told of."""
        now, last, steps = self._clock(), self._looked, self._steps
        self._looked, self._steps = now, stats.steps
        if seconds is None or stats.steps is None or stats.steps != steps or not stats.unanswered:
            self._still = 0.0
            return False
        # No look counts for all of it: it may be this process that stood still, and what the engine tells is unread.
        self._still += min(now - last, seconds / 2)
        return self._still >= seconds
