"""Help that teaches, at once."""

import re
import subprocess
import sys
from dataclasses import replace

import pytest

from gigavqa.cli import app
from gigavqa.demo.ultravr.ad.grid import plan_grid
from gigavqa.demo.ultravr.ad.products import PRODUCTS
from gigavqa.demo.ultravr.ad.samples import grid_records
from tests.cli.installation import Installation

COMMANDS = (
    "demo",
    "acuity",
    "ask",
    "up",
    "submit",
    "watch",
    "results",
    "report",
    "verdicts",
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
    "dataset import",
    "dataset show",
    "corpus build",
    "corpus search",
    "backup",
    "restore",
    "fsck",
    "prune",
    "keys create",
    "keys list",
    "keys revoke",
    "pyramids list",
    "pyramids prune",
)
DEMO_SEED = 7
HEAVY = {
    "fastapi",
    "httpx",
    "jinja2",
    "matplotlib",
    "numpy",
    "openslide",
    "pyarrow",
    "pydantic",
    "pyvips",
    "redis",
    "torch",
    "transformers",
    "vllm",
}


def test_help_names_every_command(installation: Installation) -> None:
    """`gigavqa --help` lists all commands."""
    text = installation.ok("--help")
    assert [name for name in COMMANDS if f" {name.split()[0]} " not in text] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_shows_an_example(installation: Installation, command: str) -> None:
    """Every command's help holds at least one line that can be typed."""
    assert f" gigavqa {command}" in installation.ok(*command.split(), "--help")


def test_examples_name_samples_that_the_demo_data_set_has(installation: Installation) -> None:
    """Whoever types an example of the help on the demo data set sees what it shows: samples of its grids."""
    grids = [record for product in PRODUCTS for record in grid_records(plan_grid(DEMO_SEED, product))]
    named = set()
    for command in ("view", "prompt", "dataset show"):
        lines = installation.ok(*command.split(), "--help").splitlines()
        examples = [line for line in lines if f" gigavqa {command} " in line and " demo" in line]
        named |= {word for line in examples for word in line.split() if re.fullmatch(r"ad-[\w-]+", word)}
    assert len(named) >= 2
    assert named <= {record["id"] for record in grids}


def test_what_is_listed_of_a_command_is_how_its_own_help_begins(installation: Installation) -> None:
    """`gigavqa --help` imports no command: its lines are written beside the commands' modules, and must agree."""
    wide = replace(installation, columns=200)
    for name, command in app.COMMANDS.items():
        text = " ".join(wide.ok(name, "--help").split())
        assert f"gigavqa {name} [OPTIONS]" in text
        assert command.help in text


EXTRAS = {
    "fastapi",
    "filelock",
    "imagecodecs",
    "jinja2",
    "matplotlib",
    "openslide",
    "prometheus_client",
    "pyvips",
    "sse_starlette",
    "starlette",
    "torch",
    "transformers",
    "uvicorn",
    "vllm",
}


def test_help_of_every_command_needs_no_extra() -> None:
    """Nor does calling one that needs none: a module of a command imports what every installation has."""
    code = f"""
import sys
from importlib.abc import MetaPathFinder

class Lacking(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {EXTRAS}:
            raise ModuleNotFoundError(f"No module named '{{name}}'", name=name)

sys.meta_path.insert(0, Lacking())
from gigavqa.cli.app import COMMANDS, main
for name in COMMANDS:
    sys.argv[1:] = [name, "--help"]
    try:
        main()
    except SystemExit as ended:
        assert not ended.code, name
"""
    run = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert [name for name in app.COMMANDS if f"Usage: gigavqa {name} " not in run.stdout] == []


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_help_imports_no_command_and_no_heavy_room(arguments: list[str]) -> None:
    """The command line starts without a command's module, an engine, pixels, HTTP, Parquet, Redis or a web page."""
    code = f"""
import atexit, sys
from gigavqa.cli.app import main
heavy = {HEAVY}
atexit.register(lambda: print("loaded:", [name for name in sys.modules if name.split(".")[0] in heavy
    or name.startswith("gigavqa.cli.commands.")]))
sys.argv[1:] = {arguments}
main()
"""
    run = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=False)
    assert run.stdout.splitlines()[-1] == "loaded: []", run.stderr
