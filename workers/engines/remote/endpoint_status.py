"""The status of a server, shared by everybody who asks it: there, away, with too much to do, or closed to its
askers.
"""

import asyncio
import contextlib
import logging
import math
import random
import time
from dataclasses import dataclass
from typing import Literal

from gigavqa.workers.engines.remote.endpoint_settings import RemoteSettings
from gigavqa.workers.engines.remote.error_replies import RetryLaterError

log = logging.getLogger(__name__)

_MAX_BACKOFF_SECONDS = 30.0


@dataclass(frozen=True)
class EndpointProbe:
    """The result of asking for the list of models: whether the server is there and takes the key, and what it lists, if
    anything.
    """

    state: Literal["there", "away", "refused", "moved"]
    status: int = 0
    models: frozenset[str] | None = None


class EndpointStatus:
    """The knowledge that all requests to a server share, and their waiting for it."""

    def __init__(self, settings: RemoteSettings) -> None:
        self._settings = settings
        self._random = random.Random()
        self._sleepers: set[asyncio.Future[None]] = set()
        self._away: str | None = None
        self._closed: str | None = None
        self._busy: str | None = None
        self._resumes = self._spread = 0.0
        self._busy_times = 0
        self._refusals = 0
        self._refused_since = self._closed_at = -math.inf
        self.turned_away: set[object] = set()
        """Requests, not answered yet, for which the server had too much to do."""
        self.answers = 0
        """How many requests were answered."""
        self.newest = -math.inf
        """When the ask began that began last of those that were answered."""

    @property
    def is_open(self) -> bool:
        """Whether it is there for its askers, as far as is known."""
        return self._away is None and self._closed is None

    @property
    def waits(self) -> str | None:
        """The reason for which everybody waits; None while requests are answered."""
        if self._closed:
            return f"waits: {self._closed}"
        why = self._away or self._busy
        return f"waiting for {self._settings.endpoint} ({why})" if why else None

    def answered(self, began: float) -> None:
        """Note that somebody was answered whose ask began then."""
        self.answers += 1
        self.newest = max(self.newest, began)
        self._busy_times, self._busy = 0, None
        if began > self._refused_since:
            self._refusals = 0
        self.found(began)

    def refuse(self) -> int:
        """Count a refusal that the list of models does not share; returns how many there were in a row."""
        if not self._refusals:
            self._refused_since = time.monotonic()
        self._refusals += 1
        return self._refusals

    def found(self, began: float | None = None) -> None:
        """Note that the server is there, and wake who waits; it is open to its askers if it took what `began` then.

        What was on the wire when it closed is answered all the same.
        """
        is_opened = self._closed is not None and began is not None and began > self._closed_at
        if self._away or is_opened:
            log.warning("%s is back", self._settings.endpoint)
        self._away = None
        self._closed = None if is_opened else self._closed
        for sleeper in self._sleepers:
            if not sleeper.done():
                sleeper.set_result(None)

    def lose(self, why: RetryLaterError) -> None:
        """Note that it answers nobody."""
        if self._away is None:
            log.warning("%s is away (%s); everything waits for it", self._settings.endpoint, why)
        self._away = str(why)

    def close(self, trouble: str, status: int, model: str | None = None) -> None:
        """Note that it takes nobody's requests, and will not by itself."""
        why = _closed_messages(self._settings, status, model)[trouble]
        if why != self._closed:
            log.error("%s", why)
            self._closed_at = time.monotonic()
        self._away, self._closed = None, why

    async def sleep(self, attempt: int, *, asked: float | None = None, longest: float = _MAX_BACKOFF_SECONDS) -> None:
        """Wait for the first answer to anybody, or for what the server `asked`, else longer with each attempt."""
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._sleepers.add(woken)
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self.pause(attempt, asked, longest)):
                    await woken
        finally:
            self._sleepers.discard(woken)

    def pause(self, attempt: int, asked: float | None = None, longest: float = _MAX_BACKOFF_SECONDS) -> float:
        """Seconds to wait before the next attempt, of which there were `attempt` before this one."""
        backoff = self._settings.backoff_seconds
        if asked:
            return asked + self._random.random() * backoff
        return min(longest, backoff * 2.0 ** min(attempt, 20)) * self._random.uniform(0.5, 1.0)

    def is_alone_turned_away(self, request: object) -> bool:
        """Return whether the server had too much to do for this request alone, of those that wait for an answer."""
        self.turned_away.add(request)
        return len(self.turned_away) == 1

    def slow_down(self, later: RetryLaterError, asked_at: float) -> None:
        """Let nobody ask for a while: one request of many was told that they are too many."""
        if asked_at >= self._resumes:  # else it was on the wire when the pause began
            self._busy_times += 1
        self._busy = str(later)
        seconds = self.pause(self._busy_times - 1, later.seconds)
        self._resumes = max(self._resumes, time.monotonic() + seconds)
        self._spread = min(seconds, _MAX_BACKOFF_SECONDS)

    async def until_resumed(self) -> None:
        """Wait for the end of the pause, each a little longer than another."""
        while True:
            left = self._resumes - time.monotonic()
            if left <= 0:
                return
            await asyncio.sleep(left + self._random.random() * self._spread)


def _closed_messages(settings: RemoteSettings, status: int, model: str | None) -> dict[str, str]:
    key = f"the key in {settings.key_name}" if settings.key else "requests without a key: --api-key-env names one"
    again = "; start the worker again with another" if settings.key else ""
    return {
        "refused": f"key refused ({status}); {settings.endpoint} does not take {key}{again}",
        "unpaid": f"payment required ({status}); {settings.endpoint} wants the account of {key} to be paid",
        "moved": f"{settings.endpoint} leads elsewhere ({status}); name the address it leads to",
        "gone": f"model gone ({status}); {settings.endpoint} lists {model} no more",
    }
