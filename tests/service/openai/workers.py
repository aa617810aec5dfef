"""Workers of this process, each in a thread with a loop of its own, that answer what a gateway queues."""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from prometheus_client import CollectorRegistry

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.catalogue.load import load_catalogue
from gigavqa.service.settings import GatewaySettings
from gigavqa.store.connection import connect
from gigavqa.tiling.renderer import Renderer
from gigavqa.tiling.roots import ImageRoot
from gigavqa.workers.engines.engine import Engine
from gigavqa.workers.engines.simulation.engine import SimulatedEngine
from gigavqa.workers.instrumentation import Instrumentation
from gigavqa.workers.model_runtime import ServedModel, WorkerContext
from gigavqa.workers.tools.searches import SearchSources
from gigavqa.workers.worker import Worker
from tests.service.gateways import MODEL
from tests.waiting import wait_until
from tests.workers.simulated_worker import SETTINGS

ENTRY = load_catalogue()[MODEL]
Make = Callable[[], Engine]
_SETTINGS = SETTINGS.model_copy(update={"heartbeat_seconds": 2.0})  # busy clients beside it must not silence a worker
_DEAD: list[asyncio.AbstractEventLoop] = []  # what they were doing stays where it was, and cleans up nothing


class RunningWorker:
    """A worker that claims; `engines` are those that it made."""

    def __init__(
        self, settings: GatewaySettings, make: Make, sources: SearchSources | None = None, entry: CatalogueEntry = ENTRY
    ) -> None:
        self.engines: list[Engine] = []
        self._entry = entry
        self._make = make
        self._sources = sources or SearchSources()
        self._library = Renderer(ImageRoot(settings.data, settings.uploads), settings.folder / "pyramids", 2**28)
        self._ready = threading.Event()
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._work, args=(settings,))
        self._thread.start()
        assert self._ready.wait(60)

    @property
    def renders(self) -> int:
        """Rasters that were rendered."""
        return self._library.stats().renders

    @property
    def encoder_runs(self) -> int:
        """Rasters that went through an encoder."""
        return sum(asyncio.run(engine.stats()).encoder_runs for engine in self.engines)

    @property
    def running(self) -> int:
        """Chats that are being generated."""
        return sum(asyncio.run(engine.stats()).running for engine in self.engines)

    def stop(self) -> None:
        """Hand back what is held, and end."""
        if self._thread.is_alive():
            self.loop.call_soon_threadsafe(self._worker.stop, 0)
            self._thread.join(timeout=30)

    def die(self) -> None:
        """End as a crash would: nothing is handed back, and the lease runs out."""
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(timeout=30)
        _DEAD.append(self.loop)

    def _work(self, settings: GatewaySettings) -> None:
        # A loop that is stopped says so.
        with contextlib.suppress(RuntimeError):
            self.loop.run_until_complete(self._run(settings))

    async def _run(self, settings: GatewaySettings) -> None:
        redis = connect(settings.redis_url or "")
        served = ServedModel(self._entry, self._engine, _SETTINGS.max_requests)
        around = WorkerContext(redis, self._library, sources=self._sources)
        self._worker = Worker([served], around, _SETTINGS, Instrumentation(CollectorRegistry()))
        self._worker.name += f"-{self._entry.id}"  # it may have a sibling in this process
        self._ready.set()
        await self._worker.run()
        await redis.aclose()

    def _engine(self) -> Engine:
        self.engines.append(self._make())
        return self.engines[-1]


@contextmanager
def working(
    settings: GatewaySettings,
    make: Make = lambda: SimulatedEngine(ENTRY, speed=0),
    sources: SearchSources | None = None,
    entry: CatalogueEntry = ENTRY,
) -> Iterator[RunningWorker]:
    """Run a worker for the length of a block."""
    worker = RunningWorker(settings, make, sources, entry)
    try:
        wait_until(lambda: bool(worker.engines), what="the worker's engine")
        yield worker
    finally:
        worker.stop()


def folder_of_uploads(settings: GatewaySettings) -> list[Path]:
    """The pictures that are kept."""
    return sorted((settings.uploads / "sha256").glob("??/*"))
