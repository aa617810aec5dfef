"""Prometheus itself, where this machine has it."""

import shutil
from pathlib import Path

import pytest

DEPLOY = Path(__file__).parents[2] / "deploy"


def program(name: str) -> str:
    """Find `prometheus` or `promtool`; skips the test where there is none."""
    found = shutil.which(name)
    if found is None:
        pytest.skip("prometheus is not installed on this machine")
    return found
