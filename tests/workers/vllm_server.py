"""vLLM's own OpenAI server on a CPU, with the arguments of a worker's engine, at one address through all its lives."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.launcher.preflight import free_port
from gigavqa.workers.engines.vllm.arguments import cpu_environment, engine_arguments, engine_environment
from gigavqa.workers.engines.vllm.compat.torch_companions import repair_torch_companions
from tests.waiting import wait_until


class VllmServer:
    """`vllm serve`, by the module's name: the console script of the CPU's build does not start."""

    def __init__(self, entry: CatalogueEntry, weights: Path, log: Path) -> None:
        self._port = free_port("127.0.0.1")
        self._log = log
        self._arguments = engine_arguments(entry, str(weights), is_cpu=True)
        self._environment = engine_environment(str(weights)) | cpu_environment(small=True)
        self._process: subprocess.Popen[bytes] | None = None
        self.lives = 0

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self._port}/v1"

    def start(self) -> None:
        """Begin another life, and wait until it answers."""
        repair_torch_companions()
        module = [sys.executable, "-m", "vllm.entrypoints.openai.api_server"]
        argv = [*module, "--host", "127.0.0.1", "--port", str(self._port), *_flags(self._arguments)]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                argv, env={**os.environ, **self._environment}, stdout=log, stderr=log, start_new_session=True
            )
        self.lives += 1
        wait_until(self._answers, timeout=240, what=f"vLLM's server ({self._log})")

    def kill(self) -> None:
        """End this life at once, with every process of it."""
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def count(self, series: str) -> float:
        """One of its own counters, over all labels."""
        lines = httpx.get(f"{self.url.removesuffix('/v1')}/metrics").text.splitlines()
        return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith((f"{series} ", f"{series}{{")))

    def _answers(self) -> bool:
        assert self._process is not None and self._process.poll() is None, self._log.read_text(errors="replace")[-3000:]
        try:
            return httpx.get(f"{self.url}/models").is_success
        except httpx.TransportError:
            return False


def _flags(arguments: Mapping[str, Any]) -> Iterator[str]:
    """The engine's arguments as the server's flags."""
    for name, value in arguments.items():
        flag = name.replace("_", "-")
        if value is None or value == {}:
            continue
        if isinstance(value, bool):
            yield f"--{flag}" if value else f"--no-{flag}"
        else:
            yield from (f"--{flag}", json.dumps(value) if isinstance(value, dict) else str(value))


@contextmanager
def vllm_server(entry: CatalogueEntry, weights: Path, folder: Path) -> Iterator[VllmServer]:
    """A server that runs, and does not outlive the block."""
    server = VllmServer(entry, weights, folder / "vllm-serve.log")
    try:
        server.start()
        yield server
    finally:
        server.kill()
