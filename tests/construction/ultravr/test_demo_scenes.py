"""The demo's drawn worlds as files of annotations: what recipes find in them is what was drawn."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gigavqa.construction.additions import LANDMARK
from gigavqa.construction.annotations import AnnotatedImage, Annotation, Box, Omission, Omissions
from gigavqa.construction.bundles import Bundle
from gigavqa.construction.candidates import Candidate
from gigavqa.construction.readers.reader import ImageOnDisk, ReaderOptions
from gigavqa.construction.readers.registry import find_reader
from gigavqa.construction.recipes.recipe import CategoryNames, RecipeContext
from gigavqa.construction.ultravr.bundle_objects import bundle_objects
from gigavqa.construction.ultravr.landmarks import Condition, satisfying
from gigavqa.construction.ultravr.regions import normalized, objects_by_region
from gigavqa.demo.ultravr.cctv.figures import KINDS as FIGURES
from gigavqa.demo.ultravr.cctv.samples import plaza_records
from gigavqa.demo.ultravr.cctv.scene import SIZE as PLAZA
from gigavqa.demo.ultravr.cctv.scene import Plaza, plan_plaza
from gigavqa.demo.ultravr.rs.objects import KINDS as THINGS
from gigavqa.demo.ultravr.rs.samples import land_records
from gigavqa.demo.ultravr.rs.scene import SIZE as LAND
from gigavqa.demo.ultravr.rs.scene import Land, plan_land
from tests.construction.ultravr.worlds import RECIPES


class _OneImage:
    """An index of one image that is nowhere: readers ask for its size alone."""

    folder = Path()

    def __init__(self, name: str, width: int, height: int) -> None:
        self._image = ImageOnDisk(name, width, height)

    def find(self, written: str, *, by_beginning: bool = False) -> ImageOnDisk | Omission:
        return self._image

    def names(self) -> Iterator[str]:
        yield self._image.name


def _read(source: Path, name: str, size: tuple[int, int]) -> AnnotatedImage:
    omissions = Omissions()
    (image,) = find_reader(source, None).read(source, _OneImage(name, *size), omissions, ReaderOptions())
    assert not len(omissions)
    return image


@pytest.fixture(scope="module")
def plaza() -> Plaza:
    """The plaza of a seed."""
    return plan_plaza(7)


@pytest.fixture(scope="module")
def land() -> Land:
    """The land of a seed."""
    return plan_land(7)


@pytest.fixture(scope="module")
def crowd(plaza: Plaza, tmp_path_factory: pytest.TempPathFactory) -> AnnotatedImage:
    """The plaza as PANDA has it, with what people would say of who faces where and wears what."""
    width, height = PLAZA
    objects = []
    for figure in plaza.figures:
        x1, y1, x2, y2 = figure.box
        body = {"tl": {"x": x1 / width, "y": y1 / height}, "br": {"x": x2 / width, "y": y2 / height}}
        clothing = figure.clothing or "dull"
        told = {"pose": figure.kind, "facing": figure.facing, "upper clothing": clothing, "age": "adult"}
        objects.append({"category": "person", **told, "rects": {"visible body": body}})
    file = tmp_path_factory.mktemp("panda") / "person.json"
    document = {"plaza.jpg": {"image size": {"width": width, "height": height}, "objects list": objects}}
    file.write_text(json.dumps(document), encoding="utf-8")
    return _read(file, "plaza.jpg", PLAZA)


def test_the_plaza_holds_the_counts_and_boxes_that_were_drawn(plaza: Plaza, crowd: AnnotatedImage) -> None:
    """In every quadrant, for every bundle that the demo verifies."""
    for record, case in zip(
        _records(plaza_records(plaza), "logical_verification"), plaza.asked.verifications, strict=True
    ):
        found = bundle_objects(crowd, Bundle(FIGURES[case.kind].label, "person", {"pose": (case.kind,)}))
        assert not (found.doubt or found.near_boundary)
        for step, boxes in zip(("S1", "S3", "S5", "S7"), found.by_quadrant.values(), strict=True):
            told = [normalized(crowd, one) for one in boxes]
            assert np.allclose(sorted(told), sorted(record[step]), atol=2e-6)


def test_the_plaza_relates_its_couples_as_they_were_drawn(plaza: Plaza, crowd: AnnotatedImage) -> None:
    """Each couple that stands apart by a fiftieth of both sides, and where both face."""
    context = RecipeContext({"person": CategoryNames("adult", "adults")}, ("person",))
    by_boxes = {
        (tuple(one.program["target_a"]["bbox_normalized"]), tuple(one.program["target_b"]["bbox_normalized"])): one
        for one in _candidates("cctv-relational-inference", crowd, context)
    }
    couples = _records(plaza_records(plaza), "relational_inference")
    apart = [
        one for one in couples if all(abs(_center(one["S1"], at) - _center(one["S2"], at)) >= 0.02 for at in (0, 1))
    ]
    assert apart
    for record in apart:
        candidate = by_boxes[tuple(record["S1"]), tuple(record["S2"])]
        assert RECIPES[candidate.recipe].truths(candidate) == record  # type: ignore[attr-defined]


def _center(box: list[float], axis: int) -> float:
    return (box[axis] + box[axis + 2]) / 2


@pytest.fixture(scope="module", params=["dota", "coco"])
def terrain(land: Land, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> AnnotatedImage:
    """The land as DOTA has it, and as COCO."""
    folder = tmp_path_factory.mktemp("land")
    if request.param == "dota":
        lines = [_dota_line(*thing.box, THINGS[thing.kind].singular) for thing in land.things]
        (folder / "land.txt").write_text("\n".join(lines), encoding="utf-8")
        return _read(folder, "land.png", LAND)
    kinds = list(THINGS)
    document = {
        "images": [{"id": 1, "file_name": "land.png", "width": LAND.width, "height": LAND.height}],
        "categories": [{"id": at, "name": THINGS[kind].singular.replace(" ", "-")} for at, kind in enumerate(kinds)],
        "annotations": [
            {"id": at, "image_id": 1, "category_id": kinds.index(thing.kind), "bbox": _xywh(*thing.box)}
            for at, thing in enumerate(land.things)
        ],
    }
    (folder / "coco.json").write_text(json.dumps(document), encoding="utf-8")
    return _read(folder / "coco.json", "land.png", LAND)


def _dota_line(x1: float, y1: float, x2: float, y2: float, name: str) -> str:
    return f"{x1} {y1} {x2} {y1} {x2} {y2} {x1} {y2} {name.replace(' ', '-')} 0"


def _xywh(x1: float, y1: float, x2: float, y2: float) -> list[float]:
    return [x1, y1, x2 - x1, y2 - y1]


def _records(records: list[dict[str, Any]], category: str) -> list[dict[str, Any]]:
    """Steps' truths by id, of each record of a category."""
    chosen = [record for record in records if record["category"] == category]
    return [
        {step["step_id"]: step["ground_truth"] for step in record["reasoning_supervision"]["steps"]}
        for record in chosen
    ]


def _candidates(recipe: str, image: AnnotatedImage, context: RecipeContext) -> list[Candidate]:
    found = RECIPES[recipe].candidates(image, context, np.random.default_rng(0))
    return [one for one in found if isinstance(one, Candidate)]


def _land_context() -> RecipeContext:
    kinds = {one.singular.replace(" ", "-"): CategoryNames(one.singular, one.label) for one in THINGS.values()}
    return RecipeContext(kinds, tuple(kinds))


@pytest.mark.parametrize("category", ["logical_verification", "relational_inference"])
def test_the_land_gives_the_truths_that_were_drawn(land: Land, terrain: AnnotatedImage, category: str) -> None:
    """Of each question of the demo that the recipes ask, too: all but those whose extreme objects lie too close."""
    recipe = f"rs-{category.replace('_', '-')}"
    found = [RECIPES[recipe].truths(one) for one in _candidates(recipe, terrain, _land_context())]  # type: ignore[attr-defined]
    told = [json.dumps(_rounded(one), sort_keys=True) for one in found]
    drawn = [json.dumps(_rounded(one), sort_keys=True) for one in _records(land_records(land), category)]
    assert sum(one in told for one in drawn) >= len(drawn) - (category == "relational_inference")


def _rounded(truths: Any) -> dict[str, Any]:
    """To five decimals, and boxes in one order."""
    return {key: _sorted_boxes(value) for key, value in truths.items()}


def _sorted_boxes(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    if value and isinstance(value[0], list):
        return sorted([round(side, 5) for side in box] for box in value)
    return [round(side, 5) for side in value]


def test_vehicles_by_landmarks_are_those_that_were_parked_there(land: Land, terrain: AnnotatedImage) -> None:
    """In each quadrant: near is what touches the landmark's surroundings, and nothing lies where nobody can tell."""
    regions = objects_by_region(terrain, "small-vehicle")
    for quadrant, box in land.landmarks.items():
        mark = Annotation("l#1", "building", Box(*box), attributes={LANDMARK: "the building"})
        near = satisfying(Condition("near", mark, "the building"), regions[quadrant].objects)
        parked = sum(thing.parked for thing in land.of("vehicle", quadrant))
        assert near is not None
        assert len(near) == parked
