"""Help that teaches, at once."""

import re
import subprocess
import sys
from itertools import pairwise

import pytest

from gigavqa.cli.commands import ADMIN, COMMANDS
from gigavqa.demo.ultravr.ad.grid import plan_grid
from gigavqa.demo.ultravr.ad.products import PRODUCTS
from gigavqa.demo.ultravr.ad.samples import grid_records
from tests.cli.command_tree import TREE, NamedCommand
from tests.cli.installation import Installation

WIDTHS = (60, 72, 80, 93, 100, 110, 120)
MOST_LINES = 42
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


def texts(text: str) -> list[str]:
    """The lines of a help that are no examples."""
    return [line for line in text.splitlines() if not re.match(r"  (\S+=\S+ )*(gigavqa|curl) ", line)]


def test_the_first_screen_shows_every_command_in_its_group() -> None:
    """A line each, on one screen of 80 columns; older spellings are not on it."""
    text = TREE[0].help(80)
    lines = text.splitlines()
    assert [
        name for name, entry in COMMANDS.items() if not re.search(rf" {name} +{re.escape(entry.help)}\n", text)
    ] == []
    assert [name for name in ADMIN if re.search(rf"^\S* +{name} ", text, re.MULTILINE)] == []
    assert len(lines) <= MOST_LINES
    assert max(map(len, lines)) <= 80
    groups = list(dict.fromkeys(re.findall(r"^([A-Z][a-z]+)  ", text, re.MULTILINE)))
    assert groups == ["Start", "Evaluate", "Jobs", "Look", "Data", "Operate", "Plugins"]


@pytest.mark.parametrize("named", TREE[1:], ids=str)
def test_help_of_every_command_and_group_shows_an_example(named: NamedCommand) -> None:
    """At least one line that can be typed."""
    assert f" gigavqa {named}" in named.help(80)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("named", TREE, ids=str)
def test_help_fills_the_lines_of_every_terminal(named: NamedCommand, width: int) -> None:
    """No line is longer than the terminal, and none ends where the next word would have fitted."""
    lines = texts(named.help(width))
    assert [line for line in lines if len(line) > width] == []
    short = [
        line
        for line, following in pairwise(lines)
        if continues(line, following) and len(line) + 2 + len(following.split()[0]) <= width - 2
    ]
    assert short == []


def continues(line: str, following: str) -> bool:
    """Whether the second of two lines goes on with the first: a paragraph, or a text beside a name."""
    indent = len(following) - len(following.lstrip())
    is_row = re.match(r"\S* +[a-z]+ {2,}", following)
    if not line.strip() or not following.strip() or line.endswith(":") or is_row:
        return False
    is_outer = line.startswith("  ") and line[2] != " "
    is_name = is_outer and (line[2] == "-" or "  " in line.strip())
    if indent == 2:
        return is_outer and not is_name and following[2] != "-" and "  " not in following.strip()
    return indent > 2 and not (is_outer and "  " not in line.strip())


@pytest.mark.parametrize("named", TREE, ids=str)
def test_what_an_option_takes_is_shown_in_one_way(named: NamedCommand) -> None:
    """In capitals or by its choices; a flag takes nothing, and no type of Python is named."""
    names = re.findall(r"^  (-\S.*?)(?:  |$)", named.help(100).partition("\nOptions:")[2], re.MULTILINE)
    assert [name for name in names if not re.fullmatch(r"(-\w, )?--[\w-]+( / --[\w-]+)?( [^<>\s]+)?", name)] == []
    assert not re.search(r"<\w|\[x>|<=x", named.help(100))


def test_older_spellings_are_taken(installation: Installation) -> None:
    """Scripts and manifests of earlier versions go on."""
    for name in ADMIN:
        old, new = (installation.ok(*words, "--help") for words in ((name,), ("admin", name)))
        assert old.splitlines()[1:] == new.splitlines()[1:]
    assert installation.run("keys", "list").stderr == installation.run("admin", "keys", "list").stderr


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


def test_what_is_listed_of_a_command_is_how_its_own_help_begins() -> None:
    """`gigavqa --help` imports no command: its lines are written beside the commands' modules, and must agree."""
    listed = {**COMMANDS, **{f"admin {name}": entry for name, entry in ADMIN.items()}}
    for named in TREE[1:]:
        if entry := listed.get(str(named)):
            text = " ".join(named.help(120).split())
            assert text.startswith(f"Usage: gigavqa {named} [OPTIONS]")
            assert f" {entry.help}" in text


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


@pytest.mark.slow
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
from gigavqa.cli.app import main
from gigavqa.cli.commands import ADMIN, COMMANDS
for name in (*COMMANDS, *ADMIN):
    sys.argv[1:] = [name, "--help"]
    try:
        main()
    except SystemExit as ended:
        assert not ended.code, name
"""
    run = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert [name for name in (*COMMANDS, *ADMIN) if f"Usage: gigavqa {name} " not in run.stdout] == []


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
