"""Processes that the tests kill: `python -m tests.store.processes claim|play|sink|delete URL ...`."""

import asyncio
import os
import signal
import sys

from redis.asyncio import Redis

from gigavqa.contract.leases import Lease
from gigavqa.contract.requests import InferenceRequest
from gigavqa.store.connection import connect
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.parquet_parts import PartStore
from gigavqa.store.queue import JobQueue
from gigavqa.store.results import ResultStore
from gigavqa.store.sink import ParquetSink
from tests.store.examples import MODEL, answer

LEASE_SECONDS = 0.5


def die() -> None:
    """End as by a crash: no handler runs."""
    os.kill(os.getpid(), signal.SIGKILL)


async def claim(redis: Redis) -> None:
    """Claim what there is, say so, and hang."""
    queue = JobQueue(redis, lease_seconds=LEASE_SECONDS)
    leases = await queue.claim([MODEL], f"claimer-{os.getpid()}", 100, 5)
    print(len(leases), flush=True)
    await asyncio.sleep(600)


async def play(redis: Redis, job_id: str) -> None:
    """Work like a worker until the job is final; the poison request kills the process."""
    queue, results = JobQueue(redis, lease_seconds=LEASE_SECONDS), ResultStore(redis)
    worker = f"player-{os.getpid()}"
    while not (await JobRegistry(redis).get(job_id)).status.final:
        leases = await queue.claim([MODEL], worker, 4, 0.1) or await queue.claim([MODEL], worker, 1, 0, probation=True)
        for lease in leases:
            await play_bundle(queue, results, lease)


async def play_bundle(queue: JobQueue, results: ResultStore, lease: Lease) -> None:
    """Answer the requests of a bundle that are not recorded yet."""
    recorded = await results.recorded(lease.job_id, [request.id for request in lease.bundle.requests])
    for request in lease.bundle.requests:
        if request.id in recorded:
            continue
        if lease.probation:
            assert await queue.begin_probation(lease, request.id)
        run(request)
        await results.record(answer(lease.job_id, request, worker=lease.worker), lease)


def run(request: InferenceRequest) -> None:
    """Generate nothing; die of poison."""
    if "poison" in request.turns[0].text:
        die()


async def sink(redis: Redis, uri: str, moment: str) -> None:
    """Sink everything, but die `before-write`, `after-write`, `after-mark` or `after-second-write`."""
    drain = DyingSink(redis, uri, moment)
    await drain.run_until_drained()


class DyingParts(PartStore):
    """Parts whose writer dies before or after it has written."""

    def __init__(self, uri: str, moment: str) -> None:
        super().__init__(uri)
        self._moment = moment
        self._written = 0

    def write(self, *part: object) -> str:
        """Write and die, or the other way round."""
        if self._moment == "before-write":
            die()
        seal = super().write(*part)  # type: ignore[arg-type]
        self._written += 1
        if self._moment == {1: "after-write", 2: "after-second-write"}.get(self._written):
            die()
        return seal

    def remove(self, *part: str) -> None:
        """Remove and die, or the other way round."""
        if self._moment == "before-parts":
            die()
        super().remove(*part)
        if self._moment == "after-parts":
            die()


class DyingSink(ParquetSink):
    """A sink that dies at one moment of its first part."""

    def __init__(self, redis: Redis, uri: str, moment: str) -> None:
        super().__init__(redis, uri, rows=4)
        self._parts = DyingParts(uri, moment)
        self._moment = moment

    async def _mark(self, *part: object) -> int:
        moved = await super()._mark(*part)  # type: ignore[arg-type]
        if self._moment == "after-mark":
            die()
        return moved


async def delete(redis: Redis, uri: str, job_id: str, moment: str) -> None:
    """Delete a job, but die `before-parts`, `after-parts`, or `after-a-chunk` of the pointers."""
    registry = JobRegistry(redis, uri)
    registry._parts = DyingParts(uri, moment)
    if moment == "after-a-chunk":

        async def unlink(*keys: str) -> None:
            await redis.delete(*keys)
            die()

        redis.unlink = unlink  # type: ignore[method-assign]
    await registry.delete(job_id)


async def main(role: str, url: str, *arguments: str) -> None:
    """Play one role."""
    redis = connect(url)
    await {"claim": claim, "play": play, "sink": sink, "delete": delete}[role](redis, *arguments)
    await redis.aclose()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
