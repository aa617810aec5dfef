"""Serves several models by time slices: one engine in the device's memory at a time, the others asleep or ended."""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from typing import Literal

from gigavqa.contract.responses import EngineInfo
from gigavqa.store.queue import JobQueue
from gigavqa.store.worker_registry import EnginePhase
from gigavqa.workers.engines.engine import EngineDeadError
from gigavqa.workers.engines.supervisor import EngineSupervisor
from gigavqa.workers.instrumentation import Instrumentation
from gigavqa.workers.model_runtime import ModelRuntime, ServedModel, WorkerContext
from gigavqa.workers.settings import WorkerSettings
from gigavqa.workers.time_slices import TimeSliceScheduler

log = logging.getLogger(__name__)


class ModelRotation:
    """Loads the engine of the model whose time slice it is, plays it, and goes on with the next.

    `on_change` is called whenever `loaded` or `state` has changed.
    """

    def __init__(
        self,
        served: Sequence[ServedModel],
        *,
        worker: str,
        around: WorkerContext,
        settings: WorkerSettings,
        instruments: Instrumentation,
        on_change: Callable[[], None],
    ) -> None:
        self._served = {each.entry.id: each for each in served}
        self._worker = worker
        self._around = around
        self._settings = settings
        self._instruments = instruments
        self._on_change = on_change
        self._queue = JobQueue(around.redis, lease_seconds=settings.lease_seconds, defer_seconds=settings.defer_seconds)
        self._scheduler = TimeSliceScheduler(tuple(self._served), self._queue, settings)
        self._keepers = {model: self._make_keeper(model) for model in self._served}
        self._current = self._instruments.stages.model = next(iter(self._served))
        self._stage: ModelRuntime | None = None
        self._left: float | None = None
        self._rested: dict[str, None] = {}  # models whose time slices are over, the earliest first
        self._ending = False
        self.loaded: str | None = None
        """The model whose engine is ready; None while there is none."""
        self.state: Literal["starting", "ready", "switching"] = "starting"

    @property
    def models(self) -> tuple[str, ...]:
        """The models that are served: those whose engine did not start are left out for a while."""
        return self._scheduler.models

    @property
    def engine(self) -> EngineInfo:
        """The name and version of the current model's engine."""
        return self._keepers[self._current].info

    @property
    def phase(self) -> EnginePhase | None:
        """The phase of the start of the current model's engine."""
        return self._keepers[self._current].phase

    @property
    def num_requests(self) -> tuple[int, int]:
        """Requests that are being played, and those that are claimed and wait."""
        return (self._stage.num_running, self._stage.num_waiting) if self._stage else (0, 0)

    @property
    def is_playing(self) -> bool:
        """Whether a time slice is on; otherwise `run` is loading an engine, and may be cancelled to end it at once."""
        return self._stage is not None

    async def run(self) -> None:
        """Serve until `finish` or `hand_back` is called.

        Raises EngineDeadError and EngineLostError when no model's engine starts.
        """
        while not self._ending:
            model = await self._scheduler.next(self.loaded)
            if await self._load(model):
                await self._play(model)

    async def finish(self) -> None:
        """Claim no more, and wait until what is held is played."""
        self._ending = True
        if self._stage:
            await self._stage.consumer.finish()

    async def hand_back(self) -> None:
        """Claim no more, and give up what is held; its unrecorded requests are for other workers."""
        self._ending = True
        if self._stage:
            await self._stage.consumer.hand_back_all()

    async def look(self) -> None:
        """Replace an engine that died while nobody asked it anything, and follow the counters of the one that runs."""
        await self._keepers[self._current].check()
        await self._follow()

    async def close(self) -> None:
        """End all engines, and what was on stage."""
        await asyncio.gather(*(keeper.stop() for keeper in self._keepers.values()))
        if self._stage:
            self._stage.close()

    async def _load(self, model: str) -> bool:
        """Make the engine of `model` the one that is loaded; False when it cannot be, and others are tried."""
        if self.loaded == model:
            return True
        await self._unload()
        self._current = self._instruments.stages.model = model
        try:
            await self._start(model)
        except EngineDeadError as error:
            await self._give_up(model, error)
            return False
        self._count_switch(model)
        self.loaded = model
        log.info("%s: ready for %s", self._worker, model)
        return True

    async def _start(self, model: str) -> None:
        """Start the engine; when it does not, the one that has slept longest makes room for it, and then all do."""
        asleep = [each for each in self._rested if self._keepers[each].slept_bytes and each != model]
        for ended in [some for some in (asleep[:1], asleep[1:]) if some] or [[]]:
            try:
                return await self._keepers[model].start()
            except EngineDeadError:
                if self._left is None:
                    raise  # the first engine of all: what never ran, with the device to itself, is misconfigured
                room = f"without the sleeping {', '.join(ended)}" if ended else "with the device's memory to itself"
                log.exception("%s: the engine did not start; once more, %s", model, room)
            for each in (model, *ended):
                await self._keepers[each].end()
        return await self._keepers[model].start()

    async def _unload(self) -> None:
        if self.loaded is None:
            return
        model = self.loaded
        self._leave()
        await self._follow()  # the last counts of an engine that may end now
        asleep = sum(keeper.slept_bytes for keeper in self._keepers.values())
        await self._keepers[model].rest(self._settings.sleep_bytes - asleep)
        self._rested.pop(model, None)
        self._rested[model] = None

    def _leave(self) -> None:
        self.loaded, self._left = None, time.monotonic()
        self._enter("switching")

    async def _play(self, model: str) -> None:
        if self._ending:
            return
        keeper = self._keepers[model]
        self._stage = stage = self._set_stage(model, keeper)
        self._enter("ready")
        playing = asyncio.create_task(stage.consumer.run(), name=f"play-{model}")
        lost = asyncio.create_task(keeper.lost.wait())
        try:
            await asyncio.wait([playing, lost], return_when=asyncio.FIRST_COMPLETED)
            if lost.done():
                await stage.consumer.hand_back_all()
            await playing
        finally:
            lost.cancel()
            playing.cancel()
        self._stage = None
        await asyncio.to_thread(stage.close)
        if keeper.error is not None:
            self._leave()
            await self._give_up(model, keeper.error)

    def _set_stage(self, model: str, keeper: EngineSupervisor) -> ModelRuntime:
        return ModelRuntime(
            self._served[model],
            keeper,
            self._scheduler.begin(model),
            worker=self._worker,
            around=self._around,
            queue=self._queue,
            settings=self._settings,
            instruments=self._instruments,
        )

    async def _give_up(self, model: str, error: Exception) -> None:
        """Leave a model out for a while, with a new keeper for the next attempt. Raises `error` if no other is left."""
        await self._keepers[model].stop()
        self._keepers[model] = self._make_keeper(model)
        self._scheduler.set_aside(model)
        if not self.models:
            raise error
        log.error("%s is set aside for %g s: %s", model, self._settings.set_aside_seconds, error)
        self._instruments.set_aside.labels(model).inc()
        self._on_change()

    async def _follow(self) -> None:
        keeper = self._keepers[self._current]
        self._instruments.follow(self._around.library.stats(), await keeper.stats(), keeper.generation)

    def _make_keeper(self, model: str) -> EngineSupervisor:
        return EngineSupervisor(self._served[model].make_engine, self._settings, self._instruments)

    def _count_switch(self, model: str) -> None:
        if self._left is not None:
            self._instruments.switches.labels(model).inc()
            self._instruments.switch_seconds.labels(model).inc(time.monotonic() - self._left)

    def _enter(self, state: Literal["ready", "switching"]) -> None:
        self.state = state
        self._on_change()
