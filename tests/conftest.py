"""Settings of all tests: what hypothesis draws is the same in every run, and a slow machine is no failure."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import certifi
import pytest
from hypothesis import settings

from tests import durations
from tests.skips import pytest_terminal_summary

__all__ = ["pytest_terminal_summary"]

settings.register_profile("gigavqa", deadline=None, derandomize=True)
settings.load_profile("gigavqa")


def pytest_configure(config: pytest.Config) -> None:
    """Name slow tests at the end of every run, and spare every client the system's authorities."""
    config.pluginmanager.register(durations)
    if "SSL_CERT_FILE" not in os.environ:
        folder = tempfile.TemporaryDirectory()
        config.add_cleanup(folder.cleanup)
        os.environ["SSL_CERT_FILE"] = str(_one_authority(Path(folder.name)))


def _one_authority(folder: Path) -> Path:
    """Write the first of the authorities that clients believe.

    Each of thousands of clients, here and in processes, reads them at its start, and all of them take it 20 ms.
    """
    end = "-----END CERTIFICATE-----"
    file = folder / "authority.pem"
    file.write_text(Path(certifi.where()).read_text().partition(end)[0] + end)
    return file


@pytest.fixture(scope="module", autouse=True)
def _environment() -> Iterator[None]:
    """Forget after each file what an engine of it has set for its children."""
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)
