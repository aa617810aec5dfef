"""A worker of a simulated fleet: real but for its engine, in the process of the benchmark."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from prometheus_client import CollectorRegistry
from redis.asyncio import Redis

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.store.queue import JobQueue
from gigavqa.tiling.renderer import Renderer
from gigavqa.workers.engines.simulation.engine import SimulatedEngine
from gigavqa.workers.engines.supervisor import EngineSupervisor
from gigavqa.workers.idle_work import IdleWorker
from gigavqa.workers.instrumentation import Instrumentation
from gigavqa.workers.model_runtime import ModelRuntime, ServedModel, WorkerContext
from gigavqa.workers.settings import WorkerSettings
from gigavqa.workers.time_slices import TimeSliceScheduler


class FleetMember:
    """One worker of the fleet, with its own connection, caches and engine.

    What it renders of large pictures goes into the store of its library; `leisure_bytes` may wait for that.
    """

    def __init__(
        self,
        name: str,
        redis: Redis,
        entry: CatalogueEntry,
        engine: SimulatedEngine,
        library: Renderer,
        *,
        queue: JobQueue,
        settings: WorkerSettings,
        leisure_bytes: int,
    ) -> None:
        instruments = Instrumentation(CollectorRegistry())
        self.engine = engine
        self.library = library
        self._leisure = IdleWorker(library, instruments.kept_rasters, waiting_bytes=leisure_bytes)
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
            self._leisure.close()
