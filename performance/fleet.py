"""A worker of a simulated fleet: real but for its engine, in the process of the benchmark."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

from prometheus_client import CollectorRegistry
from redis.asyncio import Redis

from catalogue.entry import CatalogueEntry
from jobs.queue import JobQueue
from tiling.renderer import Renderer
from workers.engines.simulated_engine import SimulatedEngine
from workers.engines.supervisor import EngineSupervisor
from workers.idle_work import IdleWorker
from workers.instrumentation import Instrumentation
from workers.model_runtime import ModelRuntime, ServedModel, WorkerContext
from workers.settings import WorkerSettings
from workers.time_slices import TimeSliceScheduler

_EngineT = TypeVar("_EngineT", bound=SimulatedEngine)


class FleetMember(Generic[_EngineT]):
    """One worker of the fleet, with its own connection, caches and engine.

    With `leisure_bytes`, what it renders of large pictures goes into the store of its library; so much may wait for it.
    """

    def __init__(
        self,
        name: str,
        redis: Redis,
        entry: CatalogueEntry,
        engine: _EngineT,
        library: Renderer,
        *,
        queue: JobQueue,
        settings: WorkerSettings,
        leisure_bytes: int | None = None,
    ) -> None:
        instruments = Instrumentation(CollectorRegistry())
        self.engine = engine
        self.library = library
        self._leisure = (
            None
            if leisure_bytes is None
            else IdleWorker(library, instruments.kept_rasters, waiting_bytes=leisure_bytes)
        )
        self._keeper = EngineSupervisor(lambda: engine, settings, instruments)
        self._stage = ModelRuntime(
            ServedModel(entry, lambda: engine, settings.max_requests),
            self._keeper,
            TimeSliceScheduler((entry.id,), queue, settings).begin(entry.id),
            worker=name,
            around=WorkerContext(redis, library, leisure=self._leisure),
            queue=queue,
            settings=settings,
            instruments=instruments,
        )

    @asynccontextmanager
    async def playing(self) -> AsyncIterator[None]:
        """Play for as long as the block lasts."""
        await self._keeper.start()
        running = asyncio.create_task(self._stage.consumer.run())
        try:
            yield
        finally:
            await self._stage.consumer.finish()
            await running
            await self._keeper.stop()
            self._stage.close()
            if self._leisure:
                self._leisure.close()
