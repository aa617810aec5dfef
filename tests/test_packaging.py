"""What pyproject.toml declares of the whole: the plugins of vLLM, and the packages that an image has to hold."""

import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PLUGINS = "vllm.general_plugins"


@pytest.mark.parametrize(("name", "value"), DECLARED["project"]["entry-points"][PLUGINS].items())
def test_a_declared_plugin_is_there(name: str, value: str) -> None:
    """Its module can be imported without an engine and has what is named; vLLM only logs one that it cannot load."""
    assert callable(EntryPoint(name, value, PLUGINS).load())


@pytest.mark.parametrize("package", DECLARED["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"])
def test_the_images_are_built_with_every_package(package: str) -> None:
    """The stage that makes the wheel copies each of them."""
    assert f"COPY {package} {package}\n" in (ROOT / "Dockerfile").read_text(encoding="utf-8")
