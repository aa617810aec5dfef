"""A real server and a data root with a few small images."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from redis.asyncio import Redis

from gigavqa.runtime.embedded_store import StateStoreProcess, start_store
from gigavqa.store.connection import connect
from tests.workers.examples import draw_images


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StateStoreProcess]:
    """A server that the tests of this room share; each starts with an empty one."""
    process = start_store(tmp_path_factory.mktemp("server"))
    yield process
    process.stop()


@pytest.fixture
async def redis(server: StateStoreProcess) -> AsyncIterator[Redis]:
    """A client of an empty server."""
    client = connect(server.url)
    await client.flushall()
    yield client
    await client.aclose()


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data root with the images that `tests.workers.examples.image` names."""
    return draw_images(tmp_path_factory.mktemp("data"))
