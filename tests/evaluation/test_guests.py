"""Benchmarks are found by the entry points of what is installed; a broken one keeps no other from its work."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from gigavqa.evaluation.benchmark import Scene
from gigavqa.evaluation.errors import AnnotationInvalidError
from gigavqa.tiling.geometry import Size

ROOT = Path(__file__).parents[2]
LISTED = "from gigavqa.evaluation.installed import installed_benchmarks; print(*installed_benchmarks())"


def installed(folder: Path, *, name: str, code: str) -> None:
    """What an installation leaves behind: a module, and beside it what it is called and brings."""
    (folder / f"{name}_guest.py").write_text(code)
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[gigavqa.benchmarks]\n{name} = {name}_guest:Guest\n")


def run(folder: Path, code: str) -> "subprocess.CompletedProcess[str]":
    """Run Python where the folder's packages are installed."""
    environ = {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}
    return subprocess.run(
        [sys.executable, "-c", code], env=environ, cwd=folder, capture_output=True, text=True, check=False
    )


def test_a_data_set_of_a_broken_package_says_why(tmp_path: Path) -> None:
    """It is no unknown name: the reason is told where it is asked for."""
    installed(tmp_path, name="cracked", code="import nothing_of_this_name\n")
    (tmp_path / "tiny" / "samples").mkdir(parents=True)
    (tmp_path / "tiny" / "dataset.toml").write_text('name = "tiny"\nbenchmark = "cracked"\n')
    code = "from pathlib import Path; from gigavqa.evaluation.datasets import load_dataset; load_dataset(Path('tiny'))"
    assert "dataset.toml: benchmark 'cracked' cannot be loaded: cracked_guest:Guest:" in run(tmp_path, code).stderr


PLAIN = """
from gigavqa.contract.requests import Turn
from gigavqa.evaluation.benchmark import Benchmark, Chat, cross_plan
from gigavqa.evaluation.samples import Sample


class Guest(Benchmark[Sample]{offers}):
    name, title, sample_type = "{name}", "Guest", Sample
    plans, protocols = {{"guest": cross_plan("ask", "V2")}}, {{"ask": "directly"}}

    def ask(self, sample, cell, scene):
        return Chat(scene.views(cell.condition), (Turn(parts=(sample.question,)),), "guest/1")
{more}
"""
"""A benchmark that says no more than it must, but for what a test adds."""
JUDGED = "    judge_prompts = {}\n    cases = ask_judge = read_judgement = judged_with = lambda self, *args: ()\n"


def plain(name: str, *, offers: str = "", more: str = "") -> str:
    """Its code, where its class line offers so and it has more members."""
    return PLAIN.format(name=name, offers=offers, more=more)


JUDGE = "    def judge(self, sample):\n        return super().judge(sample)\n"
OFFERS = "import gigavqa.evaluation.capabilities as may\n"
GUESTS = {
    "cracked": "import nothing_of_this_name\n",
    "earlier": plain("earlier", more="    def checklist(self, sample):\n        return ()\n"),
    "offered": OFFERS
    + plain("offered", offers=", may.ModelJudging, may.PaperSettings", more=JUDGED + "    decoding = {}\n"),
    "sole": plain("sole", more=JUDGE),
    "undeclared": plain("undeclared", more=JUDGED + "    decoding = {}\n"),
    "untitled": plain("untitled", more="    del title\n"),
    "zebra": "from gigavqa.benchmarks.ultravr.benchmark import UltraVR as Guest\n",
}


@dataclass(frozen=True)
class Listed:
    """What a process that looks for benchmarks finds, and why it does not load the others."""

    found: list[str]
    told: dict[str, str]


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> Listed:
    """All of them installed beside each other."""
    folder = tmp_path_factory.mktemp("guests")
    for name, code in GUESTS.items():
        installed(folder, name=name, code=code)
    ended = run(folder, LISTED)
    lines = (re.fullmatch(r"benchmark '(\w+)' cannot be loaded: (.*)", line) for line in ended.stderr.splitlines())
    return Listed(ended.stdout.split(), {line[1]: line[2] for line in lines if line})


def test_a_broken_package_is_told_and_others_are_found(listed: Listed) -> None:
    """Its import fails; what it is and why stands in one line."""
    assert "ultravr" in listed.found
    assert "cracked" not in listed.found
    assert listed.told["cracked"] == "cracked_guest:Guest: ModuleNotFoundError: No module named 'nothing_of_this_name'"


def test_a_benchmark_alone_is_found(listed: Listed) -> None:
    """One that names no more than the interface, as those of earlier releases did."""
    assert "sole" in listed.found


def test_what_a_class_line_does_not_offer_is_told(listed: Listed) -> None:
    """The host would never ask for it: one sentence names the members, and the line that offers them."""
    assert "undeclared" not in listed.found
    assert listed.told["undeclared"].partition("TypeError: ")[2] == (
        "Guest has `ask_judge`, `cases`, `judge_prompts`, `judged_with`, `read_judgement`, `decoding`, which its class "
        "line does not offer: write `class Guest(Benchmark[...], ModelJudging, PaperSettings)`, from "
        "gigavqa.evaluation.capabilities"
    )


def test_the_line_that_is_told_is_what_it_takes(listed: Listed) -> None:
    """The same members, offered."""
    assert "offered" in listed.found


def test_members_of_earlier_releases_are_told_by_what_they_are_now(listed: Listed) -> None:
    """Those whose work another member does."""
    told = listed.told["earlier"].partition("TypeError: ")[2]
    assert told == "Guest is written for an earlier release: `checklist` is now part of `check`"


def test_what_a_benchmark_must_say_is_missed_at_once(listed: Listed) -> None:
    """Not by whoever asks for it first."""
    assert listed.told["untitled"].partition("TypeError: ")[2] == "Guest says no title"


def test_of_two_of_one_name_the_second_is_told(listed: Listed) -> None:
    """In the order of their entry points, so that the same one is found every time."""
    assert listed.found.count("ultravr") == 1
    assert listed.told["zebra"] == "zebra_guest:Guest: ValueError: its name 'ultravr' is that of another"


def test_each_package_is_found_or_told_and_nothing_else_is(listed: Listed) -> None:
    """In one line each."""
    assert {*listed.told} == {*GUESTS} - {"sole", "offered"}


def test_evidence_that_is_no_view_is_told_in_a_sentence() -> None:
    """What a guest declares in a way of its own is its fault, and says so."""
    scene = Scene(("a.png",), lambda name: Size(100, 100), "0:x", 64, None)
    with pytest.raises(AnnotationInvalidError, match=r"declares local evidence as \(0, 0, 9, 9\), in place of View"):
        scene.views("V3", lambda: cast(Any, ((0, 0, 9, 9),)))
