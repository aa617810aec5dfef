"""Runs a worker as a process: signals, exit status, and what the worker stands on."""

import asyncio
import logging
import signal
import sys
from collections.abc import Mapping

from gigavqa.catalogue.errors import CatalogueError
from gigavqa.contract.errors import JobsError
from gigavqa.ranges.sources import read_remote_images
from gigavqa.retrieval.corpora import Corpora
from gigavqa.retrieval.sources import SearchSource
from gigavqa.runtime.embedded_store import ensure_store
from gigavqa.runtime.errors import InstallationError, SettingsInvalidError
from gigavqa.runtime.exit_statuses import ExitStatus
from gigavqa.runtime.logs import configure_logging
from gigavqa.store.connection import connect
from gigavqa.store.previews import PreviewStore
from gigavqa.store.reachability import require_usable
from gigavqa.tiling.digest import store_digests
from gigavqa.tiling.renderer import Renderer
from gigavqa.tiling.roots import ImageRoot
from gigavqa.tiling.store import RasterStore
from gigavqa.workers.engines.engine import EngineDeadError
from gigavqa.workers.errors import WorkerError
from gigavqa.workers.idle_work import IdleWorker
from gigavqa.workers.instrumentation import Instrumentation, free_bytes
from gigavqa.workers.model_runtime import WorkerContext
from gigavqa.workers.previews import PreviewWriter
from gigavqa.workers.probes import ProbeServer
from gigavqa.workers.served_models import served_models
from gigavqa.workers.settings import WorkerSettings
from gigavqa.workers.tools.searches import SearchSources
from gigavqa.workers.tools.sources import read_sources
from gigavqa.workers.traces import Traces
from gigavqa.workers.worker import Worker

log = logging.getLogger("workers")


def main(argv: list[str] | None = None) -> int:
    """Run one worker; returns the exit status: 0 after a drain, 1 when it cannot go on, 2 for wrong settings, such as
    a model that is in no catalogue.

    One that ends when idle is done with 0 then, and says 143 where it was told to end before.
    """
    try:
        settings = _settings(sys.argv[1:] if argv is None else argv)
        named = read_sources(settings.search) if settings.search else {}
    except SettingsInvalidError as error:
        print(f"gigavqa worker: {error}", file=sys.stderr)
        return ExitStatus.WRONG_INPUT
    configure_logging(settings.log_format, "worker")
    logging.getLogger("pyvips").setLevel(logging.WARNING)  # it tells of every operation
    try:
        is_done = asyncio.run(_run(settings, named))
    except (CatalogueError, SettingsInvalidError) as error:
        log.error("%s", error)
        return ExitStatus.WRONG_INPUT
    except (WorkerError, EngineDeadError, InstallationError, JobsError) as error:
        log.error("%s", error)
        return ExitStatus.FAILED
    return ExitStatus.DONE if is_done else ExitStatus.TERMINATED


def _settings(argv: list[str]) -> WorkerSettings:
    settings = WorkerSettings.read(argv)
    if not settings.models:
        raise SettingsInvalidError("no model is named: say --model ID, GIGAVQA_WORKER_MODELS, or models in the file")
    return settings


async def _run(settings: WorkerSettings, named: Mapping[str, SearchSource]) -> bool:
    served = served_models(settings)
    if settings.redis_url:
        await require_usable(settings.redis_url)  # before an engine takes minutes to load
    url = settings.redis_url or ensure_store(settings.server)
    instruments = Instrumentation()
    store = RasterStore(settings.rasters, settings.raster_store_bytes) if settings.raster_store_bytes else None
    store_digests(settings.digests)
    read_remote_images(settings)
    instruments.disk.set_function(lambda: free_bytes(settings.folder))
    root = ImageRoot(settings.data, settings.uploads)
    library = Renderer(root, settings.pyramids, settings.cache_bytes, store, instruments.count_pass)
    previews = PreviewWriter(PreviewStore(settings.results_uri), instruments.previews) if settings.previews else None
    idle_work = IdleWorker(library, instruments.kept_rasters, previews)
    probes = ProbeServer(settings.metrics_host, settings.metrics_port)
    traces = Traces.to(settings.traces) if settings.traces else None
    around = WorkerContext(
        redis=connect(url),
        library=library,
        sources=SearchSources(Corpora(settings.data, settings.indexes), named),
        metrics_url=probes.metrics_url,
        idle_work=idle_work,
        traces=traces,
    )
    worker = Worker(served, around, settings, instruments)
    probes.watch(lambda: worker.state)
    _listen_for_signals(worker)
    models = ", ".join(each.entry.id for each in served)
    log.info("%s: starting %s for %s, metrics at %s", worker.name, settings.engine, models, around.metrics_url)
    try:
        await worker.run()
    finally:
        await asyncio.to_thread(idle_work.close)
        if traces:
            await asyncio.to_thread(traces.close)
        await around.redis.aclose()
    return worker.is_idle or not settings.idle_seconds


def _listen_for_signals(worker: Worker) -> None:
    """The first SIGTERM or SIGINT drains; the second one hands everything back at once."""
    told = False

    def tell() -> None:
        nonlocal told
        log.info("told to end; %s", "handing back at once" if told else "draining")
        worker.stop(grace_seconds=0 if told else None)
        told = True

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, tell)
