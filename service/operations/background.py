"""Background tasks of the gateway. The only place with a broad `except`."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine

from gigavqa.service.operations.instrumentation import GatewayInstrumentation

Work = Callable[[], Awaitable[object]]

_STOP_SECONDS = 5.0

log = logging.getLogger(__name__)


class BackgroundTasks:
    """The gateway's own tasks. A failure ends no loop: it is counted and logged."""

    def __init__(self, instrumentation: GatewayInstrumentation) -> None:
        self._failures = instrumentation.loop_failures
        self._tasks: set[asyncio.Task[None]] = set()

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
        except Exception:
            self._failures.labels(name).inc()
            log.exception("%s failed", name)
