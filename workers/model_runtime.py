"""Everything that plays one model's time slice; made for it and closed with it."""

from collections.abc import Callable
from dataclasses import dataclass, field

from redis.asyncio import Redis

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.store.queue import JobQueue
from gigavqa.store.results import ResultStore
from gigavqa.store.searches import SearchStore
from gigavqa.store.streaming import TokenPublisher
from gigavqa.tiling.renderer import Renderer
from gigavqa.workers.bundles import BundlePlayer
from gigavqa.workers.consumer import Consumer
from gigavqa.workers.engines.engine import Engine
from gigavqa.workers.engines.supervisor import EngineSupervisor
from gigavqa.workers.idle_work import IdleWorker
from gigavqa.workers.instrumentation import Instrumentation
from gigavqa.workers.preparation import RasterPreparation
from gigavqa.workers.settings import WorkerSettings
from gigavqa.workers.time_slices import TimeSlice
from gigavqa.workers.tools.searches import LEASE_SECONDS, SearchExecutor, SearchSources
from gigavqa.workers.tools.toolbox import Toolbox
from gigavqa.workers.traces import Traces


@dataclass(frozen=True)
class WorkerContext:
    """The parts that all models of a worker share: state store, images, search sources, idle work, and metrics."""

    redis: Redis
    library: Renderer
    metrics_url: str | None = None
    idle_work: IdleWorker | None = None
    traces: Traces | None = None
    sources: SearchSources = field(default_factory=SearchSources)


@dataclass(frozen=True)
class ServedModel:
    """A model that a worker serves, `max_requests` chats at once. `make_engine` makes its engine, however often."""

    entry: CatalogueEntry
    make_engine: Callable[[], Engine]
    max_requests: int


class ModelRuntime:
    """Rendering, playing and claiming for one model."""

    def __init__(
        self,
        served: ServedModel,
        keeper: EngineSupervisor,
        time_slice: TimeSlice,
        *,
        worker: str,
        around: WorkerContext,
        queue: JobQueue,
        settings: WorkerSettings,
        instruments: Instrumentation,
    ) -> None:
        settings = settings.model_copy(update={"max_requests": served.max_requests})
        self._preparation = RasterPreparation(
            around.library,
            served.entry.visual_budget,
            limit_bytes=settings.ahead_bytes,
            threads=settings.render_threads,
            idle_work=around.idle_work,
        )
        self._rounds = RasterPreparation(
            around.library,
            served.entry.visual_budget,
            limit_bytes=settings.round_bytes,
            threads=settings.render_threads,
            idle_work=around.idle_work,
            measured=True,
        )
        searching = SearchExecutor(
            around.sources,
            SearchStore(around.redis),
            min(LEASE_SECONDS, settings.lease_seconds),
            lambda outcome: instruments.searches.labels(outcome).inc(),
        )
        self._player = BundlePlayer(
            queue=queue,
            results=ResultStore(around.redis),
            keeper=keeper,
            teller=TokenPublisher(around.redis),
            preparation=self._preparation,
            rounds=self._rounds,
            toolbox=Toolbox(served.entry.visual_budget, searching),
            instruments=instruments,
            traces=around.traces,
            max_requests=settings.max_requests,
            in_history=served.entry.in_history,
            unthinking=served.entry.unthinking,
        )
        self.consumer = Consumer(
            model=served.entry.id,
            worker=worker,
            queue=queue,
            player=self._player,
            time_slice=time_slice,
            settings=settings,
            instruments=instruments,
        )

    @property
    def num_running(self) -> int:
        """Requests that are being played now."""
        return self._player.running

    @property
    def num_waiting(self) -> int:
        """Requests that are claimed and wait."""
        return max(0, self.consumer.num_requests - self._player.running)

    def close(self) -> None:
        """Break off what is being rendered, and end the threads."""
        self._preparation.close()
        self._rounds.close()
