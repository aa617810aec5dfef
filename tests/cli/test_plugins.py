"""What a package brings is there once it is installed, and where it is not one sentence says how such are installed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gigavqa.catalogue.load import SHIPPED_MODELS
from tests.cli.installation import MODEL

ROOT = Path(__file__).parents[2]
BROUGHT = {
    "gigavqa.commands": "greet = brought.listed:GREET",
    "gigavqa.drawn_datasets": "greetings = brought.drawn:DRAWN",
    "gigavqa.models": "greeter = brought.models",
}
MODULES = {
    "__init__": "",
    "listed": """
from gigavqa.cli.lazy import CommandEntry

GREET = CommandEntry(module="brought.greeting", panel="Plugins", help="Greet somebody.")
""",
    "greeting": """
def greet(name: str) -> None:
    \"\"\"Greet somebody.\"\"\"
    print(f"Hello {name}")
""",
    "drawn": """
from gigavqa.demo.drawn import DrawnDataset

def build(folder, *, seed=7, progress=print):
    folder.mkdir(parents=True)
    return folder

DRAWN = DrawnDataset("demo-greetings", "greetings", build, model="greeter")
""",
}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A folder that holds an installed package with a command, a drawn data set, and a model with its checkpoint."""
    package, info = tmp_path / "site" / "brought", tmp_path / "site" / "brought-1.0.dist-info"
    (package / "models" / "greeter").mkdir(parents=True)
    for name, code in MODULES.items():
        (package / f"{name}.py").write_text(code)
    entry = (SHIPPED_MODELS / f"{MODEL}.toml").read_text()
    entry = entry.replace(f'"{MODEL}"', '"greeter"').replace("built-in:qwen3-vl", "built-in:greeter")
    (package / "models" / "greeter.toml").write_text(entry)
    (package / "models" / "greeter" / "config.json").write_text("{}")
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: brought\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("\n".join(f"[{group}]\n{point}\n" for group, point in BROUGHT.items()))
    return package


def python(package: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run Python in a terminal of 200 columns, where the package is installed."""
    path = os.pathsep.join([str(package.parent), os.environ.get("PYTHONPATH", ""), str(ROOT)])
    environ = {**os.environ, "PYTHONPATH": path, "GIGAVQA_HOME": str(package.parent / "home"), "COLUMNS": "200"}
    return subprocess.run(
        [sys.executable, *arguments], env=environ, cwd=package.parent, capture_output=True, text=True, check=False
    )


def gigavqa(package: Path, *arguments: str) -> str:
    """Return what a command prints; a message of an error, too."""
    run = python(package, "-P", "-m", "gigavqa", *arguments)
    return " ".join((run.stdout + run.stderr).replace("│", " ").split())


def test_a_command_is_listed_and_called(package: Path) -> None:
    """By its own module, which help does not import."""
    (package / "greeting.py").write_text(MODULES["greeting"] + "print('imported')\n")
    listed = gigavqa(package, "--help")
    assert "greet Greet somebody." in listed and "imported" not in listed
    assert gigavqa(package, "greet", "Ada") == "imported Hello Ada"


def test_a_command_that_nothing_brings_is_told_with_how_plugins_are_installed(package: Path) -> None:
    """One that was mistyped is told with the one that was meant."""
    told = gigavqa(package, "zzz")
    assert "no such command 'zzz'; plugins bring more: in a checkout of gigavqa `pip install" in told
    assert "Did you mean 'greet'" in gigavqa(package, "gret")


def test_a_model_is_in_the_catalogue_and_its_checkpoint_is_found(package: Path) -> None:
    """`built-in:NAME` is the folder beside the entry."""
    code = """
from pathlib import Path
from gigavqa.catalogue.load import load_catalogue
from gigavqa.workers.checkpoints.build import ensure_checkpoint
print(ensure_checkpoint(load_catalogue()["greeter"].weights, Path("unused")))
"""
    assert python(package, "-c", code).stdout.strip() == str(package / "models" / "greeter")


def test_a_data_set_is_drawn_by_name(package: Path) -> None:
    """As those of this package are."""
    code = "from gigavqa.demo.drawn import drawn_of; print(*(one.name for one in drawn_of('greetings')))"
    assert python(package, "-c", code).stdout == "demo-greetings\n"


@pytest.mark.parametrize("group", BROUGHT)
def test_what_cannot_be_imported_costs_nothing_else(package: Path, group: str) -> None:
    """The log names it, or the error of who wants it."""
    point = BROUGHT[group].split(" = ")[0]
    info = package.parent / "brought-1.0.dist-info" / "entry_points.txt"
    info.write_text(f"[{group}]\n{point} = nothing_of_this_name:NOTHING\n")
    assert "submit" in gigavqa(package, "--help")
    assert MODEL in gigavqa(package, "models")
    asked = {"gigavqa.commands": [point], "gigavqa.models": ["models"]}
    told = gigavqa(package, *asked.get(group, ["dataset", "demo", "--benchmark", point]))
    assert "nothing_of_this_name" in told and "Traceback" not in told
