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
from workers.leisure import Leisure
from workers.settings import WorkerSettings
from workers.shifts import Shifts
from workers.stage import Served, Stage, Surroundings

_EngineT = TypeVar("_EngineT", bound=SimulatedEngine)


class Member(Generic[_EngineT]):
    """One worker of the fleet, with its own connection, caches and engine.

    With `leisure_bytes`, what it renders of large pictures goes into the store of its library; so much may wait for it.
    """

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
        leisure_bytes: int | None = None,
    ) -> None:
        instruments = Instruments(CollectorRegistry())
        self.engine = engine
        self.library = library
        self._leisure = (
            None if leisure_bytes is None else Leisure(library, instruments.kept_rasters, waiting_bytes=leisure_bytes)
        )
        self._keeper = EngineKeeper(lambda: engine, settings, instruments)
        self._stage = Stage(
            Served(entry, lambda: engine, settings.max_requests),
            self._keeper,
            Shifts((entry.id,), queue, settings).begin(entry.id),
            worker=name,
            around=Surroundings(redis, library, leisure=self._leisure),
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
