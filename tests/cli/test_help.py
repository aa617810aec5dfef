"""Help that teaches, at once."""

import subprocess
import sys

import pytest

from tests.cli.installation import Installation

COMMANDS = (
    "demo",
    "up",
    "submit",
    "watch",
    "results",
    "report",
    "jobs",
    "cancel",
    "retry",
    "delete",
    "workers",
    "logs",
    "score",
    "view",
    "prompt",
    "budget",
    "models",
    "models add",
    "ingest",
    "doctor",
    "dataset demo",
    "dataset check",
    "dataset list",
)


def test_help_names_every_command(installation: Installation) -> None:
    """`gigavqa --help` lists all commands."""
    text = installation.ok("--help")
    assert [name for name in COMMANDS if f" {name.split()[0]} " not in text] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_shows_an_example(installation: Installation, command: str) -> None:
    """Every command's help holds at least one line that can be typed."""
    assert f" gigavqa {command}" in installation.ok(*command.split(), "--help")


def test_help_loads_no_heavy_room() -> None:
    """The command line starts without an engine, pixels, HTTP, Parquet or Redis."""
    heavy = "{'torch', 'vllm', 'transformers', 'pyvips', 'openslide', 'numpy', 'httpx', 'pyarrow', 'redis', 'fastapi'}"
    code = f"import cli.app, sys; print(sorted({heavy} & set(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"
