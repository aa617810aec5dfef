"""`gigavqa acuity`: from nothing to what a model can see, by the real engine and weights that were trained to."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from gigavqa.catalogue.load import load_catalogue
from gigavqa_acuity.chart.dataset import DRAWN
from gigavqa_acuity.command import thumbnail_for
from gigavqa_acuity.commands import ACUITY
from plugins.acuity.tests.files import DIRECTION, SIGN, write
from tests.cli.conftest import start_service, stop_service
from tests.cli.installation import Installation

TEXTS_ALONE = "qwen3-32b"
OPTIONS = {"--again", "--json", "--model", "-m", "--port", "--report", "--thumbnail", "--url"}
"""What scripts may name, now and later."""


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


def test_help_lists_the_command_as_its_own_help_begins(tmp_path: Path) -> None:
    """`gigavqa --help` imports no command, so that its line is written apart; examples and options are there."""
    here = Installation(tmp_path / "home")
    listed, own = (" ".join(here.ok(*words).split()) for words in (("--help",), ("acuity", "--help")))
    assert " acuity " in listed and ACUITY.help in own
    assert "gigavqa acuity -m qwen3-vl-8b" in own
    assert {*own.split()} >= OPTIONS


def test_a_model_of_texts_alone_is_refused(tmp_path: Path) -> None:
    """Before anything is drawn."""
    run = Installation(tmp_path / "home").run("acuity", "-m", TEXTS_ALONE)
    assert run.returncode == 2
    assert "takes texts alone" in run.stderr
    assert not (tmp_path / "home" / "data").exists()


@pytest.mark.slow
def test_a_gateway_that_has_the_chart_is_asked(tmp_path: Path) -> None:
    """Nothing is drawn here, and no second service starts; its answers are those of the simulated engine."""
    there, here = Installation(tmp_path / "there"), Installation(tmp_path / "here")
    write(there.home / "data" / DRAWN.name, [SIGN, DIRECTION])
    service = start_service(there, DRAWN.model)
    try:
        told = replace(here, url=service.installation.url).json("acuity", "--json")
        assert told["conditions"]["V3"]["n"] == 2
        assert [job["id"] for job in service.installation.json("jobs", "--json")] == [told["job"]]
    finally:
        stop_service(service)
    assert not (here.home / "data").exists()


def test_a_gateway_of_another_machine_is_not_replaced_by_a_service_of_this_one(tmp_path: Path) -> None:
    """What was to be checked is there: the chart is neither drawn nor asked here."""
    run = Installation(tmp_path / "home", url="http://gateway.invalid:8470").run("acuity", "-m", DRAWN.model)
    assert run.returncode == 4
    assert "no gateway answers at http://gateway.invalid:8470; " in run.stderr
    assert not (tmp_path / "home" / "data").exists()


def test_a_thumbnail_has_a_third_of_the_full_image(tmp_path: Path) -> None:
    """At most the usual 1024 pixels; the demo, which asks the same chart, shows the same."""
    catalogue = load_catalogue(tmp_path)
    assert thumbnail_for(catalogue["qwen3-vl-8b"]) == 1024
    assert DRAWN.options == {"thumbnail": thumbnail_for(catalogue[DRAWN.model])}
