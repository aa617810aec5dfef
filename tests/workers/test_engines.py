"""Every engine here passes the suite that authors of others are given."""

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from gigavqa.testing.engines import EngineSuite
from gigavqa.workers.engines.engine import Engine
from gigavqa.workers.engines.remote.endpoint_settings import RemoteSettings
from gigavqa.workers.engines.remote.engine import RemoteEngine
from gigavqa.workers.engines.simulation.engine import SimulatedEngine
from gigavqa.workers.engines.vllm.engine import VllmEngine
from tests.checkpoints.build import ensure_checkpoint
from tests.workers.examples import ENTRY
from tests.workers.remote_server import Elsewhere, serving


class TestSimulatedEngine(EngineSuite):
    """At the speed of a real one, so that there is something to stop."""

    structures = frozenset({"choice"})

    @contextmanager
    def engine(self) -> Iterator[Engine]:
        """Make it."""
        yield SimulatedEngine(ENTRY, speed=1)


class TestRemoteEngine(EngineSuite):
    """Before a server that answers with the simulated engine."""

    structures = frozenset({"choice"})

    @contextmanager
    def engine(self) -> Iterator[Engine]:
        """Make it, and serve."""
        with serving(Elsewhere(speed=1)) as there:
            yield RemoteEngine(ENTRY, RemoteSettings(there.url, backoff_seconds=0.001))


@pytest.mark.engine
@pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vllm is not installed")
class TestVllmEngine(EngineSuite):
    """On this machine's CPU or GPU."""

    structures = frozenset({"choice", "regex", "json_schema"})

    @contextmanager
    def engine(self) -> Iterator[Engine]:
        """Make it, of a small model with random weights."""
        with TemporaryDirectory() as folder:
            yield VllmEngine(ENTRY, str(ensure_checkpoint(ENTRY.weights, Path(folder))))
