"""Tables are readable at any width: a column is shown whole, or left out and named."""

import json
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.benchmarks.ultravr.good_records import GOOD
from tests.cli.installation import Installation, write_dataset
from tests.cli.test_score import write_responses

WIDTHS = (60, 80, 120, 200)


def at(installation: Installation, width: int, *arguments: str) -> tuple[list[str], str]:
    """The lines that a command prints on a terminal of a width, and what it says beside them."""
    narrow = Installation(installation.home, columns=width)
    run = narrow.run(*arguments)
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert max(cell_len(line) for line in lines) <= width
    return lines, run.stderr


@pytest.mark.parametrize("width", WIDTHS)
def test_models_show_their_columns_whole(installation: Installation, width: int) -> None:
    """Every head that is shown has its cells in every line, and every other head is named."""
    lines, said = at(installation, width, "models")
    entries = {entry["id"]: entry for entry in installation.json("models", "--json")}
    heads = lines[0].split()
    told = [line for line in lines[1:] if line.split()[0] in entries]
    assert len(told) == len(entries)
    assert len(lines) - len(told) <= 5  # heads, and the names of groups
    for line in told:
        entry = entries[line.split()[0]]
        assert f" {entry['max_model_len']:,}" in line
        tokens = entry["nominal_visual_tokens"]
        assert (f" {tokens:,}" if tokens else " none") in line
        assert (entry["weights"] in line) == ("weights" in heads)
        assert (entry["licence"] in line) == ("licence" in heads)
    named = "weights" not in heads
    assert ("weights" in said, "licence" in said) == (named, width < 200)


@pytest.mark.parametrize("width", WIDTHS)
def test_what_a_picture_costs_is_shown_whole(installation: Installation, width: int) -> None:
    """V2 and V4 of every model that takes pictures, whatever the width; texts alone refuse it."""
    lines, _ = at(installation, width, "models", "--size", "26753x15052")
    needs = json.loads(installation.ok("models", "--size", "26753x15052", "--json"))
    for entry, line in zip(needs, lines[-len(needs) :], strict=True):
        assert line.startswith(f"{entry['id']} ")
        for condition in ("V2", "V4"):
            needed = entry["picture"]["context_needed"][condition]
            assert (" refused" if needed is None else f" {needed:,}") in line


@pytest.mark.parametrize("width", WIDTHS)
def test_samples_are_found_at_every_width(installation: Installation, width: int) -> None:
    """Ids are whole, and the question takes what is left."""
    write_dataset(installation.home / "data" / "all", list(GOOD.values()))
    lines, _ = at(installation, width, "dataset", "show", "all")
    assert [line.split()[0] for line in lines[1:]] == list(GOOD)
    assert all(record["question"][:20] in line for record, line in zip(GOOD.values(), lines[1:], strict=True))


@pytest.mark.parametrize("width", [24, *WIDTHS])
def test_a_long_path_is_folded_not_cut(installation: Installation, tmp_path: Path, width: int) -> None:
    """Where even the columns that stay do not fit."""
    target = tmp_path / ("long-" * 12 + "name.png")
    lines, _ = at(installation, width, "view", "tiny/images/plaza.png", "-m", "demo-qwen3-vl", "-o", str(target))
    folded = "".join(line.split("  ")[0].strip() for line in lines[1:])
    assert str(target) in folded.replace(" ", "")


@pytest.mark.parametrize("width", WIDTHS)
def test_a_report_shows_its_warnings_whole(installation: Installation, width: int) -> None:
    """They fold; a word that is cut off warns nobody."""
    responses = write_responses(installation.home, "????")
    printed = Installation(installation.home, columns=width).ok("score", "tiny", str(responses))
    printed = " ".join(printed.replace("│", " ").split())
    assert "many answers hold no single clear answer, and are not right: 100 % of 4 in S0 V2" in printed
