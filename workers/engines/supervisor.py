"""Keeps an engine alive: starts a new one in place of a dead one, and asks it what the dead one did not answer.

The engine of a worker of several models rests, asleep or ended, while another model's is loaded.
"""

import asyncio
import itertools
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Literal, TypeVar

from gigavqa.contract.requests import Sampling
from gigavqa.contract.responses import FINISH_REASONS, EngineInfo, OnTokens, TurnResponse
from gigavqa.store.worker_registry import EnginePhase
from gigavqa.workers.engines.engine import (
    Engine,
    EngineDeadError,
    EngineStats,
    GenerationFailedError,
    Message,
)
from gigavqa.workers.engines.hang_detection import HangDetector, hang_limit_seconds
from gigavqa.workers.engines.kv_admission import ChatSlots
from gigavqa.workers.errors import EngineLostError
from gigavqa.workers.instrumentation import Instrumentation
from gigavqa.workers.settings import WorkerSettings

log = logging.getLogger(__name__)

_T = TypeVar("_T")
_Transition = Literal["start", "sleep", "wake", "stop"]
_MAX_BACKOFF = 30.0
_STOP_SECONDS = 60.0  # vLLM kills what has not ended after five
_ENGINE_NUMBERS = itertools.count(1)


class EngineSupervisor:
    """The engine of a worker, whichever one that is at the moment. `make` makes another of the same kind."""

    def __init__(self, make: Callable[[], Engine], settings: WorkerSettings, instruments: Instrumentation) -> None:
        self._make = make
        self._settings = settings
        self._instruments = instruments
        self.generation = 0
        """Number of the engine among all that this process made."""
        self._engine = self._another()
        self._usable = asyncio.Event()
        self._restart: asyncio.Task[None] | None = None
        self._places: ChatSlots | None = None
        self._watch = HangDetector()
        self.error: EngineLostError | None = None
        """Why there is no engine any more."""
        self.lost = asyncio.Event()
        """Set when there is no engine any more and will be none."""
        self.slept_bytes = 0
        """Host memory that the weights of a sleeping engine take; 0 when it does not sleep."""

    @property
    def info(self) -> EngineInfo:
        """The engine's name and version."""
        return self._engine.info

    @property
    def phase(self) -> EnginePhase | None:
        """The phase of an engine's start, or the reason for which a remote one waits."""
        return self._engine.phase

    async def start(self) -> None:
        """Start the engine, or wake the one that sleeps. Raises EngineDeadError when none starts; it is tried once."""
        if not await self._wake():
            await self._survive("start", self._engine.start())
        self._become_usable(True)

    async def rest(self, host_bytes: int) -> None:
        """Free the device's memory until `start`: the engine sleeps in `host_bytes` of host memory, or is ended."""
        if self._restart is not None:  # what is being started cannot be stopped half-way
            await asyncio.gather(self._restart, return_exceptions=True)
        self._become_usable(False)
        try:
            self.slept_bytes = await self._survive("sleep", self._engine.sleep(host_bytes), self._hang_seconds)
        except EngineDeadError as error:
            log.error("the engine died when it was put to sleep: %s", error)
        if not self.slept_bytes:
            await self.end()

    async def end(self) -> None:
        """End the engine that rests or did not start; `start` starts another one."""
        self.slept_bytes = 0
        await self._end_engine()
        self._engine = self._another()

    async def generate(
        self,
        chat: Sequence[Message],
        sampling: Sampling,
        request_id: str,
        priority: int = 0,
        grow: OnTokens | None = None,
    ) -> TurnResponse:
        """Answer the chat's last message, on the next engine when this one dies meanwhile; `grow` then hears it anew.

        Raises EngineError, GenerationFailedError for a text that ended for no reason of answers, EngineLostError, and
        EngineDeadError when engines died of it, or beside it, too often.
        """
        for death in range(1, self._settings.max_deaths + 1):
            engine = await self._running()
            try:
                return _require_answer(await engine.generate(chat, sampling, request_id, priority, grow))
            except EngineDeadError:
                self._replace(engine)
                if death == self._settings.max_deaths:
                    raise
        raise self.error or AssertionError("max_deaths is at least 1")

    @asynccontextmanager
    async def place(self, views: Mapping[str, int]) -> AsyncIterator[None]:
        """Hold the engine's place for a chat that shows these views, and wait for it. Raises EngineLostError."""
        places = (await self._running()).places
        if places is None:
            yield
            return
        self._places = self._places or places
        async with self._places.hold(views):
            yield

    async def stats(self) -> EngineStats:
        """Counters and gauges of the engine that runs now."""
        return await self._engine.stats()

    async def check(self) -> None:
        """Replace an engine that died while nobody asked it anything, or that hangs in what it was asked.

        One elsewhere that is away comes back by itself.
        """
        engine, seconds = self._engine, self._hang_seconds
        if not self._usable.is_set() or engine.phase is not None:
            return
        if not await engine.healthy():
            self._replace(engine)
        elif self._watch.hangs(await engine.stats(), seconds):
            self._instruments.engine_failures.labels("step").inc()
            log.error("the engine has requests and made no step for %g s: it is ended", seconds)
            self._replace(engine)

    async def stop(self) -> None:
        """End the engine, or the attempt to start another one."""
        if self._restart is not None:
            self._restart.cancel()
            await asyncio.gather(self._restart, return_exceptions=True)
        await self._end_engine()

    async def _wake(self) -> bool:
        """Return whether the engine slept and is awake; one that died asleep makes room for another."""
        if not self.slept_bytes:
            return False
        try:
            await self._survive("wake", self._engine.wake(), self._hang_seconds)
        except EngineDeadError as error:
            log.error("the engine died in its sleep; another one is started: %s", error)
            await self.end()
            return False
        self.slept_bytes = 0
        return True

    async def _end_engine(self) -> None:
        try:
            await self._survive("stop", self._engine.stop(), _STOP_SECONDS)
        except EngineDeadError as error:
            log.error("the engine is left as it is: %s", error)

    async def _survive(self, change: _Transition, call: Awaitable[_T], seconds: float | None = None) -> _T:
        """Await a change of the engine's life: whatever it raises there, or hangs in, is its death.

        Raises EngineDeadError.
        """
        try:
            async with asyncio.timeout(seconds) as bound:
                return await call
        except EngineDeadError:
            self._instruments.engine_failures.labels(change).inc()
            raise
        except (Exception, asyncio.CancelledError) as error:
            task = asyncio.current_task()
            if isinstance(error, asyncio.CancelledError) and task and task.cancelling():
                raise
            self._instruments.engine_failures.labels(change).inc()
            why = f"it hung for {seconds:g} s" if bound.expired() else f"{type(error).__name__}: {error}"
            raise EngineDeadError(f"the engine did not live through its {change}: {why}") from error

    @property
    def _hang_seconds(self) -> float | None:
        return hang_limit_seconds(self._settings.hang_seconds, self._engine.info.device)

    def _another(self) -> Engine:
        self.generation = next(_ENGINE_NUMBERS)
        return self._make()

    async def _running(self) -> Engine:
        await self._usable.wait()
        if self.error is not None:
            raise self.error
        return self._engine

    def _replace(self, dead: Engine) -> None:
        if dead is self._engine and self._usable.is_set() and self.error is None:
            log.error("the engine died; another one is started")
            self._become_usable(False)
            self._restart = asyncio.create_task(self._start_another(), name="restart-engine")
            self._restart.add_done_callback(self._end_restart)

    def _end_restart(self, restart: "asyncio.Task[None]") -> None:
        """Whatever ended the attempts to start another engine: nobody is to wait for it any longer."""
        if not restart.cancelled() and (error := restart.exception()):
            self._instruments.unexpected.inc()
            log.error("no other engine can be started", exc_info=error)
            self._lose(f"the engine died and no other can be started: {type(error).__name__}: {error}")
            self._become_usable(True)

    async def _start_another(self) -> None:
        backoff, attempts = self._settings.backoff_seconds, self._settings.max_starts
        for attempt in range(1, attempts + 1):
            await self._end_engine()
            await asyncio.sleep(backoff)
            self._engine = self._another()
            try:
                await self._survive("start", self._engine.start())
            except EngineDeadError:
                log.exception("attempt %d of %d to start the engine failed", attempt, attempts)
                backoff = min(_MAX_BACKOFF, 2 * backoff)
                continue
            self._instruments.engine_restarts.inc()
            break
        else:
            self._lose(f"the engine died and did not start again in {attempts} attempts")
        self._become_usable(True)

    def _become_usable(self, usable: bool) -> None:
        if usable:
            self._watch = HangDetector()
            self._usable.set()
        else:
            self._usable.clear()
        self._instruments.stages.set_loaded(usable)

    def _lose(self, why: str) -> None:
        self.error = self.error or EngineLostError(why)
        self.lost.set()


def _require_answer(turn: TurnResponse) -> TurnResponse:
    if turn.finish_reason not in FINISH_REASONS:
        raise GenerationFailedError(f"the engine ended an answer with '{turn.finish_reason}'")
    return turn
