"""Settings of all tests: what hypothesis draws is the same in every run, and a slow machine is no failure."""

import gc
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import certifi
import pytest
from hypothesis import settings

from tests import durations
from tests.skips import pytest_terminal_summary
from tests.workers.forked_engines import engines_forked

__all__ = ["pytest_terminal_summary"]

settings.register_profile("gigavqa", deadline=None, derandomize=True)
settings.load_profile("gigavqa")

# A run starts hundreds of processes, and two that collect: each would compile the same files again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

_ENGINE_MARK = "pytest.mark.engine"


def pytest_configure(config: pytest.Config) -> None:
    """Name slow tests at the end of every run, and spare every client the system's authorities."""
    config.pluginmanager.register(durations)
    config.add_cleanup(gc.unfreeze)  # what the collection froze is let go of at the end, lest libraries tell of a leak
    if "SSL_CERT_FILE" not in os.environ:
        folder = tempfile.TemporaryDirectory()
        config.add_cleanup(folder.cleanup)
        os.environ["SSL_CERT_FILE"] = str(_one_authority(Path(folder.name)))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Look for no garbage among what is collected, which stays to the end: neither meanwhile nor in the tests."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Where engines alone are run, leave files without one unread: to import the others takes half a minute."""
    if config.option.markexpr != "engine" or collection_path.suffix != ".py":
        return None
    return _ENGINE_MARK not in collection_path.read_text("utf-8") or None


def pytest_itemcollected(item: pytest.Item) -> None:
    """Fail for a test of an engine whose file does not say so in the words that the above looks for."""
    if item.get_closest_marker("engine") and _ENGINE_MARK not in item.path.read_text("utf-8"):
        raise pytest.UsageError(f"{item.path}: write {_ENGINE_MARK} there, lest `pytest -m engine` leaves it out")


def _one_authority(folder: Path) -> Path:
    """Write the first of the authorities that clients believe.

    Each of thousands of clients, here and in processes, reads them at its start, and all of them take it 20 ms.
    """
    end = "-----END CERTIFICATE-----"
    file = folder / "authority.pem"
    file.write_text(Path(certifi.where()).read_text().partition(end)[0] + end)
    return file


@pytest.fixture(scope="module", autouse=True)
def _engines_forked(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let engines that a file's tests start in this process be forks of one that has imported vLLM."""
    with engines_forked() if _ENGINE_MARK in request.path.read_text("utf-8") else nullcontext():
        yield


@pytest.fixture(scope="module", autouse=True)
def _environment() -> Iterator[None]:
    """Forget after each file what an engine of it has set for its children."""
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)
