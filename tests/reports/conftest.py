"""A browser for whoever looks at a page."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browsing import launched_browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests of a file."""
    with launched_browser() as opened:
        yield opened
