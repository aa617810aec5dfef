"""Fixtures: one embedded server for the folder's run, and gateways with a data set of their own."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from gigavqa.runtime.embedded_store import start_store
from gigavqa.service.settings import GatewaySettings
from tests.service.datasets import write_town
from tests.service.gateways import RunningGateway, StandingGateway, running, settings_of

STANDING: dict[str, dict[str, Any]] = {"gateway": {}, "locked": {"require_keys": True}}
"""Gateways that serve many tests, by their fixtures: how each is set."""


@pytest.fixture(scope="session")
def _server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    server = start_store(tmp_path_factory.mktemp("server"))
    yield server.url
    server.stop()


@pytest.fixture(scope="session")
def _all_standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, StandingGateway]]:
    folder = tmp_path_factory.mktemp("standing")
    server = start_store(folder / "server")  # of their own: a gateway looks at all that its server holds
    standing = {
        name: StandingGateway(folder / name, f"{server.url}?db={number}", **changes)
        for number, (name, changes) in enumerate(STANDING.items())
    }
    yield standing
    for one in standing.values():
        one.stop()
    server.stop()


@pytest.fixture
def _standing(request: pytest.FixtureRequest, _all_standing: dict[str, StandingGateway]) -> StandingGateway | None:
    """The one that the test asks for by a fixture's name."""
    asked = [name for name in STANDING if name in request.fixturenames]
    assert len(asked) <= 1, "a test has one gateway that stood before it; it starts the others"
    return _all_standing[asked[0]] if asked else None


@pytest.fixture
def redis_url(_server: str, _standing: StandingGateway | None) -> str:
    """A real server that holds nothing."""
    if _standing:
        _standing.clear()
        return str(_standing.settings.redis_url)
    with Redis.from_url(_server) as redis:
        redis.flushall()
    return _server


@pytest.fixture
def settings(tmp_path: Path, redis_url: str, _standing: StandingGateway | None) -> GatewaySettings:
    """Settings of a gateway in a folder of its own, with the town as its data set."""
    settings = _standing.settings if _standing else settings_of(tmp_path, redis_url)
    write_town(settings.data)
    return settings


@pytest.fixture
def start(settings: GatewaySettings) -> Iterator[Callable[..., RunningGateway]]:
    """Starts gateways with changed settings; they end with the test."""
    with ExitStack() as stack:
        yield lambda **changes: stack.enter_context(running(settings.model_copy(update=changes)))


@pytest.fixture
def gateway(settings: GatewaySettings, _standing: StandingGateway) -> Iterator[RunningGateway]:
    """A running gateway, which other tests had before; nothing of them is left but what it counted."""
    yield _standing.take()
    _standing.give_back()


@pytest.fixture
def locked(settings: GatewaySettings, _standing: StandingGateway) -> Iterator[RunningGateway]:
    """One that asks for keys."""
    yield _standing.take()
    _standing.give_back()


@pytest.fixture
def alone(_all_standing: dict[str, StandingGateway]) -> None:
    """No gateway of other tests beside this one, which measures this process."""
    for one in _all_standing.values():
        one.stop()


@pytest.fixture
def new_gateway(start: Callable[..., RunningGateway]) -> RunningGateway:
    """A gateway that this test starts, and may change."""
    return start()
