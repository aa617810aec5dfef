"""Whose prompts share what engines keep: an owner's chats, jobs and batches with each other, and no other owner's."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import openai
import pytest

from gigavqa.service.settings import GatewaySettings
from tests.service.gateways import MODEL, RunningGateway
from tests.service.openai.pictures import data_url, png
from tests.service.openai.test_batches import end_of, lines, read, start_batch
from tests.service.openai.workers import working
from tests.service.tenants import Tenant
from tests.waiting import wait_until

CHAT = [
    {"role": "system", "content": "The secret of the house is a long one. " * 20},
    {"role": "user", "content": [{"type": "image_url", "image_url": {"url": data_url(png(1))}}]},
]


@pytest.fixture
def begin(start: Callable[..., RunningGateway], settings: GatewaySettings) -> Iterator[Callable[..., RunningGateway]]:
    """Starts a gateway, and a worker on the simulated engine beside it."""
    with ExitStack() as stack:

        def run(**changes: Any) -> RunningGateway:
            gateway = start(**changes)
            stack.enter_context(working(settings))
            return gateway

        yield run


@contextmanager
def tenant(gateway: RunningGateway, owner: str) -> Iterator[Tenant]:
    """A tenant for whom there is a worker."""
    with Tenant(gateway, owner, requests_a_minute=None) as found:
        wait_until(lambda: found.get("/v1/models").is_success and chat(found).is_success, what="the worker")
        yield found


def chat(client: Any) -> Any:
    """Ask about nothing in particular."""
    return client.post("/v1/chat/completions", json={"model": MODEL, "messages": [{"role": "user", "content": "?"}]})


def cached(client: Any) -> int:
    """How many tokens of the chat were found."""
    answer = client.post("/v1/chat/completions", json={"model": MODEL, "messages": CHAT, "max_tokens": 2})
    return int(answer.json()["usage"]["prompt_tokens_details"]["cached_tokens"])


def cached_in_job(client: Any) -> int:
    """How many tokens of a job's prompts were found, one after the other."""
    asked = {"dataset": "town", "models": [MODEL], "cells": [{"protocol": "S0", "condition": "V2"}]}
    job_id = client.post("/v1/jobs", json={**asked, "samples": ["cctv-0000"]}).json()["id"]
    wait_until(lambda: client.get(f"/v1/jobs/{job_id}").json()["status"] == "completed", what="the job's end")
    return int(client.get(f"/v1/jobs/{job_id}").json()["usage"]["cached_tokens"])


@pytest.mark.slow
def test_what_another_owner_asked_is_not_told_by_what_was_cached(begin: Callable[..., RunningGateway]) -> None:
    """Of a secret prompt and a picture: their owner finds them in chats, batches and jobs, and nobody else does."""
    gateway = begin(require_keys=True)
    with tenant(gateway, "ada") as ada, tenant(gateway, "bob") as bob:
        assert cached(ada) == 0
        assert cached(bob) == 0
        assert min(cached(ada), cached(bob)) > 64
        assert cached_in_job(ada) == 0
        assert cached_in_job(bob) == 0
        assert min(cached_in_job(ada), cached_in_job(bob)) > 64
    key = ada.headers["authorization"].removeprefix("Bearer ")
    with openai.OpenAI(base_url=f"{gateway.url}/v1", api_key=key, max_retries=0) as client:
        (line,) = read(client, end_of(client, start_batch(client, lines({"messages": CHAT}))).output_file_id).values()
        assert line["response"]["body"]["usage"]["prompt_tokens_details"]["cached_tokens"] > 64


@pytest.mark.parametrize("keys", [True, False], ids=["with keys", "without keys"])
def test_all_share_where_the_operator_says_so_or_nobody_is_asked_for_keys(
    begin: Callable[..., RunningGateway], keys: bool
) -> None:
    """As one installation of one group does."""
    gateway = begin(require_keys=keys, cache_sharing="all" if keys else "owners")
    with tenant(gateway, "ada") as ada, tenant(gateway, "bob") as bob:
        assert cached(ada) == 0
        assert cached(bob) > 64
        assert cached_in_job(ada) == 0
        assert cached_in_job(bob) > 64
