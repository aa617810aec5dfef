"""Fixtures: one embedded server for the folder's run, and gateways with a data set of their own."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from gigavqa.runtime.embedded_store import start_store
from gigavqa.service.settings import GatewaySettings
from gigavqa.store.connection import connect
from tests.service.datasets import write_town
from tests.service.gateways import RunningGateway, running, settings_of


@pytest.fixture(scope="session")
def _server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    server = start_store(tmp_path_factory.mktemp("server"))
    yield server.url
    server.stop()


@pytest.fixture
async def redis_url(_server: str) -> str:
    """A real server that holds nothing."""
    redis = connect(_server)
    await redis.flushall()
    await redis.aclose()
    return _server


@pytest.fixture
def settings(tmp_path: Path, redis_url: str) -> GatewaySettings:
    """Settings of a gateway in a folder of its own, with the town as its data set."""
    settings = settings_of(tmp_path, redis_url)
    write_town(settings.data)
    return settings


@pytest.fixture
def start(settings: GatewaySettings) -> Iterator[Callable[..., RunningGateway]]:
    """Starts gateways with changed settings; they end with the test."""
    with ExitStack() as stack:
        yield lambda **changes: stack.enter_context(running(settings.model_copy(update=changes)))


@pytest.fixture
def gateway(start: Callable[..., RunningGateway]) -> RunningGateway:
    """A running gateway."""
    return start()
