"""Installations of the command line's tests."""

import json
import signal
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.cli.installation import MODEL, Installation, sample, write_dataset


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    """A home folder with the data set `tiny`, and no service."""
    write_dataset(tmp_path / "home" / "data" / "tiny", [sample(number, "images/plaza.png") for number in range(4)])
    return Installation(tmp_path / "home")


@dataclass(frozen=True)
class Service:
    """A running `gigavqa up`, what it printed when it was ready, and its installation."""

    installation: Installation
    process: "subprocess.Popen[str]"
    ready: dict[str, Any]

    def descendants(self) -> list[psutil.Process]:
        """Every process that lives because of this `up`."""
        return psutil.Process(self.process.pid).children(recursive=True)


def start_service(installation: Installation, *models: str, options: Sequence[str] = ()) -> Service:
    """Start `gigavqa up` on the simulated engine and wait for its line of readiness."""
    named = [part for model in models or (MODEL,) for part in ("--model", model)]
    arguments = installation.command(
        "up", "--engine", "simulated", "--port", "0", "--json", "--no-viewer", *named, *options
    )
    with (installation.home / "up.log").open("w") as log:
        process = subprocess.Popen(
            arguments, env=installation.environment, stdout=subprocess.PIPE, stderr=log, text=True
        )
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        process.wait(60)
        raise AssertionError((installation.home / "up.log").read_text())
    ready = json.loads(line)
    return Service(replace(installation, url=ready["url"]), process, ready)


def stop_service(service: Service) -> None:
    """End a service as Ctrl-C does, if it still runs."""
    if service.process.poll() is None:
        service.process.send_signal(signal.SIGINT)
    try:
        assert service.process.wait(60) in {0, -signal.SIGKILL}
    finally:
        service.process.kill()
        service.process.wait()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One service with the data set `tiny` for all tests of a file."""
    home = tmp_path_factory.mktemp("service") / "home"
    write_dataset(home / "data" / "tiny", [sample(number, "images/plaza.png") for number in range(4)])
    running = start_service(Installation(home))
    yield running
    stop_service(running)
