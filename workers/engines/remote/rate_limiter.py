"""Bounds of what is asked in a minute, as far as it is known beforehand, and put right when it is known."""

import asyncio
import time

_BURST_SECONDS = 5.0


class RateLimiter:
    """So many units a minute, spread evenly, with a burst of five seconds' worth; 0 is no bound.

    What is taken may be more than a burst: what comes after it waits for as long as that is worth.
    """

    def __init__(self, per_minute: int, since: float | None = None) -> None:
        self._seconds_each = 60 / per_minute if per_minute else 0.0
        self._paid_until = time.monotonic() if since is None else since

    async def take(self, units: float) -> None:
        """Wait for one's turn, in the order of calls, and take the units."""
        if self._seconds_each:
            await asyncio.sleep(self.due(units, time.monotonic()))

    def due(self, units: float, now: float) -> float:
        """Take the units; returns for how many seconds to wait until they may be used."""
        begin = max(self._paid_until, now - _BURST_SECONDS)
        self._paid_until = begin + units * self._seconds_each
        return max(0.0, begin - now)

    def correct(self, units: float) -> None:
        """Take more, or give back what was taken in vain."""
        self._paid_until += units * self._seconds_each
