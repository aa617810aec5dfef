"""Brings jobs into the queue and batches to their end, step by step.

Every step can be repeated after a crash, by any gateway (docs/decisions/0003-queue-and-probation.md).
"""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from gigavqa.contract.errors import QueueFullError
from gigavqa.service.operations.background import BackgroundTasks
from gigavqa.store.queue import JobQueue

_POLL_SECONDS = 1.0
_FAILURE_SECONDS = 3.0


class Reconciler:
    """Does the next `step` of everything that is open, again and again, each in a task of its own.

    A step that finds no room in the queue raises QueueFullError, and one that fails is counted as `name`: both are
    done again.
    """

    def __init__(
        self, name: str, step: Callable[[str], Awaitable[None]], queue: JobQueue, background: BackgroundTasks
    ) -> None:
        self._name = name
        self._step = step
        self._queue = queue
        self._background = background
        self._in_hand: set[str] = set()
        self._not_before: dict[str, float] = {}
        self._lacking: dict[str, tuple[int, float]] = {}
        self._news = asyncio.Event()

    def wake(self) -> None:
        """Look now at what is open."""
        self._news.set()

    def take_up(self, id_: str) -> None:
        """Do the next step of this one, unless that is being done, or failed just now."""
        if id_ not in self._in_hand and time.monotonic() >= self._not_before.get(id_, 0.0):
            self._in_hand.add(id_)
            self._background.once(self._name, partial(self._reconcile, id_))

    async def run(self, open_ids: Callable[[], Awaitable[Sequence[str]]]) -> None:
        """Take up what is open for ever; to be run again when it fails."""
        while True:
            found = await open_ids()
            for id_ in found:
                self.take_up(id_)
            for kept in (self._not_before, self._lacking):
                for id_ in kept.keys() - self._in_hand - set(found):
                    del kept[id_]
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_POLL_SECONDS):
                    await self._news.wait()
            self._news.clear()

    async def require_room(self, id_: str) -> None:
        """Raise QueueFullError while what found no room would find none again: its requests are not made to see that.

        Raises JobTooLargeError.
        """
        requests, again_at = self._lacking.get(id_, (0, 0.0))
        if (seconds := again_at - time.monotonic()) > 0:
            raise QueueFullError(f"{id_} waits for room for {requests} requests", seconds)
        if requests:
            await self._queue.require_room(requests, await self._queue.owner_of(id_))

    async def reserve(self, id_: str, requests: int, digest: str | None, *, num_answered: int = 0) -> None:
        """Keep room in the queue for all requests that are not answered. Raises what `JobQueue.reserve` does."""
        try:
            await self._queue.reserve(id_, requests, digest, num_answered=num_answered)
        except QueueFullError as error:
            self._lacking[id_] = requests - num_answered, time.monotonic() + error.retry_after
            raise

    async def _reconcile(self, id_: str) -> None:
        self._not_before[id_] = time.monotonic() + _FAILURE_SECONDS
        try:
            with contextlib.suppress(QueueFullError):
                await self._step(id_)
            self._not_before.pop(id_, None)
        finally:
            self._in_hand.discard(id_)
