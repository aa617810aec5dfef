"""From annotations to a report: a data set that a build made is asked, answered and tabled as any other."""

from pathlib import Path

import pytest

from gigavqa.construction.build_folder import BuildFolder
from gigavqa.construction.build_settings import BuildSettings
from gigavqa.construction.builds import Build
from gigavqa.construction.publishing import publish
from gigavqa.construction.recipes.recipe import CategoryNames
from gigavqa.evaluation.datasets import load_dataset
from tests.benchmarks.scripted import Asked, play
from tests.construction.ultravr.drawn import write_dota
from tests.reports.tables import percents_of


@pytest.mark.slow
def test_whoever_reads_the_truth_is_right_every_time(tmp_path: Path) -> None:
    """Under UltraVR's first table on the simulated engine."""
    inputs = write_dota(tmp_path / "inputs", 8)
    settings = BuildSettings(
        source=inputs / "labels",
        images=inputs / "images",
        benchmark="ultravr",
        names={"ship": CategoryNames("ship", "ships")},
        per_recipe=8,
    )
    build = Build(BuildFolder(tmp_path / "builds", "port"), settings)
    with build.folder.locked():
        build.run()
    records = build.folder.file("samples.jsonl")
    folder = publish(
        build.folder, records, settings.images, tmp_path / "home" / "data", benchmark="ultravr", title=""
    ).folder
    truths = {sample.id: sample.truth for sample in load_dataset(folder).samples}

    def script(asked: Asked) -> str:
        return f"Final answer: {truths[asked.sample]}"

    played = play(tmp_path / "home", "port", "table1", script)
    assert len(truths) > 8
    assert percents_of(played.report, "table1")["macro"] == 100
