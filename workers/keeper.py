"""Keeps an engine alive: starts a new one in place of a dead one, and asks it what the dead one did not answer."""

import asyncio
import logging
from collections.abc import Callable, Sequence

from jobs.models import EngineInfo, Sampling, TurnResponse
from workers.engine import Engine, EngineDeadError, EngineStats, Message
from workers.errors import EngineLostError
from workers.instrumentation import Instruments
from workers.settings import WorkerSettings

log = logging.getLogger(__name__)

_MAX_BACKOFF = 30.0


class EngineKeeper:
    """The engine of a worker, whichever one that is at the moment. `make` makes another of the same kind."""

    def __init__(self, make: Callable[[], Engine], settings: WorkerSettings, instruments: Instruments) -> None:
        self._make = make
        self._settings = settings
        self._instruments = instruments
        self._engine = make()
        self._usable = asyncio.Event()
        self._restart: asyncio.Task[None] | None = None
        self._lost: EngineLostError | None = None
        self.lost = asyncio.Event()
        """Set when there is no engine any more and will be none."""

    @property
    def info(self) -> EngineInfo:
        """What the engine is."""
        return self._engine.info

    async def start(self) -> None:
        """Start the first engine. Raises EngineDeadError: what never ran is misconfigured, and is not tried again."""
        await self._engine.start()
        self._usable.set()

    async def generate(
        self, chat: Sequence[Message], sampling: Sampling, request_id: str, priority: int = 0
    ) -> TurnResponse:
        """Answer the chat's last message, on the next engine when this one dies meanwhile.

        Raises EngineError, EngineLostError, and EngineDeadError when engines died of it, or beside it, too often.
        """
        for death in range(1, self._settings.max_deaths + 1):
            engine = await self._running()
            try:
                return await engine.generate(chat, sampling, request_id, priority)
            except EngineDeadError:
                self._replace(engine)
                if death == self._settings.max_deaths:
                    raise
        raise AssertionError("max_deaths is at least 1")

    async def stats(self) -> EngineStats:
        """Counters and gauges of the engine that runs now."""
        return await self._engine.stats()

    async def check(self) -> None:
        """Replace an engine that died while nobody asked it anything."""
        if self._usable.is_set() and not await self._engine.healthy():
            self._replace(self._engine)

    async def stop(self) -> None:
        """End the engine, or the attempt to start another one."""
        if self._restart is not None:
            self._restart.cancel()
            await asyncio.gather(self._restart, return_exceptions=True)
        await self._engine.stop()

    async def _running(self) -> Engine:
        await self._usable.wait()
        if self._lost is not None:
            raise self._lost
        return self._engine

    def _replace(self, dead: Engine) -> None:
        if dead is self._engine and self._usable.is_set() and self._lost is None:
            log.error("the engine died; another one is started")
            self._usable.clear()
            self._restart = asyncio.create_task(self._start_another(), name="restart-engine")

    async def _start_another(self) -> None:
        backoff = self._settings.backoff_seconds
        for attempt in range(1, self._settings.max_starts + 1):
            await self._engine.stop()
            await asyncio.sleep(backoff)
            self._engine = self._make()
            try:
                await self._engine.start()
            except EngineDeadError:
                log.exception("attempt %d of %d to start the engine failed", attempt, self._settings.max_starts)
                backoff = min(_MAX_BACKOFF, 2 * backoff)
                continue
            self._instruments.engine_restarts.inc()
            break
        else:
            self._lost = EngineLostError(f"the engine died and did not start again in {attempt} attempts")
            self.lost.set()
        self._usable.set()
