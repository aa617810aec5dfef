"""The servers of the store's tests."""

from tests.store.conftest import binary  # noqa: F401 - a fixture
