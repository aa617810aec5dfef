"""Renders, encoder runs and prefilled tokens per unique one over a fleet: `python -m performance.affinity`.

Real server, queue and workers in one process, each with its own caches; the engine is the simulated one. Of its time,
two figures are set: what a picture costs that its caches do not hold, and how long an answer takes beside others.
Seconds are those of the simulated engines, whose clock runs faster the fewer they are. Takes ten minutes.
"""

import argparse
import asyncio
import tempfile
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, product
from pathlib import Path

import numpy as np
from PIL import Image
from redis.asyncio import Redis

from catalogue.load import load_catalogue
from jobs.connection import connect
from jobs.embedded_store import start_store
from jobs.models import Bundle, InferenceRequest, JobSpec, OnTokens, Sampling, Turn, TurnResponse
from jobs.queue import JobQueue
from jobs.registry import JobRegistry
from performance.fleet import FleetMember
from tiling.renderer import Renderer
from tiling.roots import ImageRoot
from tiling.views import View
from workers.engines.engine import Message
from workers.engines.simulated_engine import SimulatedEngine
from workers.settings import WorkerSettings

ENTRY = load_catalogue()["demo-qwen3-vl"]
MAX_REQUESTS = 64
COLD_SECONDS = 1.9
"""To encode and prefill 16k visual tokens: an 8-billion-parameter model on one H100."""
ANSWER_SECONDS = 9.6
"""To answer beside 63 others there: 100 tokens each, at 660 a second together."""
KEPT_PICTURES = 20
DEFER_SECONDS = 3.0


@dataclass(frozen=True)
class AffinityPlan:
    """Equal jobs that are submitted one after the other; `hot` requests of each are about one more picture."""

    name: str
    pictures: int
    requests: int
    jobs: int = 1
    hot: int = 0


PLANS = (
    AffinityPlan("100 pictures, 40 requests each", 100, 40),
    AffinityPlan("40 pictures, 100 requests each", 40, 100),
    AffinityPlan("two jobs on 100 pictures, 20 requests each", 100, 20, jobs=2),
    AffinityPlan("one picture with 1000 requests, then 75 with 40", 75, 40, hot=1000),
)


@dataclass
class AffinityCounts:
    """What a run took: counts over all workers, seconds of the simulated clock."""

    pictures: list[int]
    renders: int = 0
    encoded: int = 0
    prefilled: int = 0
    seconds: float = 0.0
    idle: float = 0.0


class PacedEngine(SimulatedEngine):
    """The simulated engine, whose every picture that is not in its caches takes a while, and every answer, too."""

    def __init__(self, speed: float) -> None:
        super().__init__(ENTRY, speed=0)
        self._pace = speed
        self._device = asyncio.Lock()
        self._kept: OrderedDict[str, None] = OrderedDict()
        self._answering = 0
        self.since = time.monotonic()
        self.idle = 0.0
        self.pictures: set[str] = set()

    async def generate(
        self,
        chat: Sequence[Message],
        sampling: Sampling,
        request_id: str,
        priority: int = 0,
        grow: OnTokens | None = None,
    ) -> TurnResponse:
        """Answer after as long as it would take."""
        if not self._answering:
            self.idle += time.monotonic() - self.since
        self._answering += 1
        try:
            await self._warm(chat[-1].rasters[0].key)
            await asyncio.sleep(ANSWER_SECONDS / self._pace)
            return await super().generate(chat, sampling, request_id, priority, grow)
        finally:
            self._answering -= 1
            self.since = time.monotonic()

    async def _warm(self, picture: str) -> None:
        self.pictures.add(picture)
        async with self._device:
            if picture not in self._kept:
                await asyncio.sleep(COLD_SECONDS / self._pace)
            self._kept[picture] = None
            self._kept.move_to_end(picture)
            if len(self._kept) > KEPT_PICTURES:
                self._kept.popitem(last=False)


def join(name: str, redis: Redis, home: Path, speed: float, defer_seconds: float) -> FleetMember[PacedEngine]:
    """Make one worker of the fleet."""
    settings = WorkerSettings(
        max_requests=MAX_REQUESTS, render_threads=1, claim_block_seconds=0.1, lease_seconds=30.0, previews=False
    )
    queue = JobQueue(redis, lease_seconds=settings.lease_seconds, defer_seconds=defer_seconds)
    library = Renderer(ImageRoot(home / "data"), home / name, 2**28)
    return FleetMember(name, redis, ENTRY, PacedEngine(speed), library, queue=queue, settings=settings)


def draw_pictures(root: Path, number: int) -> None:
    root.mkdir(parents=True)
    for index in range(number):
        blocks = np.random.default_rng(index).integers(0, 255, (8, 8, 3), dtype=np.uint8)
        Image.fromarray(blocks).resize((512, 512), Image.Resampling.NEAREST).save(root / f"{index}.png")


def make_bundles(job_id: str, plan: AffinityPlan, bundle_requests: int) -> Iterator[Bundle]:
    numbers, bundle_numbers = count(), count()
    asked = [plan.hot] * bool(plan.hot) + [plan.requests] * plan.pictures
    for picture, requests in enumerate(asked):
        for start in range(0, requests, bundle_requests):
            size = min(bundle_requests, requests - start)
            yield Bundle(
                id=f"b{next(bundle_numbers)}",
                job_id=job_id,
                model=ENTRY.id,
                image=f"{picture}.png",
                requests=tuple(make_request(next(numbers), f"{picture}.png") for _ in range(size)),
            )


def make_request(number: int, image: str) -> InferenceRequest:
    return InferenceRequest(
        request_id=f"r{number}",
        sample_id=f"s{number}",
        model=ENTRY.id,
        protocol="S0",
        condition="V2",
        turns=(Turn(parts=(View(image=image), f"Question {number}? A. one B. two")),),
        sampling=Sampling(max_tokens=8, seed=number),
    )


@dataclass(frozen=True)
class AffinityRun:
    """How a plan is played."""

    plan: AffinityPlan
    bundle_requests: int = 64
    workers: int = 1
    defer_seconds: float = 0.0


async def play(run: AffinityRun, speed: float) -> AffinityCounts:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        draw_pictures(home / "data", run.plan.pictures + 1)
        server = start_store(home / "server")
        clients = [connect(server.url) for _ in range(run.workers)]
        fleet = [join(f"w{n}", client, home, speed, run.defer_seconds / speed) for n, client in enumerate(clients)]
        try:
            seconds, idle = await play_jobs(run, clients[0], fleet)
            stats = [await member.engine.stats() for member in fleet]
        finally:
            for client in clients:
                await client.aclose()
            server.stop()
    return AffinityCounts(
        pictures=[len(member.engine.pictures) for member in fleet],
        renders=sum(member.library.stats().renders for member in fleet),
        encoded=sum(of.processed_rasters for of in stats),
        prefilled=sum(of.prompt_tokens - of.cached_prompt_tokens for of in stats),
        seconds=seconds * speed,
        idle=idle / run.workers / seconds,
    )


async def play_jobs(run: AffinityRun, redis: Redis, fleet: Sequence[FleetMember[PacedEngine]]) -> tuple[float, float]:
    """Submit all jobs, let the fleet play them; returns the seconds, and those that its engines had nothing to do."""
    registry, queue, ids = JobRegistry(redis), JobQueue(redis), []
    for _ in range(run.plan.jobs):
        job, _ = await registry.create(JobSpec(dataset="drawn", models=(ENTRY.id,), plan="table1"))
        await queue.enqueue(job.id, list(make_bundles(job.id, run.plan, run.bundle_requests)), None)
        ids.append(job.id)
    async with asyncio.TaskGroup() as group:
        ended, began = asyncio.Event(), time.monotonic()
        for member in fleet:
            member.engine.since = began
            group.create_task(play_until(member, ended))
        for job_id in ids:
            while not (await registry.get(job_id)).status.final:  # noqa: ASYNC110 - the server's
                await asyncio.sleep(0.05)
        now = time.monotonic()
        idle = sum(member.engine.idle + (now - member.engine.since) for member in fleet)
        ended.set()
    return now - began, idle


async def play_until(member: FleetMember[PacedEngine], ended: asyncio.Event) -> None:
    async with member.playing():
        await ended.wait()


COLUMNS = (
    "plan",
    "requests a bundle",
    "workers",
    "affinity",
    "renders",
    "encoder runs",
    "prefilled tokens",
    "pictures of a worker",
    "seconds",
    "idle",
)


def row_of(run: AffinityRun, done: AffinityCounts, once: AffinityCounts) -> list[str]:
    """One row: renders and encoder runs a picture, prefilled tokens beside those of one worker that keeps all."""
    pictures = run.plan.pictures + bool(run.plan.hot)
    per_unique = (done.renders / pictures, done.encoded / pictures, done.prefilled / once.prefilled)
    return [
        run.plan.name,
        str(run.bundle_requests),
        str(run.workers),
        f"{run.defer_seconds:g} s" if run.defer_seconds else "none",
        *(f"{ratio:.2f}" for ratio in per_unique),
        f"{min(done.pictures)} to {max(done.pictures)}",
        f"{done.seconds:.0f}",
        f"{done.idle:.0%}",
    ]


def show(row: Sequence[str]) -> None:
    print(f"| {' | '.join(row)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, nargs="+", default=[4, 16])
    parser.add_argument("--plans", type=int, nargs="+", default=range(len(PLANS)), help="their numbers, from 0")
    parser.add_argument("--bundle-requests", type=int, nargs="+", default=[64], help="most requests of a bundle")
    parser.add_argument("--defer", type=float, nargs="+", default=[0.0, DEFER_SECONDS], help="seconds; 0: no affinity")
    parser.add_argument("--speed", type=float, default=40.0, help="simulated seconds in one, times the workers")
    options = parser.parse_args()
    show(COLUMNS)
    show(["---"] * len(COLUMNS))
    for plan, size in product((PLANS[number] for number in options.plans), options.bundle_requests):
        once = asyncio.run(play(AffinityRun(plan, size), 1000.0))
        for workers, defer in product(options.workers, options.defer):
            run = AffinityRun(plan, size, workers, defer)
            show(row_of(run, asyncio.run(play(run, options.speed / workers)), once))


if __name__ == "__main__":
    main()
