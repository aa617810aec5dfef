"""A job as a client drives it: over HTTP, through whatever happens to the gateway meanwhile."""

import json
from collections.abc import Mapping
from typing import Any

import httpx

CONDITIONS = ("V0", "V1", "V2", "V3", "V4")
MODEL = "demo-qwen3-vl"


def submit(url: str, **spec: Any) -> str:
    """Submit a job of S0 under all conditions; returns its id."""
    cells = [{"protocol": "S0", "condition": condition} for condition in CONDITIONS]
    body = {"dataset": "plazas", "models": [MODEL], "cells": cells, **spec}
    reply = httpx.post(f"{url}/v1/jobs", json=body, timeout=60)
    assert reply.status_code == httpx.codes.CREATED, reply.text
    return str(reply.json()["id"])


def job(url: str, job_id: str) -> Mapping[str, Any]:
    """The job as the gateway tells it."""
    reply = httpx.get(f"{url}/v1/jobs/{job_id}", timeout=30)
    reply.raise_for_status()
    return dict(reply.json())


def recorded(url: str, job_id: str) -> int:
    """How many requests have a response; -1 while the gateway cannot say."""
    try:
        counts = job(url, job_id)["request_counts"]
    except (httpx.TransportError, httpx.HTTPStatusError):
        return -1
    return int(counts["completed"] + counts["failed"])


def responses(url: str, job_id: str) -> list[dict[str, Any]]:
    """Every recorded response."""
    reply = httpx.get(f"{url}/v1/jobs/{job_id}/results", params={"limit": 100_000}, timeout=60)
    reply.raise_for_status()
    return [json.loads(line) for line in reply.content.splitlines()]
