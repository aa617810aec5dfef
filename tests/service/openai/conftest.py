"""Fixtures: a gateway with a worker, and the OpenAI client of it."""

from collections.abc import Callable, Iterator

import httpx
import openai
import pytest

from gigavqa.service.settings import GatewaySettings
from tests.service.gateways import TLS, RunningGateway
from tests.service.openai.workers import RunningWorker, working
from tests.waiting import wait_until


@pytest.fixture
def worker(settings: GatewaySettings, gateway: RunningGateway) -> Iterator[RunningWorker]:
    """A worker on the simulated engine, which the gateway knows."""
    with working(settings) as worker:
        wait_for_worker(gateway)
        yield worker


@pytest.fixture
def client(gateway: RunningGateway) -> Iterator[openai.OpenAI]:
    """OpenAI's own client, which repeats nothing, so that the first answer shows."""
    with openai.OpenAI(
        base_url=f"{gateway.url}/v1", api_key="none", max_retries=0, http_client=httpx.Client(verify=TLS, timeout=60)
    ) as client:
        yield client


def wait_for_worker(gateway: RunningGateway) -> None:
    """Wait until the gateway knows of a worker."""
    wait_until(lambda: bool(gateway.client.get("/v1/workers").json()["data"]), what="the worker")


Start = Callable[..., RunningGateway]
