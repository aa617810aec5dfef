"""Fixtures: one gateway with one worker for the folder, and the stand-in model server that the worker asks."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from gigavqa.catalogue.entry import CatalogueEntry, Prices
from gigavqa.construction.build_folder import BuildFolder
from gigavqa.construction.calls.call_desk import CallDesk
from gigavqa.runtime.embedded_store import start_store
from gigavqa.workers.engines.remote.endpoint_settings import RemoteSettings
from gigavqa.workers.engines.remote.engine import RemoteEngine
from tests.construction.calls.model_server import ModelServer, plain
from tests.service.gateways import RunningGateway, running, settings_of
from tests.service.openai.conftest import wait_for_worker
from tests.service.openai.workers import working
from tests.workers.examples import ENTRY
from tests.workers.remote_server import serving


class Service(NamedTuple):
    """A gateway, and what its worker asks."""

    gateway: RunningGateway
    server: ModelServer


@pytest.fixture(scope="session")
def _service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("calls")
    with ExitStack() as stack:
        store = start_store(folder / "server")
        stack.callback(store.stop)
        there = ModelServer()
        stack.enter_context(serving(there))
        settings = settings_of(folder / "home", store.url)
        gateway = stack.enter_context(running(settings))
        remote = RemoteSettings(there.url, backoff_seconds=0.001, most_asks=4)
        stack.enter_context(working(settings, lambda: RemoteEngine(ENTRY, remote)))
        wait_for_worker(gateway)
        yield Service(gateway, there)


@pytest.fixture
def service(_service: Service) -> Service:
    """The service, whose model server answers well and remembers nothing."""
    _service.server.begin(plain)
    return _service


def priced(model: str) -> CatalogueEntry:
    """The demo's model at a dollar for a thousand tokens read, and two for a thousand written."""
    prices = Prices(prompt=1000, completion=2000)
    return ENTRY.model_copy(update={"remote": ENTRY.remote.model_copy(update={"prices": prices})})


@pytest.fixture
def open_desk(service: Service, tmp_path: Path) -> Iterator[Callable[..., CallDesk]]:
    """Opens the desk of the build `chains`, as a run of it would."""
    folder = BuildFolder(tmp_path, "chains")
    with folder.locked(), ExitStack() as stack:

        def opened(entry_of: Any = lambda _: ENTRY, **settings: Any) -> CallDesk:
            return stack.enter_context(CallDesk(folder, entry_of, url=service.gateway.url, **settings))

        yield opened
