"""Installations that are backed up, restored and checked."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from redis.asyncio import Redis

from gigavqa.runtime.embedded_store import StateStoreProcess, start_store
from gigavqa.runtime.home import Home
from gigavqa.store.connection import connect
from tests.store.conftest import binary, own_server, redis, server  # noqa: F401 - fixtures


@dataclass
class Kept:
    """An installation without processes but its server."""

    home: Home
    url: str

    @property
    def results(self) -> Path:
        """Where its parts lie."""
        return Path(self.home.results_uri)

    def connect(self) -> Redis:
        """A client of its server."""
        return connect(self.url)


@pytest.fixture
def kept(own_server: StateStoreProcess, tmp_path: Path) -> Kept:  # noqa: F811 - the fixture
    """An installation of one's own on a server of each kind."""
    return Kept(Home(folder=tmp_path), own_server.url)


@pytest.fixture
def operators(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a server such as operators run, Redis where this machine has it, with nothing in it."""
    found = shutil.which("redis-server")
    operators = start_store(tmp_path_factory.mktemp("operators"), binary=Path(found) if found else None)
    yield f"{operators.url}?db=3"
    operators.stop()
