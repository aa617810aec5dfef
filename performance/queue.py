"""Rates and costs of the queue and of the result store, on a real server: `python -m performance.queue`.

CPU times are of this process and of the server, so that they hold on a busy machine too; wall-clock rates do not.
"""

import argparse
import asyncio
import json
import random
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil
from redis.asyncio import Redis

from jobs.connection import connect
from jobs.embedded_store import start_store
from jobs.leases import Lease
from jobs.models import Bundle, InferenceRequest, JobSpec, Response, Sampling, Turn, TurnResponse
from jobs.queue import GROUP, JobQueue
from jobs.redis_keys import KEYS
from jobs.registry import JobRegistry
from jobs.results import ResultStore
from jobs.sink import ParquetSink
from jobs.worker_registry import WorkerRegistry, WorkerStatus
from tiling.views import View

MODEL = "bench"
FLEET = 16
WORDS = [
    f"{a}{b}{c}" for a in "bcdfgkmnprst" for b in ("a", "e", "i", "o", "ou") for c in ("", "n", "ring", "sel", "t")
]


class CostMeter:
    """Wall-clock and CPU seconds of blocks, of this process and of the server."""

    def __init__(self, server_pid: int) -> None:
        self._processes = {"client": psutil.Process(), "server": psutil.Process(server_pid)}
        self.rows: dict[str, dict[str, float]] = {}

    @contextmanager
    def of(self, name: str, items: int) -> Iterator[None]:
        before, start = self._cpu(), time.perf_counter()
        yield
        wall = time.perf_counter() - start
        row = {f"{who}_cpu_us": round((now - before[who]) / items * 1e6, 1) for who, now in self._cpu().items()}
        self.rows[name] = {"items": items, "per_second": round(items / wall), **row}

    def _cpu(self) -> dict[str, float]:
        times = {who: process.cpu_times() for who, process in self._processes.items()}
        return {who: spent.user + spent.system for who, spent in times.items()}


def make_bundles(job_id: str, number: int, each: int) -> list[Bundle]:
    question = "How many people stand in the upper left quadrant? " * 4
    fields: dict[str, Any] = {"model": MODEL, "protocol": "S0", "condition": "V2", "sampling": Sampling(seed=7)}

    def make_bundle(n: int) -> Bundle:
        image = f"bench/images/{n}.png"
        turns = (Turn(parts=(View(image=image), question)),)
        requests = tuple(
            InferenceRequest(request_id=f"{n:012x}{at:04x}", sample_id=f"sample-{n}", turns=turns, **fields)
            for at in range(each)
        )
        return Bundle(id=f"b{n:015x}", job_id=job_id, model=MODEL, image=image, requests=requests)

    return [make_bundle(n) for n in range(number)]


def make_responses(lease: Lease, text: str) -> list[Response]:
    turns = (TurnResponse(text=text, finish_reason="stop"),)
    return [lease.respond(request, turns=turns) for request in lease.bundle.requests]


async def measure(num_bundles: int, num_responses: int, characters: int, each: int) -> dict[str, Any]:
    draw = random.Random(7)
    texts = [" ".join(draw.choices(WORDS, k=characters // 5))[:characters] for _ in range(64)]
    with tempfile.TemporaryDirectory() as folder:
        server = start_store(Path(folder) / "server")
        redis = connect(server.url)
        meter, queue, results = CostMeter(server.pid), JobQueue(redis), ResultStore(redis)
        job, _ = await JobRegistry(redis).create(JobSpec(dataset="bench", models=(MODEL,), plan="table1"))
        bundles = make_bundles(job.id, num_bundles, each)
        with meter.of("enqueue", num_bundles * each):
            await queue.enqueue(job.id, bundles, None)
        leases: list[Lease] = []
        claimed = num_responses // each
        with meter.of("claim", claimed):
            while len(leases) < claimed:
                leases += await queue.claim([MODEL], "bench", min(16, claimed - len(leases)), 1)
        responses = [make_responses(lease, texts[n % 64]) for n, lease in enumerate(leases)]
        with meter.of("renew", claimed):
            await queue.renew(leases)
        with meter.of("ask what is recorded", num_responses):
            for lease in leases:
                await results.recorded(job.id, [request.id for request in lease.bundle.requests])
        with meter.of("record", num_responses):
            await record_all(results, leases, responses)
        hot = await bytes_of(redis, job.id, [one for those in responses for one in those])
        with meter.of("read", num_responses):
            await read_all(results, job.id)
        with meter.of("sink", num_responses):
            await ParquetSink(redis, f"{folder}/results").run_until_drained()
        sunk = await bytes_of(redis, job.id, [one for those in responses for one in those])
        parquet = size_of_parts(Path(folder))
        await measure_fleet(redis, meter)
        for defer_seconds in (0.0, 3.0):
            await redis.flushall()
            await measure_claims(redis, meter, num_responses, defer_seconds)
        await redis.aclose()
        server.stop()
    sizes = {"server_hot": hot, "server_after_sink": sunk, "parquet": parquet}
    per_response = {name: round(size / num_responses) for name, size in sizes.items()}
    return {"rates": meter.rows, "bytes_per_response": {"text": characters, **per_response}}


async def measure_fleet(redis: Redis, meter: CostMeter) -> None:
    """What many workers cost that have nothing to do but to be there, a thousand of them."""
    fleet, idle = WorkerRegistry(redis), JobQueue(redis)
    now = datetime.now(UTC)
    statuses = [WorkerStatus(worker=f"w-{n}", models=("idle",), state="ready", since=now) for n in range(1000)]
    with meter.of("announce a worker", len(statuses)):
        for status in statuses:
            await fleet.announce(status, 60)
    with meter.of("list workers, each", 20 * len(statuses)):
        for _ in range(20):
            await fleet.workers()
    with meter.of("look for bundles in vain", len(statuses)):
        for status in statuses:
            await idle.claim(["idle"], status.worker, 1, 0)


async def measure_claims(redis: Redis, meter: CostMeter, number: int, defer_seconds: float) -> None:
    """Let a fleet claim the second of two jobs over the same pictures, with and without looking for their owners."""
    queue = JobQueue(redis, defer_seconds=defer_seconds)
    for round_name in ("first", "second"):
        job, _ = await JobRegistry(redis).create(JobSpec(dataset="bench", models=(MODEL,), plan="table1"))
        await queue.enqueue(job.id, make_bundles(job.id, number, 1), None)
        with meter.of(f"claim by {FLEET} workers, {round_name} job, affinity {defer_seconds:g} s", number):
            claimed = 0
            while claimed < number:
                for worker in range(FLEET):
                    leases = await queue.claim([MODEL], f"w{worker}", 4, 0, room=512)
                    if leases:
                        await redis.xack(leases[0].stream, GROUP, *(lease.entry_id for lease in leases))
                    claimed += len(leases)


async def bytes_of(redis: Redis, job_id: str, responses: list[Response]) -> int:
    """Memory of everything that the server holds of these responses."""
    shared = [KEYS.results(job_id), KEYS.texts(job_id), KEYS.unsunk()]
    own = [KEYS.response(job_id, response.request_id) for response in responses]
    async with redis.pipeline(transaction=False) as pipeline:
        for key in (*shared, *own):
            pipeline.memory_usage(key, samples=0)
        return sum(size or 0 for size in await pipeline.execute())


def size_of_parts(folder: Path) -> int:
    return sum(part.stat().st_size for part in folder.rglob("*.parquet"))


async def record_all(results: ResultStore, leases: list[Lease], responses: list[list[Response]]) -> None:
    """Record the responses of a bundle together; where it has one, sixteen workers record one after the other."""
    pairs = iter(zip(responses, leases, strict=True))

    async def record_some() -> None:
        for those, lease in pairs:
            assert all(await asyncio.gather(*(results.record(response, lease) for response in those)))

    if all(len(those) == 1 for those in responses):
        await asyncio.gather(*(record_some() for _ in range(16)))
    else:
        await record_some()


async def read_all(results: ResultStore, job_id: str) -> None:
    after = "0-0"
    while page := await results.read(job_id, after):
        after = page[-1][0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bundles", type=int, default=100_000, help="bundles to enqueue")
    parser.add_argument("--responses", type=int, default=20_000, help="of these, how many to claim and record")
    parser.add_argument("--characters", type=int, default=7550, help="characters of a response's text")
    parser.add_argument("--each", type=int, default=1, help="requests of a bundle, recorded together")
    options = parser.parse_args()
    figures = asyncio.run(measure(options.bundles, options.responses, options.characters, options.each))
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
