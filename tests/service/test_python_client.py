"""The Python client comes back to what is refused for now when the gateway says."""

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from gigavqa import BusyError, Client, client
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
