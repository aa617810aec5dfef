"""Real gateways for tests: uvicorn in a thread, on a port of its own, over a real embedded server."""

import asyncio
import shutil
import ssl
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from redis import Redis

from gigavqa.service.app import create_app
from gigavqa.service.server import GatewayServer
from gigavqa.service.settings import GatewaySettings
from tests.service.datasets import NAME
from tests.waiting import wait_until

MODEL = "demo-qwen3-vl"
TLS = ssl.create_default_context()
"""For every client of these tests, each of which would read the system's certificates by itself."""


class RunningGateway:
    """A gateway that answers, and a client of it."""

    def __init__(self, settings: GatewaySettings) -> None:
        self.settings = settings
        self.app = create_app(settings)
        self.server = GatewayServer(self.app, settings.model_copy(update={"port": 0}))
        self._thread = threading.Thread(target=self._serve, name="gateway")
        self._thread.start()
        wait_until(lambda: self.server.started or not self._thread.is_alive(), timeout=60, what="the gateway's start")
        self.url = f"http://127.0.0.1:{self.server.servers[0].sockets[0].getsockname()[1]}"
        self.client = self.new_client()

    def _serve(self) -> None:
        with asyncio.Runner(loop_factory=self.server.config.get_loop_factory()) as runner:
            self._loop = runner.get_loop()
            runner.run(self.server.serve())

    @property
    def redis_url(self) -> str:
        """The server that holds the gateway's state."""
        url = self.settings.redis_url
        assert url is not None
        return url

    @property
    def is_running(self) -> bool:
        """Whether it answers, and was not told to end."""
        return self._thread.is_alive() and not self.server.should_exit

    def new_client(self, **changes: Any) -> httpx.Client:
        """Make a client of it."""
        return httpx.Client(**{"base_url": self.url, "timeout": 30, "verify": TLS, **changes})

    def submit(self, **changes: Any) -> httpx.Response:
        """Submit a job of the town at one condition."""
        body = {"dataset": NAME, "models": [MODEL], "cells": [{"protocol": "S0", "condition": "V2"}], **changes}
        if body.get("plan"):
            del body["cells"]
        return self.client.post("/v1/jobs", json=body)

    def job(self, job_id: str) -> dict[str, Any]:
        """The job as it is now."""
        job: dict[str, Any] = self.client.get(f"/v1/jobs/{job_id}").json()
        return job

    def work(self) -> Counter[str]:
        """What it is doing now: its background tasks by name, and the requests that it answers."""
        tasks = asyncio.all_tasks(self._loop)
        named = Counter(name for task in tasks if not (name := task.get_name()).startswith("Task-"))
        return named + Counter(requests=len(self.server.server_state.tasks))

    def stop(self) -> None:
        """Shut down as a signal would, and wait for the end."""
        self.client.close()
        self.server.should_exit = True
        self._thread.join(timeout=60)
        assert not self._thread.is_alive(), "the gateway did not end"


class StandingGateway:
    """One gateway for many tests, each of which finds it as if it were new: its state store and its folders are empty.

    One that a test stopped, or left with work to do, is replaced. What it counts in its metrics goes on from test to
    test: a test of those starts a gateway of its own.
    """

    def __init__(self, folder: Path, redis_url: str, **changes: Any) -> None:
        self.settings = settings_of(folder, redis_url, **changes)
        self._gateway: RunningGateway | None = None
        self._at_rest = Counter[str]()

    def clear(self) -> None:
        """Empty the state store and the folders."""
        with Redis.from_url(str(self.settings.redis_url)) as redis:
            redis.flushdb()
        shutil.rmtree(self.settings.folder, ignore_errors=True)
        self.settings.data.mkdir(parents=True)

    def take(self) -> RunningGateway:
        """Return the gateway, with a client that has asked nothing."""
        if self._gateway is None:
            self._gateway = RunningGateway(self.settings)
            self._at_rest = self._gateway.work()
        else:
            self._gateway.client = self._gateway.new_client()
        return self._gateway

    def give_back(self) -> None:
        """Keep the gateway for the next test if nothing of this one goes on in it."""
        gateway = self._gateway
        if gateway is None:
            return
        gateway.client.close()
        try:
            wait_until(lambda: not gateway.is_running or gateway.work() <= self._at_rest, timeout=2)
        except AssertionError:
            self.stop()
        if not gateway.is_running:
            self.stop()

    def stop(self) -> None:
        """End the gateway, if there is one."""
        if self._gateway:
            self._gateway.stop()
        self._gateway = None


def problem_of(response: httpx.Response, status: int, slug: str) -> dict[str, Any]:
    """The problem document of a refused request, checked for what every one must have."""
    assert response.headers["content-type"] == "application/problem+json", response.text
    problem: dict[str, Any] = response.json()
    assert (response.status_code, problem["status"], problem["type"]) == (
        status,
        status,
        f"urn:gigavqa:problem:{slug}",
    ), problem
    assert problem["request_id"] == response.headers["x-request-id"]
    assert problem["title"]
    assert problem["detail"]
    return problem


def openai_error_of(response: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """The error of a request that OpenAI's clients make, checked for what every one must have."""
    assert response.headers["content-type"] == "application/json", response.text
    assert set(response.json()) == {"error"}
    error: dict[str, Any] = response.json()["error"]
    assert (response.status_code, error["code"]) == (status, code), error
    assert error["message"]
    assert set(error) == {"message", "type", "param", "code"}
    assert response.headers["x-request-id"]
    return error


def settings_of(folder: Path, redis_url: str, **changes: Any) -> GatewaySettings:
    """Settings of a gateway whose every folder lies below `folder`."""
    environ = {"GIGAVQA_HOME": str(folder), "REDIS_URL": redis_url}
    settings = GatewaySettings.from_environment(environ)
    return settings.model_copy(update={"poll_seconds": 0.02, **changes})


@contextmanager
def running(settings: GatewaySettings) -> Iterator[RunningGateway]:
    """Run a gateway for the length of a block."""
    settings.data.mkdir(parents=True, exist_ok=True)
    gateway = RunningGateway(settings)
    try:
        yield gateway
    finally:
        gateway.stop()
