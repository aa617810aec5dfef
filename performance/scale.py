"""Sends many requests through a gateway, a server and simulated workers: `python -m performance.scale`.

    python -m performance.scale --requests 100000
    python -m performance.scale --requests 1000000
    python -m performance.scale --fleet 1000

Everything is a process as in an installation: the gateway with its sink, the embedded server, and workers whose engine
takes no time. Requests show no picture, so that nothing but the service is measured. Meanwhile the job is asked for its
status ten times a second, and followers watch it. A hundred thousand requests take about a minute, a million at most
twelve. `--workers` instead connects so many workers without an engine to a server (`performance/scale_fleet.py`).
"""

import argparse
import asyncio
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil
from PIL import Image

from jobs.server import start_server
from performance.scale_fleet import FleetLoad, measure_fleet

MODEL = "demo-qwen3-vl"
DATASET = "many"
_SAMPLES = 1000
_IMAGES = 100
_CELL = {"protocol": "direct", "condition": "V0"}
_STATUS_SECONDS = 0.1
_SAMPLE_SECONDS = 1.0
_PART_ROWS = 512
_SETTLED = 0.1
"""Share of the run that passes before memory counts: processes load what they need once."""


def main() -> None:
    """Run, and print tables in Markdown."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--requests", type=int, default=100_000, help="a multiple of 1,000")
    arguments.add_argument("--processes", type=int, default=4, help="workers with a simulated engine")
    arguments.add_argument("--followers", type=int, default=50, help="event streams of the job that are open meanwhile")
    arguments.add_argument("--readers", type=int, default=1, help="streams of its responses that are open meanwhile")
    arguments.add_argument("--json", type=Path, help="a file for all that was measured")
    arguments.add_argument("--workers", type=int, help="so many workers without an engine instead")
    arguments.add_argument("--seconds", type=float, default=60.0, help="how long these work")
    arguments.add_argument("--rate", type=float, default=600.0, help="responses that all of these record a second")
    chosen = arguments.parse_args()
    if chosen.workers:
        load = FleetLoad(workers=chosen.workers, seconds=chosen.seconds, rate=chosen.rate)
        print("\n".join(measure_fleet(load).lines()))
        return
    measured = measure(chosen.requests, chosen.processes, chosen.followers, chosen.readers)
    print("\n".join(measured.lines()))
    if chosen.json:
        chosen.json.write_text(json.dumps(measured.__dict__, indent=1))


@dataclass
class Measured:
    """What one run brought. Sizes in MiB, CPU in microseconds a response."""

    requests: int
    workers: int
    followers: int
    readers: int
    seconds: float = 0.0
    cpu_us: dict[str, float] = field(default_factory=dict)
    first_mib: dict[str, float] = field(default_factory=dict)
    peak_mib: dict[str, float] = field(default_factory=dict)
    slope_mib: dict[str, float] = field(default_factory=dict)
    server_bytes: float = 0.0
    status_ms: tuple[float, float] = (0.0, 0.0)
    metrics_ms: float = 0.0
    metrics_bytes: int = 0
    events: int = 0
    lines_read: int = 0
    sunk_seconds: float = 0.0
    reports: list[tuple[str, float, float]] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """All of it in Markdown."""
        yield (
            f"{self.requests:,} responses, {self.workers} workers, {self.followers} followers of events, "
            f"{self.readers} of responses, {os.cpu_count()} cores"
        )
        yield ""
        yield "| what | measured |"
        yield "|---|---|"
        yield f"| responses a second | {self.requests / self.seconds:,.0f} ({self.seconds:.0f} s) |"
        yield f"| job status, p50 and p99 | {self.status_ms[0]:.1f} and {self.status_ms[1]:.1f} ms |"
        yield f"| `/metrics` | {self.metrics_ms:.1f} ms, {self.metrics_bytes:,} bytes |"
        yield f"| events and lines sent to followers | {self.events:,} and {self.lines_read:,} |"
        yield f"| server's memory a response, text sunk | {self.server_bytes:.0f} bytes |"
        yield f"| all texts sunk, after the last response | {self.sunk_seconds:.0f} s |"
        for name, seconds, peak in self.reports:
            yield f"| {name} | {seconds:.1f} s, gateway's peak {peak:.0f} MiB |"
        yield ""
        yield "| process | CPU us a response | MiB at 10 % | peak MiB | slope, MiB a million |"
        yield "|---|---|---|---|---|"
        for name, spent in self.cpu_us.items():
            kept = f"{self.first_mib[name]:.0f} | {self.peak_mib[name]:.0f} | {self.slope_mib[name]:+.0f}"
            yield f"| {name} | {spent:.0f} | {kept} |"
        yield f"| all | {sum(self.cpu_us.values()):.0f} | | | |"


class Watch:
    """CPU and memory of some processes over a run."""

    def __init__(self, pids: Mapping[str, Sequence[int]]) -> None:
        self._processes = {name: [psutil.Process(pid) for pid in each] for name, each in pids.items()}
        self._began = self._cpu()
        self.points: list[tuple[int, dict[str, float]]] = []

    def note(self, done: int) -> None:
        """Note the memory of each when so many responses are recorded."""
        self.points.append((done, self.mib()))

    def mib(self) -> dict[str, float]:
        """Resident memory of now; of several processes under one name, the mean."""
        return {
            name: statistics.mean(each.memory_info().rss for each in processes) / 2**20
            for name, processes in self._processes.items()
        }

    def cpu_us(self, responses: int) -> dict[str, float]:
        """CPU since the beginning, a response."""
        return {name: (now - self._began[name]) / responses * 1e6 for name, now in self._cpu().items()}

    def _cpu(self) -> dict[str, float]:
        def of(process: psutil.Process) -> float:
            times = process.cpu_times()
            return float(times.user + times.system)

        return {name: sum(map(of, each)) for name, each in self._processes.items()}

    def slope(self, name: str) -> float:
        """MiB a million responses, by least squares over what follows the beginning."""
        points = self.settled()
        done, mib = [at for at, _ in points], [sizes[name] for _, sizes in points]
        if len(set(done)) < 2:
            return 0.0
        return statistics.linear_regression(done, mib).slope * 1e6

    def settled(self) -> list[tuple[int, dict[str, float]]]:
        """The points after the beginning."""
        last = self.points[-1][0]
        return [point for point in self.points if point[0] >= _SETTLED * last] or self.points


class Installation:
    """A gateway, a server and workers in a folder of their own."""

    def __init__(self, home: Path, num_requests: int) -> None:
        self.home = home
        write_dataset(home / "data" / DATASET)
        self.server = start_server(home / "server")
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._environment = {
            **os.environ,
            "GIGAVQA_HOME": str(home),
            "REDIS_URL": self.server.url,
            "GIGAVQA_QUEUE_REQUESTS": str(num_requests + _SAMPLES),
        }
        self.gateway = self._start("gateway", "service", "--port", str(self.port))
        self.workers: list[subprocess.Popen[bytes]] = []

    def add_workers(self, number: int) -> None:
        """Start workers with an engine that takes no time."""
        for at in range(number):
            arguments = ("--model", MODEL, "--engine", "simulated", "--speed", "0", "--max-requests", "64")
            self.workers.append(self._start(f"worker-{at}", "workers", *arguments))

    def stop(self) -> None:
        """End all of it."""
        processes = [*self.workers, self.gateway]
        for process in processes:
            process.send_signal(signal.SIGTERM)
        for process in processes:
            process.wait(60)
        self.server.stop()

    def _start(self, name: str, module: str, *arguments: str) -> subprocess.Popen[bytes]:
        with (self.home / f"{name}.log").open("wb") as log:
            command = [sys.executable, "-m", module, *arguments]
            return subprocess.Popen(command, env=self._environment, stderr=log, stdout=log)


@contextmanager
def installed(num_requests: int) -> Iterator[Installation]:
    """An installation in a temporary folder, for the length of a block."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        installation = Installation(Path(folder), num_requests)
        stack.callback(installation.stop)
        yield installation


def measure(num_requests: int, workers: int, followers: int, readers: int) -> Measured:
    """Run a job of so many requests."""
    with installed(num_requests) as installation:
        run = _Run(installation, Measured(num_requests, workers, followers, readers))
        asyncio.run(run.run())
        return run.measured


class _Run:
    """One run, as a client sees it."""

    def __init__(self, installation: Installation, measured: Measured) -> None:
        self._installation = installation
        self.measured = measured
        self._status: list[float] = []
        self._job: dict[str, Any] = {"request_counts": {"completed": 0, "failed": 0}}

    async def run(self) -> None:
        limits = httpx.Limits(max_connections=None)
        async with httpx.AsyncClient(base_url=self._installation.url, timeout=600, limits=limits) as client:
            await _until_ready(client)
            self._installation.add_workers(self.measured.workers)
            await _until_ready(client, self.measured.workers)  # starting is no part of it
            path = await self._submit(client)
            tasks = [asyncio.create_task(self._follow(client, path)) for _ in range(self.measured.followers)]
            tasks += [asyncio.create_task(self._read(client, path)) for _ in range(self.measured.readers)]
            try:
                await self._play(client, path)
                await self._report(client, path)
                await asyncio.gather(*tasks)
            finally:
                for task in tasks:
                    task.cancel()

    async def _submit(self, client: httpx.AsyncClient) -> str:
        spec = {
            "dataset": DATASET,
            "models": [MODEL],
            "cells": [_CELL],
            "sampling": {"max_tokens": 16},
            "repeats": self.measured.requests // _SAMPLES,
        }
        answer = (await client.post("/v1/jobs", json=spec)).raise_for_status()
        return f"/v1/jobs/{answer.json()['id']}"

    async def _play(self, client: httpx.AsyncClient, path: str) -> None:
        installation, measured = self._installation, self.measured
        pids = {"gateway": [installation.gateway.pid], "server": [installation.server.pid]}
        watch = Watch(pids | {"workers": [process.pid for process in installation.workers]})
        began = time.monotonic()
        sampling = asyncio.create_task(self._sample(client, watch))
        await self._until(client, path, lambda job: job["status"] == "completed")
        measured.seconds = time.monotonic() - began
        sampling.cancel()
        watch.note(_done_of(self._job))
        await self._sunk(client)
        watch.note(_done_of(self._job))
        self._take(watch)

    def _take(self, watch: Watch) -> None:
        measured, names = self.measured, ("gateway", "server", "workers")
        measured.cpu_us = watch.cpu_us(measured.requests)
        measured.first_mib = watch.settled()[0][1]
        measured.peak_mib = {name: max(sizes[name] for _, sizes in watch.points) for name in names}
        measured.slope_mib = {name: watch.slope(name) for name in names}
        measured.status_ms = (statistics.median(self._status), statistics.quantiles(self._status, n=100)[98])

    async def _sample(self, client: httpx.AsyncClient, watch: Watch) -> None:
        slowest = 0.0
        while True:
            watch.note(_done_of(self._job))
            began = time.perf_counter()
            page = (await client.get("/metrics")).raise_for_status()
            slowest = max(slowest, 1000 * (time.perf_counter() - began))
            self.measured.metrics_ms, self.measured.metrics_bytes = slowest, len(page.content)
            await asyncio.sleep(_SAMPLE_SECONDS)

    async def _sunk(self, client: httpx.AsyncClient) -> None:
        """Wait until the sink has moved all texts but those that wait for their part to fill."""
        from redis.asyncio import Redis  # noqa: PLC0415 - beside the client that is measured

        began = time.monotonic()
        async with Redis.from_url(self._installation.server.url) as redis:
            # A part that is not full waits for a minute.
            while await redis.xlen("gigavqa:unsunk") > _PART_ROWS:  # noqa: ASYNC110 - another process fills it
                await asyncio.sleep(0.2)
            self.measured.server_bytes = int((await redis.info("memory"))["used_memory"]) / self.measured.requests
        self.measured.sunk_seconds = time.monotonic() - began

    async def _until(self, client: httpx.AsyncClient, path: str, reached: Any) -> None:
        while True:
            began = time.perf_counter()
            self._job = (await client.get(path)).raise_for_status().json()
            self._status.append(1000 * (time.perf_counter() - began))
            if self._job["status"] in ("failed", "cancelled"):
                raise RuntimeError(f"the job ended as {self._job['status']}: {self._job['errors']}")
            if reached(self._job):
                return
            await asyncio.sleep(_STATUS_SECONDS)

    async def _report(self, client: httpx.AsyncClient, path: str) -> None:
        for name in ("first report", "report of the page's tables again"):
            took, peak = await self._timed(client, f"{path}/report?format={'json' if name == 'first report' else 'md'}")
            self.measured.reports.append((name, took, peak))

    async def _timed(self, client: httpx.AsyncClient, path: str) -> tuple[float, float]:
        process, began = psutil.Process(self._installation.gateway.pid), time.monotonic()
        asked = asyncio.create_task(client.get(path))
        peak = 0.0
        while not asked.done():
            peak = max(peak, process.memory_info().rss / 2**20)
            await asyncio.wait([asked], timeout=0.05)
        asked.result().raise_for_status()
        return time.monotonic() - began, peak

    async def _follow(self, client: httpx.AsyncClient, path: str) -> None:
        async with client.stream("GET", f"{path}/events") as stream:
            async for line in stream.aiter_lines():
                self.measured.events += line.startswith("data")

    async def _read(self, client: httpx.AsyncClient, path: str) -> None:
        async with client.stream("GET", f"{path}/results?follow=true") as stream:
            async for chunk in stream.aiter_raw():
                self.measured.lines_read += chunk.count(b"\n")


async def _until_ready(client: httpx.AsyncClient, workers: int = 0) -> None:
    while True:
        with suppress(httpx.TransportError):
            told = await client.get("/readyz")
            if told.is_success and told.json()["workers"].get(MODEL, {}).get("ready", 0) >= workers:
                return
        await asyncio.sleep(0.1)


def _done_of(job: Mapping[str, Any]) -> int:
    return int(job["request_counts"]["completed"]) + int(job["request_counts"]["failed"])


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def write_dataset(folder: Path) -> None:
    """Write a thousand questions about a hundred small pictures, ten each."""
    (folder / "samples").mkdir(parents=True)
    (folder / "images").mkdir()
    (folder / "dataset.toml").write_text(f'name = "{folder.name}"\nbenchmark = "questions"\n')
    for number in range(_IMAGES):
        Image.new("RGB", (64, 48), (number, 90, 90)).save(folder / f"images/{number}.png")
    with (folder / "samples/all.jsonl").open("w") as lines:
        for number in range(_SAMPLES):
            question = {
                "id": f"q-{number:05d}",
                "category": f"category-{number % 7}",
                "image": f"images/{number % _IMAGES}.png",
                "question": f"Which quadrant holds most people, seen at {number} o'clock?",
                "options": {"A": "upper left", "B": "upper right", "C": "lower left", "D": "lower right"},
                "answer": "ABCD"[number % 4],
            }
            lines.write(json.dumps(question) + "\n")


if __name__ == "__main__":
    main()
