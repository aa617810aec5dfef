"""Real gateways for tests: uvicorn in a thread, on a port of its own, over a real embedded server."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from gigavqa.service.app import create_app
from gigavqa.service.server import GatewayServer
from gigavqa.service.settings import GatewaySettings
from tests.service.datasets import NAME
from tests.waiting import wait_until

MODEL = "demo-qwen3-vl"


class RunningGateway:
    """A gateway that answers, and a client of it."""

    def __init__(self, settings: GatewaySettings) -> None:
        self.settings = settings
        self.app = create_app(settings)
        self.server = GatewayServer(self.app, settings.model_copy(update={"port": 0}))
        self._thread = threading.Thread(target=self.server.run, name="gateway")
        self._thread.start()
        wait_until(lambda: self.server.started or not self._thread.is_alive(), timeout=60, what="the gateway's start")
        self.url = f"http://127.0.0.1:{self.server.servers[0].sockets[0].getsockname()[1]}"
        self.client = httpx.Client(base_url=self.url, timeout=20)

    @property
    def redis_url(self) -> str:
        """The server that holds the gateway's state."""
        url = self.settings.redis_url
        assert url is not None
        return url

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

    def stop(self) -> None:
        """Shut down as a signal would, and wait for the end."""
        self.client.close()
        self.server.should_exit = True
        self._thread.join(timeout=60)
        assert not self._thread.is_alive(), "the gateway did not end"


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
