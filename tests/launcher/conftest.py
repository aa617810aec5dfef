"""Installations whose commands are started as a user starts them."""

from tests.cli.conftest import installation  # noqa: F401 - a fixture
