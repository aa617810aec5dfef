"""What pyproject.toml declares to vLLM, which goes on without a plugin that it cannot load, and only logs it."""

import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

GROUP = "vllm.general_plugins"
PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.mark.parametrize(("name", "value"), PROJECT["entry-points"][GROUP].items())
def test_a_declared_plugin_is_there(name: str, value: str) -> None:
    """Its module can be imported without an engine, and has what is named."""
    assert callable(EntryPoint(name, value, GROUP).load())
