"""The servers of the store's tests."""

from tests.store.conftest import binary, own_server  # noqa: F401 - fixtures
