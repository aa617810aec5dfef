"""Sends many requests through a gateway, a server and simulated workers: `python -m performance.scale`.

    python -m performance.scale --requests 100000
    python -m performance.scale --requests 1000000
    python -m performance.scale --workers 1000

Everything is a process as in an installation: the gateway with its sink, the embedded server, and workers whose engine
takes no time. Requests show no picture, so that nothing but the service is measured. Meanwhile a process that does
nothing else asks for the job's status ten times a second, and followers watch it. A hundred thousand requests take
about a minute, a million at most twelve. `--workers` instead connects so many workers without an engine to a server
(`performance/scale_fleet.py`).
"""

import argparse
import asyncio
import json
import os
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil

from performance.installation import DATASET, MODEL, SAMPLES, BenchInstallation, installed, until_ready
from performance.scale_fleet import FleetLoad, measure_fleet
from performance.scale_watch import ProcessWatch, StatusProbe

_CELL = {"protocol": "direct", "condition": "V0"}
_LOOK_SECONDS = 0.2
_SAMPLE_SECONDS = 1.0
_PART_ROWS = 512


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
class ScaleMeasurement:
    """The measurements of one run. Sizes in MiB, CPU in microseconds a response."""

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
        """Yield all of it in Markdown."""
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


def measure(num_requests: int, workers: int, followers: int, readers: int) -> ScaleMeasurement:
    """Run a job of so many requests."""
    with installed(num_requests) as installation:
        run = _ScaleRun(installation, ScaleMeasurement(num_requests, workers, followers, readers))
        asyncio.run(run.run())
        return run.measured


class _ScaleRun:
    """One run, as a client sees it."""

    def __init__(self, installation: BenchInstallation, measured: ScaleMeasurement) -> None:
        self._installation = installation
        self.measured = measured
        self._job: dict[str, Any] = {"request_counts": {"completed": 0, "failed": 0}}

    async def run(self) -> None:
        limits = httpx.Limits(max_connections=None)
        async with httpx.AsyncClient(base_url=self._installation.url, timeout=600, limits=limits) as client:
            await until_ready(client)
            self._installation.add_workers(self.measured.workers)
            await until_ready(client, self.measured.workers)  # starting is no part of it
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
            "repeats": self.measured.requests // SAMPLES,
        }
        answer = (await client.post("/v1/jobs", json=spec)).raise_for_status()
        return f"/v1/jobs/{answer.json()['id']}"

    async def _play(self, client: httpx.AsyncClient, path: str) -> None:
        installation, measured = self._installation, self.measured
        pids = {"gateway": [installation.gateway.pid], "server": [installation.server.pid]}
        watch = ProcessWatch(pids | {"workers": [process.pid for process in installation.workers]})
        began = time.monotonic()
        sampling = asyncio.create_task(self._sample(client, watch))
        with StatusProbe(f"{installation.url}{path}") as probe:
            await self._until_completed(client, path)
            measured.seconds = time.monotonic() - began
        measured.status_ms = (statistics.median(probe.milliseconds), _p99(probe.milliseconds))
        sampling.cancel()
        watch.note(_done_of(self._job))
        await self._sunk(client)
        watch.note(_done_of(self._job))
        self._take(watch)

    def _take(self, watch: ProcessWatch) -> None:
        measured, names = self.measured, ("gateway", "server", "workers")
        measured.cpu_us = watch.cpu_us(measured.requests)
        measured.first_mib = watch.settled()[0][1]
        measured.peak_mib = {name: max(sizes[name] for _, sizes in watch.points) for name in names}
        measured.slope_mib = {name: watch.slope(name) for name in names}

    async def _sample(self, client: httpx.AsyncClient, watch: ProcessWatch) -> None:
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

    async def _until_completed(self, client: httpx.AsyncClient, path: str) -> None:
        while True:
            self._job = (await client.get(path)).raise_for_status().json()
            if self._job["status"] in ("failed", "cancelled"):
                raise RuntimeError(f"the job ended as {self._job['status']}: {self._job['errors']}")
            if self._job["status"] == "completed":
                return
            await asyncio.sleep(_LOOK_SECONDS)

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


def _p99(values: Sequence[float]) -> float:
    return statistics.quantiles(values, n=100)[98]


def _done_of(job: Mapping[str, Any]) -> int:
    return int(job["request_counts"]["completed"]) + int(job["request_counts"]["failed"])


if __name__ == "__main__":
    main()
