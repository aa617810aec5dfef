"""The Python client comes back to what is refused for now when the gateway says, and asks again what is no answer."""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from gigavqa import AsyncClient, BusyError, Client, ConflictError
from gigavqa.client import client
from gigavqa.contract.jobs import Job
from tests.service.datasets import NAME
from tests.service.gateways import MODEL, RunningGateway
from tests.service.workers import play

SPEC = {"dataset": NAME, "models": [MODEL], "cells": [{"protocol": "S0", "condition": "V2"}]}


def test_a_full_queue_is_come_back_to_when_the_gateway_says(
    start: Callable[..., RunningGateway], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without patience it is an error that names the time; with some the job is submitted then, and once."""
    gateway, pauses = start(queue_requests=4), list[float]()
    gateway.submit()
    with Client(gateway.url, patience=0) as hasty, pytest.raises(BusyError, match="try again in") as refused:
        hasty.submit(SPEC)
    assert (refused.value.kind, refused.value.status) == ("queue-full", 429)
    assert refused.value.retry_after is not None

    def wait(seconds: float) -> None:
        pauses.append(seconds)
        play(gateway.redis_url)

    monkeypatch.setattr(client, "time", SimpleNamespace(sleep=wait))
    with Client(gateway.url, patience=600) as patient:
        job = patient.submit(SPEC)
        assert len(pauses) == 1 and pauses[0] >= refused.value.retry_after
        assert next(iter(patient.jobs())).id == job.id and len(patient.jobs()) == 2


def test_replies_that_are_empty_are_asked_again_where_that_is_said(gateway: RunningGateway) -> None:
    """By either client; of four replies those of two samples are empty, and then that of one."""

    async def retry(job_id: str) -> Job:
        async with AsyncClient(gateway.url) as asynchronous:
            return await asynchronous.retry(job_id, empty=True)

    with Client(gateway.url) as synchronous:
        job = synchronous.submit(SPEC)
        play(gateway.redis_url, lambda request: "A" if request.sample_id < "cctv-0002" else "")
        with pytest.raises(ConflictError, match="2 of its replies are empty or broken off"):
            synchronous.retry(job.id)
        assert synchronous.retry(job.id, empty=True).request_counts.completed == 2
        play(gateway.redis_url, lambda request: "A" if request.sample_id < "cctv-0003" else "")
        assert asyncio.run(retry(job.id)).request_counts.completed == 3
        play(gateway.redis_url)
        with pytest.raises(ConflictError, match="no reply that is empty"):
            synchronous.retry(job.id, empty=True)
