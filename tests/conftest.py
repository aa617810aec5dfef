"""Settings of all tests: what hypothesis draws is the same in every run, and a slow machine is no failure."""

from hypothesis import settings

from tests.skips import pytest_terminal_summary

__all__ = ["pytest_terminal_summary"]

settings.register_profile("gigavqa", deadline=None, derandomize=True)
settings.load_profile("gigavqa")
