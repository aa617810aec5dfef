"""Builds of products and of slides, from their folders to data sets: true, repeatable, and gone on with when cut."""

import csv
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from gigavqa.benchmarks.ultravr.checks import check_sample
from gigavqa.benchmarks.ultravr.samples import UltraVRSample
from gigavqa.construction.build_folder import BuildFolder
from gigavqa.construction.build_settings import BuildSettings
from gigavqa.construction.build_summary import BuildSummary
from gigavqa.construction.builds import Build
from gigavqa.construction.composites import compose_alone
from gigavqa.construction.errors import BuildError
from gigavqa.construction.publishing import publish
from gigavqa.evaluation.datasets import load_dataset
from gigavqa.tiling.geometry import Region
from gigavqa.tiling.sources import open_source
from tests.construction.cutting import build_with_cuts
from tests.construction.ultravr.drawn_slides import draw_slides
from tests.construction.ultravr.products import DEFECT, SIZE, VIOLATED, draw_product
from tests.construction.ultravr.slide_oracle import right_letter

_SLIDES = 40
_REPORTED = ("focality", "in_situ", "invasive", "lvi", "histologic_type")


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of pushpins."""
    return draw_product(tmp_path_factory.mktemp("products"))


@pytest.fixture(scope="module")
def slides(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with what is known of drawn slides, beside small pictures that stand for them."""
    folder = tmp_path_factory.mktemp("slides")
    for name in ("images", "known/regions"):
        (folder / name).mkdir(parents=True)
    asked = []
    with (folder / "known" / "reports.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["slide", *_REPORTED])
        for slide in draw_slides("rare", _SLIDES):
            stem = slide.image.removesuffix(".svs")
            Image.new("L", (600, 480)).save(folder / "images" / f"{stem}.png")
            table.writerow([stem, *(slide.labels.get(name, "") for name in _REPORTED)])
            if "grade" in slide.labels:
                asked.append({"Id": stem, "Question": "What is the grade?", "Answer": f"Grade {slide.labels['grade']}"})
            features = [_feature(one.category, [v / 100 for v in one.rings[0]]) for one in slide.annotations]
            text = json.dumps({"type": "FeatureCollection", "features": features})
            (folder / "known" / "regions" / f"{stem}.geojson").write_text(text, encoding="utf-8")
    (folder / "known" / "wsivqa.json").write_text(json.dumps(asked), encoding="utf-8")
    return folder


def _feature(category: str, ring: list[float]) -> dict[str, Any]:
    points = [[ring[at], ring[at + 1]] for at in range(0, len(ring), 2)]
    geometry = {"type": "Polygon", "coordinates": [[*points, points[0]]]}
    told = {"objectType": "annotation", "classification": {"name": category}}
    return {"type": "Feature", "geometry": geometry, "properties": told}


def _build(source: Path, images: Path, builds: Path, **changed: object) -> Build:
    told = {"source": source, "images": images, "benchmark": "ultravr"}
    made = Build(BuildFolder(builds, "made"), BuildSettings.model_validate(told | changed))
    with made.folder.locked():
        made.run()
    return made


def _grids(product: Path, builds: Path, **changed: object) -> Build:
    return _build(product, product.parent, builds, recipes=("ad-anomaly",), **changed)


def _samples(build: Build, data: Path) -> list[UltraVRSample]:
    lines = build.folder.file("samples.jsonl")
    made = publish(build.folder, lines, build.image_folder, data, benchmark="ultravr", title="")
    samples = load_dataset(made.folder).samples
    assert all(isinstance(one, UltraVRSample) and not check_sample(one) for one in samples)
    return [one for one in samples if isinstance(one, UltraVRSample)]


@pytest.mark.parametrize("answers", ["coordinate", "choices"])
def test_a_products_folder_becomes_questions_whose_truth_is_in_the_pixels(
    answers: str, product: Path, tmp_path: Path
) -> None:
    """The cell that the data set's own picture shows as anomalous is the answer, and its defect the steps."""
    build = _grids(product, tmp_path / "builds", parameters={"answers": answers})
    samples = _samples(build, tmp_path / "data")
    assert Counter(one.category for one in samples) == {"logical_anomaly": 2, "structural_anomaly": 2}
    for one in samples:
        ((cell, defect),) = _anomalies(tmp_path / "data" / "made" / one.images[0])
        told = one.options[one.answer] if one.options else one.answer
        assert told == f"({cell[0]}, {cell[1]})"
        denied = {step.question for step in one.steps if step.ground_truth is False}
        assert denied == {f"Do all cells satisfy this condition: {text}?" for text in VIOLATED[defect]}
    assert build.omissions["counts"] == {"unmapped": 2}


def _anomalies(path: Path) -> Iterator[tuple[tuple[int, int], str]]:
    """Look into every cell of a grid of pushpins for what is no normal picture."""
    names = {255: "missing_pushpin", 254: "front_bent"}
    with open_source(path) as grid:
        for row in range(10):
            for column in range(10):
                value = int(grid.read(0, Region(column * SIZE[0], row * SIZE[1] + DEFECT, 1, 1))[0, 0, 2])
                if value:
                    yield (row + 1, column + 1), names[value]


def test_a_slides_folder_becomes_questions_whose_truth_is_in_its_tables(slides: Path, tmp_path: Path) -> None:
    """Read off the texts by a reader of the drawn findings; those that await an expert are asked and not scored."""
    build = _build(slides / "known", slides / "images", tmp_path / "builds")
    labels = {slide.image.removesuffix(".svs"): slide.labels for slide in draw_slides("rare", _SLIDES)}
    samples = _samples(build, tmp_path / "data")
    records = {record["id"]: record for record in build.records()}
    templates = Counter(one.subcategory for one in samples)
    assert set(templates) == {"T1", "T2", "T3", "T4"}
    for one in samples:
        if one.subcategory == "T4":
            assert not one.answer
            assert not one.scored
        else:
            assert one.answer == right_letter(records[one.id], labels[records[one.id]["slide"]])
    assert {record["patient"] for record in records.values()} <= {name[:12] for name in labels}
    assert {record["steps_by"] for record in records.values()} == {"preset"}
    assert BuildSummary.of(build).questions == len(samples)


def test_the_printed_scheme_is_kept_and_its_guessing_is_told(slides: Path, tmp_path: Path) -> None:
    """A build drops none of its questions, and the scores say that they are guessed."""
    how = {"recipes": ("wsi-summary",), "parameters": {"t3": "paper"}}
    build = _build(slides / "known", slides / "images", tmp_path, **how)
    scores = build.folder.read_json("guessing.json")["after"]
    assert any(score["guesses"] and score["right"] == 1.0 for score in scores)
    assert sum(1 for _ in build.records()) > 15
    assert not build.folder.read_json("selection.json")["guessable"]


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes_and_another_one_other_questions(
    product: Path, slides: Path, tmp_path: Path
) -> None:
    """Of grids the pictures, too."""
    for source, images, how in (
        (product, product.parent, {"recipes": ("ad-anomaly",)}),
        (slides / "known", slides / "images", {}),
    ):
        builds = {name: tmp_path / source.name / name for name in ("one", "same", "other")}
        made = {
            name: _build(source, images, folder, seed=int(name == "other"), **how) for name, folder in builds.items()
        }
        lines = {name: build.folder.file("samples.jsonl").read_bytes() for name, build in made.items()}
        assert lines["one"] == lines["same"] != lines["other"]
        if how:
            one, same = (sorted(made[name].image_folder.iterdir()) for name in ("one", "same"))
            assert [path.read_bytes() for path in one] == [path.read_bytes() for path in same]


def test_a_build_that_is_cut_at_any_file_goes_on_to_the_same_questions(
    product: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And no grid that is whole is composed again."""
    whole = _grids(product, tmp_path / "whole").folder.file("samples.jsonl").read_bytes()
    composed: dict[str, int] = {}

    def build() -> Build:
        try:
            return _grids(product, tmp_path / "cut")
        finally:
            for path in (tmp_path / "cut" / "made").glob("composites/*"):
                assert composed.setdefault(path.name, path.stat().st_mtime_ns) == path.stat().st_mtime_ns

    cut = build_with_cuts(build, monkeypatch)
    assert cut.cuts > 5
    assert len(composed) == 4
    assert cut.build.folder.file("samples.jsonl").read_bytes() == whole


def test_a_grid_that_is_lost_is_composed_again_and_one_of_other_settings_goes(product: Path, tmp_path: Path) -> None:
    """What hangs on neither stays."""
    build = _grids(product, tmp_path)
    first, *others = sorted(build.image_folder.iterdir())
    before = {path: path.stat().st_mtime_ns for path in others}
    first.unlink()
    again = _grids(product, tmp_path)
    assert first.is_file()
    assert {path: path.stat().st_mtime_ns for path in others} == before
    fewer = _grids(product, tmp_path, parameters={"grids": "1"})
    assert len(list(fewer.image_folder.iterdir())) == 2
    assert fewer.omissions["counts"] == {"unmapped": 2, "not-needed": 2}
    assert again.recipes[0].version == fewer.recipes[0].version


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"answer": "choices"}, "did you mean 'answers'"),
        ({"answers": "letters"}, "is none of coordinate, choices"),
        ({"rows": "0"}, "from 1 on"),
        ({"rows": "11"}, "needs 109 normal pictures, and there are 99"),
        ({"defects": "none.toml"}, "none.toml"),
    ],
)
def test_parameters_that_cannot_be_are_refused(
    parameters: dict[str, str], told: str, product: Path, tmp_path: Path
) -> None:
    """By name, with what could be."""
    with pytest.raises(BuildError, match=told):
        _grids(product, tmp_path, parameters=parameters)


def test_grids_are_composed_without_a_build(product: Path, tmp_path: Path) -> None:
    """The same ones that a build composes, with a page of what is where."""
    made, omissions = compose_alone(product, tmp_path / "out", {"grids": "1"}, 0)
    names = {one.image.image for one in made}
    assert {path.name for path in (tmp_path / "out").iterdir()} == {*names, "composition.json"}
    assert names <= {path.name for path in _grids(product, tmp_path / "builds").image_folder.iterdir()}
    assert omissions.counts == {"unmapped": 2, "not-needed": 2}
    (tmp_path / "empty").mkdir()
    with pytest.raises(BuildError):
        compose_alone(tmp_path / "empty", tmp_path / "out", {}, 0)
