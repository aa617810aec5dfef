"""An installation in a folder of its own: gateway, server and workers whose engine takes no time, each a process."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import httpx
from PIL import Image

from gigavqa.launcher.preflight import free_port
from gigavqa.runtime.embedded_store import start_store

MODEL = "demo-qwen3-vl"
DATASET = "many"
SAMPLES = 1000
_IMAGES = 100


class BenchInstallation:
    """A gateway, a server and workers in a folder of their own."""

    def __init__(self, home: Path, num_requests: int) -> None:
        self.home = home
        if not (home / "data" / DATASET).exists():
            write_dataset(home / "data" / DATASET)
        self.server = start_store(home / "server")
        self.port = free_port("127.0.0.1")
        self.url = f"http://127.0.0.1:{self.port}"
        self._environment = {
            **os.environ,
            "GIGAVQA_HOME": str(home),
            "REDIS_URL": self.server.url,
            "GIGAVQA_QUEUE_REQUESTS": str(num_requests + SAMPLES),
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
def installed(num_requests: int) -> Iterator[BenchInstallation]:
    """An installation in a temporary folder, for the length of a block."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        installation = BenchInstallation(Path(folder), num_requests)
        stack.callback(installation.stop)
        yield installation


async def until_ready(client: httpx.AsyncClient, workers: int = 0) -> None:
    """Return when the gateway answers and so many workers are ready."""
    while True:
        with suppress(httpx.TransportError):
            told = await client.get("/readyz")
            if told.is_success and told.json()["workers"].get(MODEL, {}).get("ready", 0) >= workers:
                return
        await asyncio.sleep(0.1)


def write_dataset(folder: Path) -> None:
    """Write a thousand questions about a hundred small pictures, ten each."""
    (folder / "samples").mkdir(parents=True)
    (folder / "images").mkdir()
    (folder / "dataset.toml").write_text(f'name = "{folder.name}"\nbenchmark = "questions"\n')
    for number in range(_IMAGES):
        Image.new("RGB", (64, 48), (number, 90, 90)).save(folder / f"images/{number}.png")
    with (folder / "samples/all.jsonl").open("w") as lines:
        for number in range(SAMPLES):
            question = {
                "id": f"q-{number:05d}",
                "category": f"category-{number % 7}",
                "image": f"images/{number % _IMAGES}.png",
                "question": f"Which quadrant holds most people, seen at {number} o'clock?",
                "options": {"A": "upper left", "B": "upper right", "C": "lower left", "D": "lower right"},
                "answer": "ABCD"[number % 4],
            }
            lines.write(json.dumps(question) + "\n")
