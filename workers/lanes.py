"""Order what is played at once: the lane first, and within it the pictures as they were claimed."""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from itertools import count

from gigavqa.contract.requests import Bundle

_LANE_PRIORITIES = {
    "interactive": 0,
    "batch": 2**31,
}  # engine priorities, lower first; pictures are numbered within a lane


class EnginePriorities:
    """Engine priorities: the lane, and within it the pictures in the order in which they were claimed.

    So later turns of long chats do not queue behind the next picture, and few pictures share an engine's KV cache.
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, str], int] = {}
        self._players: Counter[tuple[str, str]] = Counter()
        self._next = count()

    @contextmanager
    def of(self, bundle: Bundle) -> Iterator[int]:
        """Hold the priority of a bundle's requests; bundles of one picture that are played together share it."""
        picture = bundle.priority, bundle.image
        if not self._players[picture]:
            self._numbers[picture] = _LANE_PRIORITIES[bundle.priority] + next(self._next)
        self._players[picture] += 1
        try:
            yield self._numbers[picture]
        finally:
            self._players[picture] -= 1
            if not self._players[picture]:
                del self._players[picture], self._numbers[picture]


class LaneSemaphore:
    """Chats that are played at once. A free one goes to whoever waits longest on the interactive lane, if anybody does.

    So a chat that somebody waits for stands behind those that are generated, and not behind those claimed ahead.
    """

    def __init__(self, number: int) -> None:
        self._free = number
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {lane: deque() for lane in _LANE_PRIORITIES}

    @asynccontextmanager
    async def of(self, lane: str) -> AsyncIterator[None]:
        """Hold one, and wait for it."""
        await self._take(lane)
        try:
            yield
        finally:
            self._give()

    async def _take(self, lane: str) -> None:
        if self._free and not any(self._waiting.values()):
            self._free -= 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[lane].append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._give()  # it was given just then
            elif turn in self._waiting[lane]:
                self._waiting[lane].remove(turn)
            raise

    def _give(self) -> None:
        for lane in _LANE_PRIORITIES:
            while self._waiting[lane]:
                turn = self._waiting[lane].popleft()
                if not turn.done():
                    turn.set_result(None)
                    return
        self._free += 1
