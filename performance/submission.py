"""What a job costs the gateway that takes it: `python -m performance.submission --requests 1000000`.

A real gateway process over a real server takes one job while nobody plays it. Told are the peak of its resident memory
above what it had before, its CPU time, and the server's memory, which keeps the queued bundles.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
import psutil
from PIL import Image
from redis import Redis

from cli.preflight import free_port
from jobs.embedded_store import start_store

SAMPLES = 1000
CELLS = [{"protocol": "S0", "condition": condition} for condition in ("V0", "V1", "V2", "V3", "V4")]
MODEL = "demo-qwen3-vl"


def write_dataset(folder: Path) -> None:
    (folder / "samples").mkdir(parents=True)
    (folder / "images").mkdir()
    (folder / "dataset.toml").write_text(f'name = "{folder.name}"\nbenchmark = "ultravr"\n')
    for number in range(100):
        Image.new("RGB", (640, 480), (number, 90, 90)).save(folder / f"images/{number}.png")
    with (folder / "samples/cctv.jsonl").open("w") as lines:
        for number in range(SAMPLES):
            sample = {
                "id": f"cctv-{number:05d}",
                "domain": "cctv",
                "category": "comparison",
                "image": f"images/{number % 100}.png",
                "question": "Which quadrant of the plaza holds more people who carry something than the others?",
                "options": {"A": "upper left", "B": "upper right", "C": "lower left", "D": "lower right"},
                "answer": "ABCD"[number % 4],
                "evidence": {"quadrants": ["upper-left", "lower-right"]},
            }
            lines.write(json.dumps(sample) + "\n")


def measure(num_requests: int, waiting: bool) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as home:
        write_dataset(Path(home) / "data" / "plaza")
        server = start_store(Path(home) / "server")
        port = free_port("127.0.0.1")
        environment = {
            "GIGAVQA_HOME": home,
            "REDIS_URL": server.url,
            "GIGAVQA_QUEUE_REQUESTS": str(num_requests + len(CELLS)),
        }
        gateway = subprocess.Popen(
            [sys.executable, "-m", "service", "--port", str(port)],
            env={**os.environ, **environment},
            stderr=subprocess.DEVNULL,
        )
        try:
            return _take(f"http://127.0.0.1:{port}", psutil.Process(gateway.pid), server.url, num_requests, waiting)
        finally:
            gateway.terminate()
            gateway.wait()
            server.stop()


def _take(url: str, process: psutil.Process, redis_url: str, num_requests: int, waiting: bool) -> dict[str, Any]:
    with httpx.Client(base_url=url, timeout=60) as client, Redis.from_url(redis_url) as redis:
        while not _ready(client):
            time.sleep(0.1)
        spec = {"dataset": "plaza", "models": [MODEL], "cells": CELLS, "sampling": {"max_tokens": 64}}
        client.post("/v1/jobs", json={**spec, "samples": ["cctv-00000"]}).raise_for_status()  # everything is loaded
        if waiting:
            redis.set("gigavqa:outstanding", num_requests)  # the queue is full
        before, busy, redis_before = process.memory_info().rss, _cpu(process), _memory(redis)
        repeats = num_requests // (SAMPLES * len(CELLS))
        job = client.post("/v1/jobs", json={**spec, "repeats": repeats}).raise_for_status().json()
        peak, started = before, time.monotonic()
        while client.get(f"/v1/jobs/{job['id']}").json()["status"] == "validating":
            peak = max(peak, process.memory_info().rss)
            if waiting and time.monotonic() - started > 30:
                break
            time.sleep(0.05)
        return {
            "requests": num_requests,
            "waiting": waiting,
            "gateway_mib_before": round(before / 2**20),
            "gateway_mib_peak": round(peak / 2**20),
            "bytes_per_request": round((peak - before) / num_requests, 1),
            "seconds": round(time.monotonic() - started, 1),
            "cpu_us_per_request": round((_cpu(process) - busy) / num_requests * 1e6, 1),
            "server_bytes_per_request": round((_memory(redis) - redis_before) / num_requests, 1),
        }


def _ready(client: httpx.Client) -> bool:
    try:
        return client.get("/readyz").is_success
    except httpx.TransportError:
        return False


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _memory(redis: Redis) -> int:
    return int(redis.info("memory")["used_memory"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--waiting", action="store_true", help="the queue is full, so the job waits")
    arguments = parser.parse_args()
    for number in arguments.requests:
        print(json.dumps(measure(number, arguments.waiting)))
