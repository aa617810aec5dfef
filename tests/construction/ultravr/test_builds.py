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
from tests.construction.cutting import build_with_cuts
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


def test_a_build_that_is_cut_at_any_file_goes_on_to_the_same_records(
    build: Build, inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever was written of it."""
    cut = build_with_cuts(lambda: _build(inputs, tmp_path), monkeypatch)
    assert cut.cuts > 5
    assert cut.build.folder.file("samples.jsonl").read_bytes() == build.folder.file("samples.jsonl").read_bytes()


def test_what_people_add_is_read_or_refused_by_name(inputs: Path, tmp_path: Path) -> None:
    """Landmarks by image, attributes by object, bundles by their values."""
    landmarks, table, bundles = (tmp_path / name for name in ("landmarks.csv", "table.csv", "bundles.toml"))
    landmarks.write_text(
        "image,category,x1,y1,x2,y2,landmark\nP0000.png,building,10,10,200,200,the red-roofed building\n"
    )
    table.write_text("object,color\nP0000.txt#1,red\nP0000.txt#2,blue\n")
    bundles.write_text('[[bundles]]\nlabel = "red ships"\ncategory = "ship"\nattributes = {color = "red"}\n')
    added = {"landmarks": landmarks, "attributes": table, "bundles": bundles}
    made = _build(inputs, tmp_path / "good", **added)
    first = next(made.images())
    assert [one.attributes["landmark"] for one in first.landmarks] == ["the red-roofed building"]
    assert [one.attributes.get("color") for one in first.annotations[:2]] == ["red", "blue"]
    assert made.context.bundles[0].label == "red ships"
    table.write_text("object,color\nP0000.txt#99,red\n")
    with pytest.raises(BuildError, match=r"there is no object P0000\.txt#99"):
        _build(inputs, tmp_path / "a", attributes=table)
    table.write_text("name,color\nP0000.txt#1,red\n")
    with pytest.raises(BuildError, match="has no column 'object'"):
        _build(inputs, tmp_path / "b", attributes=table)
    bundles.write_text('[[bundles]]\nlabel = "red ships"\ncategory = "boat"\n')
    with pytest.raises(BuildError, match="bundle 1: category: no annotation is of 'boat'"):
        _build(inputs, tmp_path / "c", bundles=bundles)
    landmarks.write_text("image,category,x1,y1,x2,y2\nP9999.png,building,10,10,200,200\n")
    with pytest.raises(BuildError, match=r"--landmarks: .*P9999\.png"):
        _build(inputs, tmp_path / "d", landmarks=landmarks)


def test_annotations_of_any_form_ask_for_recipes_by_name(inputs: Path, tmp_path: Path) -> None:
    """COCO does not say whether it shows land or a street."""
    build = _build(inputs, tmp_path / "dota")
    write_coco(tmp_path / "coco.json", build.images(), build.records())
    with pytest.raises(BuildError, match="COCO does not say what its images show; name the recipes"):
        _build(inputs, tmp_path / "coco", source=tmp_path / "coco.json")
    named = _build(inputs, tmp_path / "named", source=tmp_path / "coco.json", recipes=("rs-relational-inference",))
    assert {record["domain"] for record in named.records()} == {"rs"}
