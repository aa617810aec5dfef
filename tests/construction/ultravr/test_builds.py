"""Builds whose questions are UltraVR's records: asked for, published, explained and exported as any other."""

import json
from collections import Counter
from pathlib import Path

import pytest

from gigavqa.benchmarks.ultravr.checks import check_sample
from gigavqa.benchmarks.ultravr.samples import UltraVRSample
from gigavqa.construction.build_folder import BuildFolder
from gigavqa.construction.build_settings import BuildSettings
from gigavqa.construction.build_summary import BuildSummary
from gigavqa.construction.builds import Build
from gigavqa.construction.errors import BuildError
from gigavqa.construction.evidence_pictures import draw_evidence
from gigavqa.construction.explaining import explain_build
from gigavqa.construction.exports import write_coco
from gigavqa.construction.page import render_page
from gigavqa.construction.publishing import publish, reviewed_records
from gigavqa.construction.recipes.recipe import CategoryNames
from gigavqa.evaluation.datasets import load_dataset
from tests.construction.ultravr.drawn import write_dota

_IMAGES = 24
_NAMES = {"ship": CategoryNames("ship", "ships")}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Drawn images and DOTA's labels."""
    return write_dota(tmp_path_factory.mktemp("inputs"), _IMAGES)


@pytest.fixture(scope="module")
def build(inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Build:
    """A build of them."""
    return _build(inputs, tmp_path_factory.mktemp("builds"))


def _build(inputs: Path, builds: Path, **changed: object) -> Build:
    told = {"source": inputs / "labels", "images": inputs / "images", "benchmark": "ultravr", "names": _NAMES}
    made = Build(BuildFolder(builds, "port"), BuildSettings.model_validate(told | changed))
    with made.folder.locked():
        made.run()
    return made


def test_a_build_is_published_as_a_data_set_of_its_benchmark(build: Build, inputs: Path, tmp_path: Path) -> None:
    """Every sample keeps the paper's rules, and reviews apply to its record."""
    made = publish(
        build.folder, build.folder.file("samples.jsonl"), inputs / "images", tmp_path, benchmark="ultravr", title=""
    )
    samples = load_dataset(made.folder).samples
    assert len(samples) == BuildSummary.of(build).questions > 8
    assert [problem for one in samples if isinstance(one, UltraVRSample) for problem in check_sample(one)] == []
    assert {one.benchmark for one in build.recipes} == {"ultravr"}
    assert reviewed_records(made.folder, build.records())[1].unreviewed == len(samples)


def test_its_quotas_hold_for_each_category(build: Build) -> None:
    """Three questions of an image at most, and 40 in all, of each recipe."""
    recipes = Counter(record["id"].rpartition("-")[0] for record in build.records())
    images = Counter((record["id"].rpartition("-")[0], record["image"]) for record in build.records())
    assert max(images.values()) == 3
    assert max(recipes.values()) <= 40


def test_given_quotas_stand_in_place_of_them(build: Build, inputs: Path, tmp_path: Path) -> None:
    """One question of an image, then as many as there are."""
    few = _build(inputs, tmp_path / "few", per_image=1)
    assert set(Counter(record["image"] for record in few.records()).values()) == {1}
    many = _build(inputs, tmp_path / "many", per_image=1000, per_recipe=0)
    assert sum(1 for _ in many.records()) > sum(1 for _ in build.records())


def test_its_questions_are_explained_shown_and_exported(build: Build, inputs: Path, tmp_path: Path) -> None:
    """As those of any benchmark, with options and evidence."""
    record = next(build.records())
    assert explain_build(build, record["id"])["outcome"] == "it is a question of the data set"
    page = render_page(BuildSummary.of(build), build.records(), lambda each: draw_evidence(inputs / "images", each))
    assert record["options"][record["answer"]] in page
    write_coco(tmp_path / "out.json", build.images(), build.records())
    asked = json.loads((tmp_path / "out.json").read_bytes())["questions"]
    assert {one["id"]: one["options"] for one in asked}[record["id"]] == record["options"]


def test_recipes_of_another_benchmark_are_refused(inputs: Path, tmp_path: Path) -> None:
    """And benchmarks that no recipe makes records of."""
    with pytest.raises(BuildError, match="ultravr has no recipe 'count'"):
        _build(inputs, tmp_path, recipes=("count",))
    with pytest.raises(BuildError, match="did you mean 'ultravr'"):
        _build(inputs, tmp_path, benchmark="utlravr")
