"""One home for every command: what `make demo` leaves is what the next command finds."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gigavqa.cli.commands.demo import next_commands, show_report
from gigavqa.demo.drawn import DEFAULT, drawn_of
from tests.benchmarks.vistahop.examples import direct, reported, sample
from tests.cli.installation import Installation

MAKEFILE = Path(__file__).parents[2] / "Makefile"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout whose `gigavqa` says which home it is told of, and leaves a file in it."""
    folder = tmp_path / "checkout"
    for program, line in {
        "scripts/setup": "true",
        ".venv/bin/gigavqa": 'home=${GIGAVQA_HOME:-$HOME/.gigavqa}; mkdir -p "$home"; touch "$home/kept"; echo "$home"',
    }.items():
        (folder / program).parent.mkdir(parents=True)
        (folder / program).write_text(f"#!/bin/sh\n{line}\n")
        (folder / program).chmod(0o755)
    shutil.copy(MAKEFILE, folder / "Makefile")
    return folder


def make(checkout: Path, target: str, **environment: str) -> str:
    """Run `make TARGET` with a home folder beside the checkout, and return what it prints."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIGAVQA_")}
    home = {"HOME": str(checkout.parent)}
    run = subprocess.run(
        ["make", "-s", "-C", str(checkout), target],
        env=clean | home | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout.strip()


def test_make_demo_keeps_its_things_where_every_command_looks(checkout: Path) -> None:
    """In `~/.gigavqa`, or where GIGAVQA_HOME says."""
    assert make(checkout, "demo") == str(checkout.parent / ".gigavqa")
    assert make(checkout, "demo", GIGAVQA_HOME=str(checkout.parent / "own")) == str(checkout.parent / "own")


def test_make_clean_keeps_what_the_service_keeps(checkout: Path) -> None:
    """The environment goes; data sets, jobs and results stay, also those of an older checkout's own home."""
    make(checkout, "demo")
    make(checkout, "demo", GIGAVQA_HOME=str(checkout / ".gigavqa"))
    make(checkout, "clean")
    assert not (checkout / ".venv").exists()
    assert (checkout.parent / ".gigavqa" / "kept").exists()
    assert (checkout / ".gigavqa" / "kept").exists()


def test_the_demo_says_what_to_type_next() -> None:
    """In a shell that does not know the command, or the home, that comes first."""
    programs = str(Path(sys.executable).parent)
    (drawn,) = drawn_of(DEFAULT)
    there, elsewhere = (next_commands({"PATH": path}, "small", drawn) for path in (programs, "/nowhere"))
    assert elsewhere == [f". {programs}/activate", *there]
    own = next_commands({"PATH": programs, "GIGAVQA_HOME": "/data/my home"}, "small", drawn)
    assert own == ["export GIGAVQA_HOME='/data/my home'", *there]
    assert there[0].startswith("gigavqa up --model small   # ")


def test_a_data_set_that_is_not_there_is_named_with_the_command_that_makes_it(tmp_path: Path) -> None:
    """From an empty home."""
    run = Installation(tmp_path / "empty").run("prompt", "any", "--dataset", "demo")
    assert run.returncode != 0
    assert "gigavqa dataset demo" in run.stderr


def test_a_benchmark_without_figures_is_shown_all_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The demo prints the report that it wrote; figures are drawn where a benchmark has any."""
    asked = sample()
    (tmp_path / "report.json").write_text(reported([asked], [direct(asked, "1911")]).model_dump_json())
    show_report(tmp_path, with_tables=True)
    assert "Table 4: what tools add" in capsys.readouterr().out
    assert not (tmp_path / "figures").exists()


def test_of_questions_that_its_model_never_learned_the_demo_prints_the_work_and_no_score(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command that prints the tables stands behind it."""
    asked = sample()
    (tmp_path / "report.json").write_text(reported([asked], [direct(asked, "1911")]).model_dump_json())
    show_report(tmp_path, with_tables=False)
    printed = capsys.readouterr().out
    assert "Requests" in printed
    assert "gigavqa demo --benchmark vistahop" in printed
    assert "Table 4" not in printed
