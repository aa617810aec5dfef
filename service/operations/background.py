"""Background tasks of the gateway. The only place with a broad `except`."""

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable, Coroutine

from redis.exceptions import NoPermissionError

from gigavqa.runtime.errors import StateStoreUnavailableError
from gigavqa.service.operations.instrumentation import GatewayInstrumentation
from gigavqa.store.connection import is_state_store_down

Work = Callable[[], Awaitable[object]]

_STOP_SECONDS = 5.0
_TOLD_SECONDS = 60.0

log = logging.getLogger(__name__)


class BackgroundTasks:
    """The gateway's own tasks. A failure ends no loop: it is counted and logged."""

    def __init__(self, instrumentation: GatewayInstrumentation) -> None:
        self._failures = instrumentation.loop_failures
        self._tasks: set[asyncio.Task[None]] = set()
        self._told: dict[str, float] = {}

    def repeat(self, name: str, work: Work, seconds: float) -> None:
        """Do `work` now, and again `seconds` after each end or failure of it."""
        self._start(self._repeat(name, work, seconds), name)

    def once(self, name: str, work: Work) -> None:
        """Do `work` now, once."""
        self._start(self._guarded(name, work), name)

    async def stop(self) -> None:
        """Cancel everything and wait for its end, but not for a server that is gone."""
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_STOP_SECONDS)

    def _start(self, work: Coroutine[object, object, None], name: str) -> None:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _repeat(self, name: str, work: Work, seconds: float) -> None:
        while True:
            await self._guarded(name, work)
            await asyncio.sleep(seconds)

    async def _guarded(self, name: str, work: Work) -> None:
        try:
            await work()
        except Exception as error:
            self._failures.labels(name).inc()
            if is_state_store_down(error) or isinstance(error, StateStoreUnavailableError | NoPermissionError):
                self._tell_of_store(name, str(error))
            else:
                log.exception("%s failed", name)

    def _tell_of_store(self, name: str, said: str) -> None:
        """Log one line for all loops, once a minute: it is no fault of theirs, and where they wait says nothing."""
        now = time.monotonic()
        if now - self._told.get(said, -math.inf) >= _TOLD_SECONDS:
            self._told = {said: now}
            log.warning("the state store does not serve, and %s waits, as others may: %s", name, said)
