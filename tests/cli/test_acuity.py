"""`gigavqa acuity`: from nothing to what a model can see, by the real engine and weights that were trained to."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest

from catalogue.load import load_catalogue
from cli.commands.acuity import SIGHTED, thumbnail_for
from demo.drawn import FIRST, drawn_of
from tests.cli.installation import Installation

TEXTS_ALONE = "qwen3-32b"


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Installation, Mapping[str, Any]]]:
    """A new home, and what the command prints there for scripts: the chart is drawn, and a service runs as long."""
    installation = Installation(tmp_path_factory.mktemp("chart") / "home")
    installation.home.mkdir()
    yield installation, installation.json("acuity", "--json", timeout=280)


@pytest.mark.engine
@pytest.mark.timeout(300)
def test_the_small_model_is_at_chance_without_a_picture_and_reads_what_it_is_shown(
    read: tuple[Installation, Mapping[str, Any]],
) -> None:
    """V0 is chance within its interval, and local evidence is read at nine of ten."""
    conditions = read[1]["conditions"]
    assert list(conditions) == ["V0", "V1", "V2", "V3", "V4"]
    assert {(one["n"], one["chance"]) for one in conditions.values()} == {(256, 0.25)}
    assert conditions["V0"]["low"] <= 0.25 <= conditions["V0"]["high"]
    assert conditions["V3"]["accuracy"] >= 0.9


@pytest.mark.engine
@pytest.mark.timeout(300)
def test_its_gaps_are_none_of_chance(read: tuple[Installation, Mapping[str, Any]]) -> None:
    """What is gained by seeing, by the place, and by resolution: each interval lies above 0."""
    gaps = read[1]["gaps"]
    assert set(gaps) == {"visual", "access", "resolution"}
    assert [name for name, gap in gaps.items() if not gap["low"] > 0] == []


@pytest.mark.engine
@pytest.mark.timeout(300)
def test_one_line_says_what_it_sees_and_no_fault_is_found(read: tuple[Installation, Mapping[str, Any]]) -> None:
    """The threshold of all that was shown lies in the line; the page lies in the home, and nothing runs any more."""
    installation, told = read
    assert told["says"].startswith("reads 50 % at ") and "needs V3" in told["says"]
    assert {row["fault"] for row in told["symptoms"]} == {"none"}
    assert (installation.home / "reports" / told["job"] / "report.html").is_file()
    homes = [one.info["environ"].get("GIGAVQA_HOME") for one in psutil.process_iter(["environ"]) if one.info["environ"]]
    assert str(installation.home) not in homes


def test_a_model_of_texts_alone_is_refused(tmp_path: Path) -> None:
    """Before anything is drawn."""
    run = Installation(tmp_path / "home").run("acuity", "-m", TEXTS_ALONE)
    assert run.returncode == 2
    assert "takes texts alone" in run.stderr
    assert not (tmp_path / "home" / "data").exists()


def test_a_thumbnail_has_a_third_of_the_full_image(tmp_path: Path) -> None:
    """At most the usual 1024 pixels; the demo, which asks the same chart, shows the same."""
    catalogue = load_catalogue(tmp_path)
    (chart,) = drawn_of(FIRST)
    assert thumbnail_for(catalogue["qwen3-vl-8b"]) == 1024
    assert chart.options == {"thumbnail": thumbnail_for(catalogue[SIGHTED])}
