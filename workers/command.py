"""The command line of a worker: arguments, signals, and what the worker stands on."""

import argparse
import asyncio
import logging
import signal
import sys
from collections.abc import Callable

from prometheus_client import start_http_server

from catalogue.entry import CatalogueEntry
from catalogue.errors import CatalogueError
from catalogue.load import load_catalogue
from catalogue.resolve import resolve_model
from jobs.connection import connect
from jobs.errors import JobsError
from jobs.home import Home
from jobs.previews import PreviewStore
from jobs.server import ensure_server
from tiling.library import Library
from tiling.roots import ImageRoot
from workers.checkpoints.build import PREFIX, ensure_checkpoint
from workers.engine import Engine, EngineDeadError
from workers.errors import WorkerError
from workers.instrumentation import Instruments
from workers.previews import Previews
from workers.settings import WorkerSettings
from workers.simulated_engine import SimulatedEngine
from workers.vllm_engine import VllmEngine
from workers.worker import Surroundings, Worker

log = logging.getLogger("workers")

_LOOPBACK = "127.0.0.1"
_DEFAULTS = WorkerSettings()


def parse_arguments(argv: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m workers", description="Plays the queued requests of one model.")
    parser.add_argument("--model", required=True, metavar="ID", help="the model whose bundles are claimed")
    parser.add_argument("--model-from", metavar="NAME", help="checkpoint folder or Hugging Face id to serve under ID")
    parser.add_argument("--engine", choices=["vllm", "simulated"], default="vllm")
    parser.add_argument("--speed", type=float, default=1.0, help="of the simulated engine; 0 takes no time")
    parser.add_argument("--metrics-host", default=_LOOPBACK, metavar="ADDRESS")
    parser.add_argument("--metrics-port", type=int, default=0, metavar="PORT", help="0 takes any")
    parser.add_argument("--max-requests", type=int, metavar="N", help="chats that are played at once")
    parser.add_argument("--grace", type=float, default=_DEFAULTS.grace_seconds, metavar="SECONDS", help="at SIGTERM")
    parser.add_argument("--lease", type=float, default=_DEFAULTS.lease_seconds, metavar="SECONDS")
    parser.add_argument("--no-previews", action="store_true", help="write no small pictures of what the model saw")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    """Run one worker; returns the exit status: 0 after a drain, 1 when it cannot go on."""
    arguments = parse_arguments(sys.argv[1:] if argv is None else argv)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("pyvips").setLevel(logging.WARNING)  # it tells of every operation
    try:
        return 0 if asyncio.run(_run(arguments)) else 1
    except (CatalogueError, WorkerError, EngineDeadError, JobsError) as error:
        log.error("%s", error)
        return 1


async def _run(arguments: argparse.Namespace) -> bool:
    home = Home.from_environment()
    entry = _entry(arguments, home)
    settings = _settings(arguments, entry)
    url = home.redis_url or ensure_server(home.server)
    instruments = Instruments()
    previews = None if arguments.no_previews else Previews(PreviewStore(home.results_uri), instruments.previews)
    around = Surroundings(
        redis=connect(url),
        library=Library(ImageRoot(home.data), home.pyramids, settings.cache_bytes),
        metrics_url=_serve_metrics(arguments),
        previews=previews,
    )
    worker = Worker(entry, _engine_maker(arguments, entry, home), around, settings, instruments)
    _listen_for_signals(worker)
    log.info("%s: starting %s for %s, metrics at %s", worker.name, arguments.engine, entry.id, around.metrics_url)
    try:
        return await worker.run()
    finally:
        if previews:
            await asyncio.to_thread(previews.close)
        await around.redis.aclose()


def _entry(arguments: argparse.Namespace, home: Home) -> CatalogueEntry:
    entry = resolve_model(arguments.model_from or arguments.model, load_catalogue(home.catalogue))
    return entry.model_copy(update={"id": arguments.model}) if arguments.model_from else entry


def _settings(arguments: argparse.Namespace, entry: CatalogueEntry) -> WorkerSettings:
    asked = arguments.max_requests or entry.engine.get("max_num_seqs") or _DEFAULTS.max_requests
    return WorkerSettings(max_requests=int(asked), lease_seconds=arguments.lease, grace_seconds=arguments.grace)


def _engine_maker(arguments: argparse.Namespace, entry: CatalogueEntry, home: Home) -> Callable[[], Engine]:
    if arguments.engine == "simulated":
        return lambda: SimulatedEngine(entry, speed=arguments.speed)
    weights = entry.weights
    if weights.startswith(PREFIX):
        weights = str(ensure_checkpoint(weights, home.checkpoints))
    return lambda: VllmEngine(entry, weights)


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
