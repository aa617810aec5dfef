"""Places at work that is heavy, given out to owners in turn: who asks for much waits behind himself alone."""

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

Owner = str | None


class FairSemaphore:
    """So many places, of which an owner has at most `each` at once; owners that wait get the next one in turn."""

    def __init__(self, places: int, each: int) -> None:
        self._free = places
        self._each = each
        self._held: Counter[Owner] = Counter()
        self._waiting: OrderedDict[Owner, deque[asyncio.Future[None]]] = OrderedDict()

    @asynccontextmanager
    async def of(self, owner: Owner) -> AsyncIterator[None]:
        """Hold a place as this owner."""
        await self._take(owner)
        try:
            yield
        finally:
            self._give_back(owner)

    async def _take(self, owner: Owner) -> None:
        if self._may_have(owner) and owner not in self._waiting:
            self._hold(owner)
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(owner, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it was given a place just now
                self._give_back(owner)
            raise

    def _give_back(self, owner: Owner) -> None:
        self._free += 1
        self._held[owner] -= 1
        if not self._held[owner]:
            del self._held[owner]
        while (following := next(filter(self._may_have, self._waiting), _NO_OWNER)) is not _NO_OWNER:
            self._pass_to(following)

    def _pass_to(self, owner: Owner | object) -> None:
        assert owner is None or isinstance(owner, str)
        turns = self._waiting.pop(owner)
        turn = turns.popleft()
        if turns:
            self._waiting[owner] = turns  # behind all others
        if not turn.done():
            self._hold(owner)
            turn.set_result(None)

    def _hold(self, owner: Owner) -> None:
        self._free -= 1
        self._held[owner] += 1

    def _may_have(self, owner: Owner) -> bool:
        return self._free > 0 and self._held[owner] < self._each


_NO_OWNER = object()
