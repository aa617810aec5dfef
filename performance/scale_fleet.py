"""Many workers without an engine against one server: what each call costs, and how long it takes.

Each worker claims, renews, announces itself and records as a real one does, by the same calls and the same scripts, on
connections of its own; they live in a few processes, and offer responses at a rate that is given. Latencies are those
of a call as its worker sees it, so they hold the waiting for a turn of its process as well. `round trip` is what a
client sees that does nothing else: its wait is for the server alone.
"""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import psutil
from redis.asyncio import Redis

from gigavqa.contract.jobs import JobSpec
from gigavqa.contract.leases import Lease
from gigavqa.contract.requests import Bundle, InferenceRequest, Sampling, Turn
from gigavqa.contract.responses import TurnResponse
from gigavqa.runtime.embedded_store import start_store
from gigavqa.store.connection import connect
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.queue import JobQueue
from gigavqa.store.results import ResultStore
from gigavqa.store.worker_registry import WorkerRegistry, WorkerStatus

MODEL = "many"
_BUNDLE = 8
_AHEAD = 16
"""Requests that a worker holds at most. Both are small, so that all kinds of calls come within a minute."""
_LEASE_SECONDS = 30.0
_HEARTBEAT_SECONDS = 3.0
_PING_SECONDS = 0.02
_WARM_UP_SECONDS = 75.0
_PROCESSES = 4
_APPENDED = 20_000
"""Requests of one job."""
ValueT = TypeVar("ValueT")


@dataclass(frozen=True)
class FleetLoad:
    """The load of the fleet: workers, for how long, and how many responses a second they offer together."""

    workers: int
    seconds: float
    rate: float


@dataclass
class FleetMeasurement:
    """Milliseconds of each kind of call, and what the server took."""

    load: FleetLoad
    calls: dict[str, list[float]] = field(default_factory=dict)
    server_share: float = 0.0
    client_share: float = 0.0
    by_command: dict[str, float] = field(default_factory=dict)
    fleet_ms: float = 0.0
    fleet_bytes: int = 0

    def lines(self) -> Iterator[str]:
        """Yield all of it in Markdown."""
        load = self.load
        recorded = len(self.calls.get("record", ()))
        yield (
            f"{load.workers:,} workers in {_PROCESSES} processes, {load.seconds:.0f} s, {load.rate:.0f} responses a "
            f"second offered, {recorded / load.seconds:.0f} recorded, {os.cpu_count()} cores"
        )
        yield ""
        yield "| call | a second | p50 ms | p99 ms | worst ms |"
        yield "|---|---|---|---|---|"
        for name, all_ in sorted(self.calls.items()):
            ms = sorted(all_)
            middle, late = ms[len(ms) // 2], ms[min(len(ms) - 1, int(0.99 * len(ms)))]
            yield f"| {name} | {len(ms) / load.seconds:.1f} | {middle:.1f} | {late:.1f} | {ms[-1]:.1f} |"
        yield f"| list of all workers, once | | {self.fleet_ms:.1f} | | |"
        yield ""
        shares = f"{100 * self.server_share:.0f} % of a core; workers: {100 * self.client_share:.0f} %"
        yield f"Server: {shares}. Its time by command:"
        yield ""
        yield "| command | share of the server's time in commands |"
        yield "|---|---|"
        for name, share in sorted(self.by_command.items(), key=lambda one: -one[1])[:8]:
            yield f"| {name} | {100 * share:.0f} % |"


def measure_fleet(load: FleetLoad) -> FleetMeasurement:
    """Let the fleet work against a server of its own."""
    with tempfile.TemporaryDirectory() as folder:
        server = start_store(Path(folder) / "server")
        try:
            return asyncio.run(_measure(load, server.url, psutil.Process(server.pid)))
        finally:
            server.stop()


async def _measure(load: FleetLoad, url: str, server: psutil.Process) -> FleetMeasurement:
    redis, measured = connect(url), FleetMeasurement(load)
    await _fill(redis, int(load.rate * load.seconds) + _AHEAD * load.workers)
    processes = [_start(load, url, number) for number in range(_PROCESSES)]
    try:
        await _until_all_claimed(redis, load.workers)
        await redis.config_resetstat()
        watched = [server, *(psutil.Process(process.pid) for process in processes)]
        before, began = [*map(_cpu, watched)], time.time()
        measured.calls["round trip"] = await _round_trips(redis, load.seconds)
        took = time.time() - began
        spent = [_cpu(one) - was for one, was in zip(watched, before, strict=True)]
        measured.server_share, measured.client_share = spent[0] / took, sum(spent[1:]) / took
        measured.by_command = _shares(await redis.info("commandstats"))
        looked = time.perf_counter()
        await WorkerRegistry(redis).workers()
        measured.fleet_ms = 1000 * (time.perf_counter() - looked)
        for process in processes:
            process.terminate()
        for process in processes:
            told, _ = await asyncio.to_thread(process.communicate)
            for name, at, ms in json.loads(told):
                if began <= at <= began + took:
                    measured.calls.setdefault(name, []).append(ms)
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
        await redis.aclose()
    return measured


async def _until_all_claimed(redis: Redis, workers: int) -> None:
    """Wait until everybody has all that he may hold, and a little longer; not for ever where workers starve."""
    given_up = time.monotonic() + _WARM_UP_SECONDS
    leased = 0
    while leased < _AHEAD // _BUNDLE * workers and time.monotonic() < given_up:
        await asyncio.sleep(0.5)
        leased = (await JobQueue(redis).depth(MODEL)).leased
    await asyncio.sleep(_HEARTBEAT_SECONDS)


async def _round_trips(redis: Redis, seconds: float) -> list[float]:
    until, found = time.monotonic() + seconds, list[float]()
    while time.monotonic() < until:
        began = time.perf_counter()
        await redis.ping()
        found.append(1000 * (time.perf_counter() - began))
        await asyncio.sleep(_PING_SECONDS)
    return found


def _shares(stats: dict[str, Any]) -> dict[str, float]:
    # What a script calls counts for the script as well, so the scripts stand for all that they call.
    spent = {name.removeprefix("cmdstat_"): float(told["usec"]) for name, told in stats.items()}
    outside = ("evalsha", "xread", "mget", "smembers", "exists", "hget", "hmget", "xrevrange", "set", "sadd", "exec")
    own = {name: usec for name, usec in spent.items() if name in outside}
    return {name: usec / sum(own.values()) for name, usec in own.items()} if own else {}


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


async def _fill(redis: Redis, requests: int) -> None:
    """Queue jobs with as many requests."""
    queue, turn, sampling = JobQueue(redis, limit_requests=10 * requests), Turn(parts=("How many?",)), Sampling(seed=7)
    for first in range(0, requests, _APPENDED):
        job, _ = await JobRegistry(redis).create(JobSpec(dataset="many", models=(MODEL,), plan="direct"))
        bundles = []
        for number in range(first // _BUNDLE, min(requests, first + _APPENDED) // _BUNDLE + 1):
            fields: dict[str, Any] = {"model": MODEL, "protocol": "direct", "condition": "V0", "turns": (turn,)}
            asked = tuple(
                InferenceRequest(request_id=f"q-{number}-{at}", sample_id=f"s-{number}", sampling=sampling, **fields)
                for at in range(_BUNDLE)
            )
            bundles.append(Bundle(id=f"b{number}", job_id=job.id, model=MODEL, image=f"{number}.png", requests=asked))
        await queue.enqueue(job.id, bundles, None)


def _start(load: FleetLoad, url: str, number: int) -> subprocess.Popen[bytes]:
    workers = len(range(number, load.workers, _PROCESSES))
    share = FleetLoad(workers, load.seconds, load.rate * workers / load.workers)
    command = [sys.executable, "-m", "performance.scale_fleet", url, str(number), json.dumps(asdict(share))]
    return subprocess.Popen(command, stdout=subprocess.PIPE)


_Call = tuple[str, float, float]
"""What was called, when it was done, and its milliseconds."""


class _FleetWorker:
    """One worker: it answers at its rate as long as it has leases, and keeps them."""

    def __init__(self, url: str, name: str, rate: float, times: list[_Call]) -> None:
        self._redis = connect(url, max_connections=4)
        self._name = name
        self._rate = rate
        self._times = times
        self._queue, self._results = JobQueue(self._redis, lease_seconds=_LEASE_SECONDS), ResultStore(self._redis)
        self._leases: dict[str, Lease] = {}
        self._open: list[tuple[Lease, InferenceRequest]] = []

    async def run(self, stopping: asyncio.Event) -> None:
        status = WorkerStatus(worker=self._name, models=(MODEL,), loaded=MODEL, state="ready", since=datetime.now(UTC))
        await WorkerRegistry(self._redis).announce(status, 5 * _HEARTBEAT_SECONDS)
        await asyncio.sleep(random.random() * _HEARTBEAT_SECONDS)
        keeping = [
            asyncio.create_task(self._repeat(_HEARTBEAT_SECONDS, lambda: self._announce(status))),
            asyncio.create_task(self._repeat(_LEASE_SECONDS / 3, self._renew)),
        ]
        try:
            while not stopping.is_set():
                await self._claim()
                await self._answer()
        finally:
            for task in keeping:
                task.cancel()
            await asyncio.gather(*keeping, return_exceptions=True)
            await self._redis.aclose()

    async def _repeat(self, seconds: float, work: Any) -> None:
        while True:
            await asyncio.sleep(seconds)
            await work()

    async def _claim(self) -> None:
        if len(self._open) > _AHEAD - _BUNDLE:
            return
        leases = await self._timed("claim", self._queue.claim([MODEL], self._name, 1, 0.0))
        for lease in leases:
            self._leases[lease.entry_id] = lease
            recorded = await self._results.recorded(lease.job_id, [one.id for one in lease.bundle.requests])
            self._open += [(lease, one) for one in lease.bundle.requests if one.id not in recorded]

    async def _answer(self) -> None:
        """Record one response when it is due."""
        await asyncio.sleep(random.expovariate(self._rate))
        if self._open:
            lease, request = self._open.pop(0)
            turn = TurnResponse(text="The answer is A.", finish_reason="stop")
            await self._timed("record", self._results.record(lease.respond(request, turns=(turn,)), lease))
            if not any(held is lease for held, _ in self._open):
                await self._queue.hand_back(self._leases.pop(lease.entry_id))

    async def _renew(self) -> None:
        if self._leases:
            await self._timed("renew", self._queue.renew([*self._leases.values()]))

    async def _announce(self, status: WorkerStatus) -> None:
        await self._timed("heartbeat", WorkerRegistry(self._redis).announce(status, 5 * _HEARTBEAT_SECONDS))

    async def _timed(self, name: str, call: Awaitable[ValueT]) -> ValueT:
        began = time.perf_counter()
        value = await call
        self._times.append((name, time.time(), 1000 * (time.perf_counter() - began)))
        return value


async def _work(url: str, number: int, share: FleetLoad) -> list[_Call]:
    """Let a process's share of the workers work until it is told to end."""
    times: list[_Call] = []
    stopping = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    names = [f"fleet-{number}-{at}" for at in range(share.workers)]
    workers = [_FleetWorker(url, name, share.rate / share.workers, times) for name in names]
    tasks = [asyncio.create_task(worker.run(stopping)) for worker in workers]
    await stopping.wait()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return times


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_work(sys.argv[1], int(sys.argv[2]), FleetLoad(**json.loads(sys.argv[3]))))))
