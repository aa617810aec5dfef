"""Work that is done once however many ask for it, so much at a time, and what came of it, kept within bounds."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Hashable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Generic, TypeVar

from cachetools import LRUCache

Value = TypeVar("Value")


class RenderPool:
    """Threads that make pictures: so many are made at a time, which bounds the memory of all together."""

    def __init__(self, threads: int) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="render")
        self._lock = threading.Lock()
        self._busy = 0
        self.done = 0
        self.most_busy = 0
        """How many were at work at once at most."""

    async def do(self, work: Callable[[], Value]) -> Value:
        """Do some work when a thread is free; not at all when whoever waits is cancelled by then."""
        return await asyncio.wrap_future(self._pool.submit(self._counted, work))

    def close(self) -> None:
        """Let the threads end when they have done what they are at."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _counted(self, work: Callable[[], Value]) -> Value:
        with self._lock:
            self._busy += 1
            self.most_busy = max(self.most_busy, self._busy)
        try:
            return work()
        finally:
            with self._lock:
                self._busy -= 1
                self.done += 1


class SingleFlightCache(Generic[Value]):
    """Values by key, each made once while it is kept, however many ask at once; for one event loop.

    At most `capacity` of what `weigh` says of them is kept, the least recently used leave first; what weighs nothing is
    handed on, and not kept.
    """

    def __init__(self, capacity: int, weigh: Callable[[Value], int]) -> None:
        self._weigh = weigh
        self._kept: LRUCache[Hashable, Value] = LRUCache(capacity, getsizeof=weigh)
        self._underway: dict[Hashable, asyncio.Task[Value]] = {}
        self._askers: dict[Hashable, int] = {}
        self.hits = 0

    @property
    def weight(self) -> float:
        """The weight of what is kept, as `weigh` gives it."""
        return self._kept.currsize

    async def get(self, key: Hashable, make: Callable[[], Coroutine[Any, Any, Value]]) -> Value:
        """Return the value of `key`, now or when it is made.

        When nobody waits for it any more, its making is cancelled.
        """
        if (kept := self._kept.get(key)) is not None:
            self.hits += 1
            return kept
        task = self._underway.get(key)
        if task is None:
            task = self._underway[key] = asyncio.create_task(make())
            task.add_done_callback(lambda done: self._end(key, done))
        self._askers[key] = self._askers.get(key, 0) + 1
        try:
            return await asyncio.shield(task)
        finally:
            self._leave(key, task)

    def _leave(self, key: Hashable, task: "asyncio.Task[Value]") -> None:
        if self._underway.get(key) is not task:
            return
        self._askers[key] -= 1
        if not self._askers[key]:
            task.cancel()
            self._forget(key)

    def _end(self, key: Hashable, task: "asyncio.Task[Value]") -> None:
        if self._underway.get(key) is task:
            self._forget(key)
        if task.cancelled() or task.exception():
            return
        weight = self._weigh(task.result())
        if 0 < weight <= self._kept.maxsize:
            self._kept[key] = task.result()

    def _forget(self, key: Hashable) -> None:
        del self._underway[key], self._askers[key]
