"""Renders, encoder runs and prefilled tokens per unique one, of a whole plan over a fleet of simulated workers.

    python -m performance.reuse [--models qwen3-vl-8b qwen3.5-27b] [--workers 1 4 16] [--speed N]

The unique work is computed: `performance.ideal`. Everything but the engine is real: server, queue and claim script,
workers (in one process, each with a connection, a library and an engine of its own), files and rendering. Pictures and
budgets have an eighth of their sides, and so have the pixels of a token: every picture has the visual tokens of its
native budget, and costs little to render. The engine is the simulated one on an H100, `speed` times as fast; it is the
slow part, as it is in truth, so that what waits for it is ordered as it would be. Ideal is 1; the last column compares
with what can be found again in units of 16 tokens. "Too long" are requests that show more than the model's context
holds; they are refused, and no part of what is unique. Eight workers are a machine, with one store of rasters on its
disk: what one finds there that another made is no rendering. Some three minutes.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from redis.asyncio import Redis

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.models import InferenceRequest, JobSpec, Response
from gigavqa.demo.ultravr.dataset import build_demo_dataset
from gigavqa.evaluation.datasets import load_dataset
from gigavqa.evaluation.expansion import prepare_expansion
from gigavqa.runtime.embedded_store import start_store
from gigavqa.service.submission.validation import bundle_requests
from gigavqa.store.connection import connect
from gigavqa.store.queue import JobQueue
from gigavqa.store.registry import JobRegistry
from gigavqa.store.results import ResultStore
from gigavqa.tiling.headers import read_header
from gigavqa.tiling.renderer import Renderer
from gigavqa.tiling.roots import ImageRoot
from gigavqa.tiling.store import RasterStore
from gigavqa.workers.engines.engine import ContextExceededError
from gigavqa.workers.engines.simulation.engine import SimulatedEngine, roofline_of
from gigavqa.workers.engines.simulation.roofline import Roofline
from gigavqa.workers.idle_work import MAX_PENDING_BYTES
from gigavqa.workers.settings import WorkerSettings
from performance.fleet import FleetMember
from performance.ideal import EntryTokens, IdealWork, ideal

_REDUCED = 8
_GIB = 2**30
_MAX_REQUESTS = 64
_WORKERS_OF_A_MACHINE = 8
_POLL_SECONDS = 0.2
ANSWER_TOKENS = {"qwen3-vl-8b": 100, "qwen3.5-27b": 500}
"""Of one turn; a model that thinks says more."""


@dataclass(frozen=True)
class PlanRequests:
    """A plan's requests of one reduced model, each with its picture, and the images that they look at."""

    entry: CatalogueEntry
    spec: JobSpec
    requests: Sequence[tuple[str, InferenceRequest]]
    root: ImageRoot


@dataclass(frozen=True)
class FleetCounts:
    """What a fleet did. `engine_seconds` are those of the simulated machines that computed, together."""

    seconds: float
    too_long: int
    """Requests whose prompts are longer than the model's context; they are no part of the ideal."""
    renders: int
    found: int
    """Rasters that another worker of the machine had rendered."""
    encoder_runs: int
    encoded_tokens: int
    prefilled_tokens: int
    engine_seconds: float
    shown: int
    """Different rasters of all requests, also of those that are too long: their views are rendered, too."""
    ideal: IdealWork


def join(
    name: str, asked: PlanRequests, redis: Redis, machine: Path, *, roofline: Roofline, speed: float, answer_tokens: int
) -> FleetMember:
    """Make one worker of the fleet, which shares a folder with the others of its machine."""
    share = asked.entry.visual_budget.max_raster_pixels / 4096**2
    settings = WorkerSettings(
        max_requests=_MAX_REQUESTS,
        render_threads=1,
        previews=False,
        claim_block_seconds=0.1,
        ahead_bytes=int(2 * _GIB * share),
        cache_bytes=int(_GIB * share),
    )
    # As long on the engines' clock as a real worker's; without it nothing finds the worker with its picture.
    queue = JobQueue(redis, lease_seconds=settings.lease_seconds, defer_seconds=settings.defer_seconds / speed)
    store = RasterStore(machine / "rasters", settings.raster_store_bytes)
    library = Renderer(asked.root, machine / "pyramids", settings.cache_bytes, store)
    engine = SimulatedEngine(asked.entry, speed=speed, roofline=roofline, thought_tokens=answer_tokens)
    return FleetMember(
        name,
        redis,
        asked.entry,
        engine,
        library,
        queue=queue,
        settings=settings,
        leisure_bytes=int(MAX_PENDING_BYTES * share),
    )


def ask(model: str, plan: str, folder: Path) -> PlanRequests:
    """Expand a plan over the reduced demo data set, which is painted when it is not there."""
    build_demo_dataset(folder / "demo", scale=1 / _REDUCED, progress=lambda _: None)
    entry = _reduced(load_catalogue()[model])
    spec = JobSpec(dataset="demo", models=(model,), plan=plan, options={"thumbnail": 1024 // _REDUCED})
    expansion = prepare_expansion(load_dataset(folder / "demo"), spec, {model: entry})
    requests = list(expansion.requests(lambda image: read_header(folder / image).size))
    return PlanRequests(entry, spec, requests, ImageRoot(folder))


def _reduced(entry: CatalogueEntry) -> CatalogueEntry:
    budget = entry.visual_budget
    limits = {name: getattr(budget, name) // _REDUCED**2 for name in ("min_pixels", "max_pixels")}
    smaller = budget.model_copy(update={"factor": getattr(budget, "factor") // _REDUCED, **limits})  # noqa: B009
    return entry.model_copy(update={"visual_budget": smaller})


async def play(
    asked: PlanRequests, roofline: Roofline, workers: int, speed: float, *, answer_tokens: int
) -> FleetCounts:
    """Play the plan on a server of its own; returns what was done."""
    with tempfile.TemporaryDirectory() as folder:
        server = start_store(Path(folder, "server"))
        try:
            async with AsyncExitStack() as stack:
                clients = [connect(server.url) for _ in range(workers)]
                for client in clients:
                    stack.push_async_callback(client.aclose)
                fleet = [
                    join(
                        f"w{number}",
                        asked,
                        client,
                        Path(folder, f"machine{number // _WORKERS_OF_A_MACHINE}"),
                        roofline=roofline,
                        speed=speed,
                        answer_tokens=answer_tokens,
                    )
                    for number, client in enumerate(clients)
                ]
                began = time.monotonic()
                responses = await _play_job(asked, clients[0], fleet)
                seconds = time.monotonic() - began
                answers = {response.request_id: [turn.text for turn in response.turns] for response in responses}
                return _done(asked, fleet, roofline, answers, seconds)
        finally:
            server.stop()


async def _play_job(asked: PlanRequests, redis: Redis, fleet: Sequence[FleetMember]) -> list[Response]:
    registry, queue, store = JobRegistry(redis), JobQueue(redis), ResultStore(redis)
    job, _ = await registry.create(asked.spec)
    await queue.enqueue(job.id, list(bundle_requests(job, asked.requests, _MAX_REQUESTS)), None)
    async with AsyncExitStack() as stack:
        for member in fleet:
            await stack.enter_async_context(member.playing())
        while not (await registry.get(job.id)).status.final:  # noqa: ASYNC110 - of a server, which sets no event here
            await asyncio.sleep(_POLL_SECONDS)
    responses = [response for _, response in await store.read(job.id, limit=len(asked.requests))]
    read = [response for response in responses if isinstance(response, Response)]
    failures = [response.failure for response in read if response.failure]
    failed = [failure for failure in failures if failure.type != ContextExceededError.__name__]
    if failed or len(read) < len(responses):
        raise RuntimeError(f"{len(failed)} requests failed, {len(responses) - len(read)} are lost: {failed[:1]}")
    return [response for response in read if response.ok]


def _done(
    asked: PlanRequests,
    fleet: Sequence[FleetMember],
    roofline: Roofline,
    answers: dict[str, list[str]],
    seconds: float,
) -> FleetCounts:
    counts = [member.engine.counts for member in fleet]
    requests = [request for _, request in asked.requests if request.id in answers]
    tokens = EntryTokens(asked.entry, asked.root)
    return FleetCounts(
        seconds=seconds,
        too_long=len(asked.requests) - len(requests),
        renders=sum(member.library.stats().renders for member in fleet),
        found=sum(member.library.stats().found for member in fleet),
        encoder_runs=sum(count.encoder_runs for count in counts),
        encoded_tokens=sum(count.encoded_tokens for count in counts),
        prefilled_tokens=sum(count.prefilled_tokens for count in counts),
        engine_seconds=sum(count.busy_seconds for count in counts),
        shown=ideal((request for _, request in asked.requests), tokens).rasters,
        ideal=ideal(requests, tokens, answers, roofline.model.match_tokens),
    )


def main() -> None:
    arguments = _arguments()
    heads = ["model", "workers", "too long", "engines' seconds", "found on the disk"]
    heads += ["renders", "encoder runs", "encoded tokens", "prefilled tokens", "in units"]
    print(f"| {' | '.join(heads)} |\n{'|---' * len(heads)}|")
    for model in arguments.models:
        asked = ask(model, arguments.plan, arguments.files)
        roofline, answer = roofline_of(asked.entry), ANSWER_TOKENS.get(model, 100)
        for workers in arguments.workers:
            speed = arguments.speed / workers
            done = asyncio.run(play(asked, roofline, workers, speed, answer_tokens=answer))
            told = [model, str(workers), str(done.too_long), f"{done.engine_seconds:.0f}", str(done.found)]
            print(f"| {' | '.join(told + _ratios(done))} |", flush=True)
        print(f"| {model} | unique | | | | {' | '.join(f'{unique:,}' for _, unique in _pairs(done))} |", flush=True)
        sent = done.ideal
        print(f"{sent.requests} requests, {sent.prompts:,} prompts of {sent.sent_tokens:,} tokens.", file=sys.stderr)


def _ratios(done: FleetCounts) -> list[str]:
    return [f"{made / unique:.3f}" for made, unique in _pairs(done)]


def _pairs(done: FleetCounts) -> list[tuple[int, int]]:
    """Return what was made, and what is unique of it."""
    least = done.ideal
    return [
        (done.renders, done.shown),
        (done.encoder_runs, least.rasters),
        (done.encoded_tokens, least.encoded_tokens),
        (done.prefilled_tokens, least.prefilled_tokens),
        (done.prefilled_tokens, least.prefilled_in_blocks),
    ]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=["qwen3-vl-8b", "qwen3.5-27b"])
    parser.add_argument("--plan", default="ultravr")
    parser.add_argument("--workers", nargs="+", type=int, default=[1, 4, 16])
    parser.add_argument("--speed", type=float, default=400.0, help="simulated seconds in one, over all workers")
    parser.add_argument("--files", type=Path, default=Path(tempfile.gettempdir()) / "gigavqa-benchmark-reuse")
    return parser.parse_args()


if __name__ == "__main__":
    main()
