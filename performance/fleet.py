"""A worker of a simulated fleet: real but for its engine, in the process of the benchmark."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

from prometheus_client import CollectorRegistry
from redis.asyncio import Redis

from catalogue.entry import CatalogueEntry
from jobs.queue import JobQueue
from tiling.library import Library
from workers.engines.keeper import EngineKeeper
from workers.engines.simulated_engine import SimulatedEngine
from workers.instrumentation import Instruments
from workers.settings import WorkerSettings
from workers.shifts import Shifts
from workers.stage import Served, Stage, Surroundings

_EngineT = TypeVar("_EngineT", bound=SimulatedEngine)


class Member(Generic[_EngineT]):
    """One worker of the fleet, with its own connection, caches and engine."""

    def __init__(
        self,
        name: str,
        redis: Redis,
        entry: CatalogueEntry,
        engine: _EngineT,
        library: Library,
        *,
        queue: JobQueue,
        settings: WorkerSettings,
    ) -> None:
        instruments = Instruments(CollectorRegistry())
        self.engine = engine
        self.library = library
        self._keeper = EngineKeeper(lambda: engine, settings, instruments)
        self._stage = Stage(
            Served(entry, lambda: engine, settings.max_requests),
            self._keeper,
            Shifts((entry.id,), queue, settings).begin(entry.id),
            worker=name,
            around=Surroundings(redis, library),
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
