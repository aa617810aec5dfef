"""A real gateway with a real worker on the simulated engine, each a process of its own under `gigavqa up`."""

from collections.abc import Iterator

import pytest

from gigavqa import Client, Job
from tests.cli.conftest import Service, start_service, stop_service
from tests.cli.installation import MODEL, Installation, sample, write_dataset

SPEC = {"dataset": "tiny", "models": [MODEL], "cells": [{"protocol": "S0", "condition": "V2"}]}
SAMPLES = 4


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One service with the data set `tiny` for the whole room."""
    home = tmp_path_factory.mktemp("client") / "home"
    write_dataset(home / "data" / "tiny", [sample(number, "images/plaza.png") for number in range(SAMPLES)])
    running = start_service(Installation(home))
    yield running
    stop_service(running)


@pytest.fixture
def url(service: Service) -> str:
    """The gateway's address."""
    return service.installation.url


@pytest.fixture
def client(url: str) -> Iterator[Client]:
    """A client of the service."""
    with Client(url) as client:
        yield client


@pytest.fixture
def job(client: Client) -> Job:
    """A job that has ended; every test that asks for one gets the same."""
    return client.wait(client.submit(SPEC, "the-job-of-the-tests").id)
