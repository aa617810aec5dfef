"""An installation of its own to be loaded and hurt: server, gateway, sink and workers whose engine is simulated."""

import asyncio
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
import redis

from gigavqa.launcher.preflight import free_port
from gigavqa.runtime.embedded_store import StateStoreProcess, start_store
from gigavqa.store.api_keys import ApiKeys, Limits
from gigavqa.store.connection import connect
from loadtests.processes import Process
from performance.installation import DATASET, MODEL, SAMPLES, write_dataset

PATIENCE_SECONDS = 900.0
"""How long a single thing may take on a machine that has other work."""
_LOOK_SECONDS = 0.05


class Installation:
    """Starts processes below one folder and ends every one of them.

    `environment` holds for the gateway, the sink and the workers, `server_environment` for the server alone, whose data
    is in `server_folder`. `small_parts` makes bundles and Parquet parts small, by a sink beside the gateway's own. With
    `owners` keys are asked for; each has one, of which the first shows what is asked here.
    """

    def __init__(
        self,
        home: Path,
        *,
        environment: Mapping[str, str] | None = None,
        server_environment: Mapping[str, str] | None = None,
        server_folder: Path | None = None,
        small_parts: bool = True,
        owners: Mapping[str, Limits] | None = None,
    ) -> None:
        self.home = home
        self.results = home / "results"
        write_dataset(home / "data" / DATASET)
        self.server_folder = server_folder or home / "server"
        self._server_environment = dict(server_environment or {})
        self.server = self._started_server()
        self.url = f"http://127.0.0.1:{(port := free_port('127.0.0.1'))}"
        self._environment = {
            "GIGAVQA_HOME": str(home),
            "REDIS_URL": self.server.url,
            **({"GIGAVQA_BUNDLE_REQUESTS": "10"} if small_parts else {}),
            **({"GIGAVQA_REQUIRE_KEYS": "1"} if owners else {}),
            **(environment or {}),
        }
        self.keys = asyncio.run(self._made_keys(owners or {}))
        self._headers = {"Authorization": f"Bearer {self.keys[0]}"} if self.keys else {}
        self.gateway = self._process("gateway", "service", "--port", str(port))
        self.sink = self._process("sink", "loadtests.sink", self.server.url, str(self.results))
        self._small_parts = small_parts
        self.workers: list[Process] = []

    @property
    def processes(self) -> list[Process]:
        """All but the server."""
        return [self.gateway, self.sink, *self.workers]

    def start(self, workers: int, *arguments: str) -> None:
        """Start everything, and wait until the gateway knows that the workers are ready."""
        self.gateway.start()
        if self._small_parts:
            self.sink.start()
        for _ in range(workers):
            self.add_worker("--model", MODEL, "--engine", "simulated", *arguments)
        self.until(lambda: self.ready_workers() >= workers, "the workers' announcements")
        self.until(lambda: self.ask(f"/v1/datasets/{DATASET}", 60), "the data set, which is read once")

    def add_worker(self, *arguments: str) -> None:
        """Start one more worker."""
        self.workers.append(self._process(f"worker-{len(self.workers)}", "workers", *arguments))
        self.workers[-1].start()

    def ready_workers(self) -> int:
        """Return how many workers the gateway says are ready; none while it does not answer."""
        told = self.ask("/readyz")
        return int(told["workers"].get(MODEL, {}).get("ready", 0)) if told else 0

    def ask(self, path: str, seconds: float = 5.0) -> Any:
        """Return what the gateway answers, or nothing while it does not."""
        with suppress(httpx.HTTPError):
            return httpx.get(f"{self.url}{path}", timeout=seconds, headers=self._headers).raise_for_status().json()

    def submit(self, num_requests: int) -> str:
        """Submit a job of so many requests, a multiple of `SAMPLES` or a part of it."""
        sample_ids = [f"q-{number:05d}" for number in range(min(num_requests, SAMPLES))]
        spec = {
            "dataset": DATASET,
            "models": [MODEL],
            "cells": [{"protocol": "direct", "condition": "V2"}],
            "repeats": max(1, num_requests // SAMPLES),
            "samples": sample_ids,
            "seed": 7,
        }
        return self.submit_spec(spec)

    def submit_spec(self, spec: Mapping[str, Any]) -> str:
        """Submit a job; asked again until it is taken."""
        named = {"Idempotency-Key": f"job-{time.monotonic_ns()}", **self._headers}
        told: list[httpx.Response] = []

        def taken() -> bool:
            with suppress(httpx.TransportError):
                told[:] = [httpx.post(f"{self.url}/v1/jobs", json=dict(spec), headers=named, timeout=60)]
                if told[0].is_client_error:
                    raise RuntimeError(told[0].text)
            return bool(told) and told[0].is_success

        self.until(taken, "the submission")
        return str(told[0].json()["id"])

    def restart_server(self) -> None:
        """Start the server again on what the one that died has left."""
        self.server.stop()
        self.server = self._started_server()

    def kill_server(self) -> None:
        """End the server as a crash does."""
        os.kill(self.server.pid, signal.SIGKILL)
        self.server.stop()

    def client(self) -> "redis.Redis":
        """Return a client of the server that does not wait long."""
        return redis.Redis.from_url(self.server.url, socket_timeout=5)

    def until(self, condition: Callable[[], object], what: str, seconds: float = PATIENCE_SECONDS) -> None:
        """Look at `condition` until it holds. Raises TimeoutError."""
        given_up = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > given_up:
                raise TimeoutError(f"{what} did not come within {seconds:g} s")
            time.sleep(_LOOK_SECONDS)

    def stop(self) -> None:
        """End everything, workers first."""
        for process in reversed(self.processes):
            process.stop()
        with suppress(ProcessLookupError):
            os.kill(self.server.pid, signal.SIGCONT)
        self.server.stop()

    async def _made_keys(self, owners: Mapping[str, Limits]) -> list[str]:
        client = connect(self.server.url)
        made = [await ApiKeys(client).create(owner, owner, "submit", limits=owners[owner]) for owner in owners]
        await client.aclose()
        return [key for key, _ in made]

    def _process(self, name: str, *arguments: str) -> Process:
        return Process(name, arguments, self._environment, self.home)

    def _started_server(self) -> StateStoreProcess:
        before = dict(os.environ)
        os.environ.update(self._server_environment)
        try:
            return start_store(self.server_folder)
        finally:
            os.environ.clear()
            os.environ.update(before)


@contextmanager
def running_installation(
    workers: int, *arguments: str, folder: Path | None = None, **options: Any
) -> Iterator[Installation]:
    """An installation in a temporary folder (in `folder` if that is given), ready, for the length of a block."""
    with TemporaryDirectory(prefix="gigavqa-load-", dir=folder) as home:
        installation = Installation(Path(home), **options)
        try:
            installation.start(workers, *arguments)
            yield installation
        finally:
            installation.stop()
