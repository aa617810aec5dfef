"""Help that teaches, at once."""

import re
import subprocess
import sys

import pytest

from demo.ultravr.ad.grid import plan_grid
from demo.ultravr.ad.products import PRODUCTS
from demo.ultravr.ad.samples import grid_records
from demo.ultravr.cctv.samples import plaza_records
from demo.ultravr.cctv.scene import plan_plaza
from demo.ultravr.wsi.samples import slide_records
from demo.ultravr.wsi.scene import plan_slide
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
    "dataset import",
    "dataset show",
    "pyramids list",
    "pyramids prune",
)
DEMO_SEED = 7


def test_help_names_every_command(installation: Installation) -> None:
    """`gigavqa --help` lists all commands."""
    text = installation.ok("--help")
    assert [name for name in COMMANDS if f" {name.split()[0]} " not in text] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_shows_an_example(installation: Installation, command: str) -> None:
    """Every command's help holds at least one line that can be typed."""
    assert f" gigavqa {command}" in installation.ok(*command.split(), "--help")


def demo_ids() -> set[str]:
    """Ids of the demo data set's samples of CCTV, WSI and AD, from its plans alone: nothing is painted."""
    records = [*plaza_records(plan_plaza(DEMO_SEED)), *slide_records(plan_slide(DEMO_SEED))[1]]
    records += [record for product in PRODUCTS for record in grid_records(plan_grid(DEMO_SEED, product))]
    return {record["id"] for record in records}


def test_examples_name_samples_that_the_demo_data_set_has(installation: Installation) -> None:
    """Whoever types an example of the help on the demo data set sees what it shows."""
    named = set()
    for command in ("view", "prompt", "dataset show"):
        lines = installation.ok(*command.split(), "--help").splitlines()
        examples = [line for line in lines if f" gigavqa {command} " in line and " demo" in line]
        named |= {word for line in examples for word in line.split() if re.fullmatch(r"(cctv|rs|wsi|ad)-[\w-]+", word)}
    assert len(named) >= 2
    assert named <= demo_ids()


def test_help_loads_no_heavy_room() -> None:
    """The command line starts without an engine, pixels, HTTP, Parquet or Redis."""
    heavy = "{'torch', 'vllm', 'transformers', 'pyvips', 'openslide', 'numpy', 'httpx', 'pyarrow', 'redis', 'fastapi'}"
    code = f"import cli.app, sys; print(sorted({heavy} & set(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"
