"""Settings of all tests: what hypothesis draws is the same in every run, and a slow machine is no failure."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.skips import pytest_terminal_summary

__all__ = ["pytest_terminal_summary"]

settings.register_profile("gigavqa", deadline=None, derandomize=True)
settings.load_profile("gigavqa")


@pytest.fixture(scope="module", autouse=True)
def _environment() -> Iterator[None]:
    """Forget after each file what an engine of it has set for its children."""
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)
