"""Runs a worker as a process: signals, exit status, and what the worker stands on."""

import argparse
import asyncio
import logging
import signal
import sys

from prometheus_client import start_http_server

from catalogue.errors import CatalogueError
from jobs.connection import connect
from jobs.errors import JobsError
from jobs.home import Home
from jobs.previews import PreviewStore
from jobs.server import ensure_server
from tiling.library import Library
from tiling.roots import ImageRoot
from workers.arguments import parse_arguments, settings_of
from workers.engines.engine import EngineDeadError
from workers.errors import WorkerError
from workers.instrumentation import Instruments
from workers.previews import Previews
from workers.serving import served_models
from workers.stage import Surroundings
from workers.worker import Worker

log = logging.getLogger("workers")


def main(argv: list[str] | None = None) -> int:
    """Run one worker; returns the exit status: 0 after a drain, 1 when it cannot go on."""
    arguments = parse_arguments(sys.argv[1:] if argv is None else argv)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("pyvips").setLevel(logging.WARNING)  # it tells of every operation
    try:
        asyncio.run(_run(arguments))
    except (CatalogueError, WorkerError, EngineDeadError, JobsError) as error:
        log.error("%s", error)
        return 1
    return 0


async def _run(arguments: argparse.Namespace) -> None:
    home, settings = Home.from_environment(), settings_of(arguments)
    served = served_models(arguments, home, settings)
    url = home.redis_url or ensure_server(home.server)
    instruments = Instruments()
    previews = None if arguments.no_previews else Previews(PreviewStore(home.results_uri), instruments.previews)
    around = Surroundings(
        redis=connect(url),
        library=Library(ImageRoot(home.data), home.pyramids, settings.cache_bytes),
        metrics_url=_serve_metrics(arguments),
        previews=previews,
    )
    worker = Worker(served, around, settings, instruments)
    _listen_for_signals(worker)
    models = ", ".join(each.entry.id for each in served)
    log.info("%s: starting %s for %s, metrics at %s", worker.name, arguments.engine, models, around.metrics_url)
    try:
        await worker.run()
    finally:
        if previews:
            await asyncio.to_thread(previews.close)
        await around.redis.aclose()


def _serve_metrics(arguments: argparse.Namespace) -> str:
    server, _ = start_http_server(arguments.metrics_port, arguments.metrics_host)
    return f"http://{arguments.metrics_host}:{server.server_port}/metrics"


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
