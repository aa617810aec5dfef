"""A worker of this process on the simulated engine, to be run until something has come true."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry
from redis.asyncio import Redis

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.contract.requests import Sampling
from gigavqa.contract.responses import OnTokens, TurnResponse
from gigavqa.store.previews import PreviewStore
from gigavqa.tiling.renderer import Renderer
from gigavqa.tiling.roots import ImageRoot
from gigavqa.workers.engines.engine import EngineDeadError, Message
from gigavqa.workers.engines.simulation.engine import SimulatedEngine
from gigavqa.workers.idle_work import IdleWorker
from gigavqa.workers.instrumentation import Instrumentation
from gigavqa.workers.model_runtime import ServedModel, WorkerContext
from gigavqa.workers.previews import PreviewWriter
from gigavqa.workers.settings import WorkerSettings
from gigavqa.workers.tools.searches import SearchSources
from gigavqa.workers.traces import Traces
from gigavqa.workers.worker import Worker
from tests.waiting import async_wait_until
from tests.workers.examples import ENTRY, job_of

SETTINGS = WorkerSettings(
    max_requests=8,
    render_threads=2,
    lease_seconds=0.6,
    claim_block_seconds=0.05,
    cancel_poll_seconds=0.05,
    probation_wait_seconds=0.1,
    heartbeat_seconds=0.1,
    backoff_seconds=0.01,
)


class MortalEngine(SimulatedEngine):
    """Dies of every prompt with the word poison, and takes with it what it was generating."""

    async def generate(
        self,
        chat: Sequence[Message],
        sampling: Sampling,
        request_id: str,
        priority: int = 0,
        grow: OnTokens | None = None,
    ) -> TurnResponse:
        """Die, or answer."""
        if "poison" in chat[-1].text:
            await self.stop()
            raise EngineDeadError("poison")
        return await super().generate(chat, sampling, request_id, priority, grow)


class Rig:
    """The worker and everything that a test looks at."""

    def __init__(
        self,
        redis: Redis,
        data: Path,
        pyramids: Path,
        make: Callable[[], SimulatedEngine],
        traces: Traces | None = None,
        *,
        sources: SearchSources | None = None,
        entry: CatalogueEntry = ENTRY,
        previews: Path | None = None,
        **settings: Any,
    ) -> None:
        self.redis = redis
        self.engines: list[SimulatedEngine] = []
        self.registry = CollectorRegistry()
        self.library = Renderer(ImageRoot(data), pyramids, 2**28)
        self._make = make
        chosen = SETTINGS.model_copy(update=settings)
        served = ServedModel(entry, self._engine, chosen.max_requests)
        instruments = Instrumentation(self.registry)
        self.idle_work: IdleWorker | None = None
        if previews:
            small = PreviewWriter(PreviewStore(str(previews)), instruments.previews)
            self.idle_work = IdleWorker(self.library, instruments.kept_rasters, small)
        around = WorkerContext(
            redis, self.library, idle_work=self.idle_work, traces=traces, sources=sources or SearchSources()
        )
        self.worker = Worker([served], around, chosen, instruments)

    def count(self, series: str, **labels: str) -> float:
        """Value of one of the worker's series."""
        return self.registry.get_sample_value(f"gigavqa_worker_{series}", labels) or 0.0

    async def until_final(self, job_id: str) -> None:
        """Wait until nothing more will happen to the job."""

        async def final() -> bool:
            return (await job_of(self.redis, job_id)).status.final

        await async_wait_until(final, timeout=120, what=f"the end of {job_id}")

    def _engine(self) -> SimulatedEngine:
        self.engines.append(self._make())
        return self.engines[-1]


@asynccontextmanager
async def running_worker(
    redis: Redis,
    data: Path,
    pyramids: Path,
    make: Callable[[], SimulatedEngine] | None = None,
    traces: Traces | None = None,
    *,
    sources: SearchSources | None = None,
    entry: CatalogueEntry = ENTRY,
    previews: Path | None = None,
    **settings: Any,
) -> AsyncIterator[Rig]:
    """Run a worker for as long as the block lasts, then drain it; `settings` go before those of the rig.

    It keeps small pictures of what was shown below `previews`.
    """
    engine = make or (lambda: SimulatedEngine(ENTRY, speed=0))
    rig = Rig(redis, data, pyramids, engine, traces, sources=sources, entry=entry, previews=previews, **settings)
    running = asyncio.create_task(rig.worker.run())
    try:
        yield rig
    finally:
        rig.worker.stop(grace_seconds=0)
        await running
        if rig.idle_work:
            await asyncio.to_thread(rig.idle_work.close)
