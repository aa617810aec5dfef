"""Annotation files that are cut, flipped or hold nonsense: refused by a sentence, or read without what is bad."""

import copy
import json
import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gigavqa.construction.annotations import AnnotatedImage
from gigavqa.construction.errors import AnnotationFileError
from gigavqa.construction.images import FolderImages
from tests.construction.scenes import read, write_image, write_json
from tests.construction.test_forms import FORMS, SCENE, one_scene

SIZES = {"harbour.png": (400, 300), "quay.png": (320, 240)}
NONSENSE: list[Any] = [
    None, True, "", "x", "NaN", float("nan"), float("inf"), -1, 0, 1e308, 10**400, -(2**63), [], [[]], {}, [None] * 4,
    {"a": {"a": {}}}, "\x00", "../../etc/passwd", "é" * 300, [[[1, 2], [3, 4]]], "https://elsewhere/x.png",
]  # fmt: skip
_INSERTED = [b"NaN", b"null", b"{", b"[[[[", b'"', b",", b"\x00", b"9" * 400]
_RECT = {"tl": {"x": 0.1, "y": 0.1}, "br": {"x": 0.2, "y": 0.4}}
PANDA = {
    name: {
        "image size": {"width": width, "height": height},
        "objects list": [{"category": "person", "age": "adult", "rects": {"visible body": _RECT}}],
    }
    for name, (width, height) in SIZES.items()
}
ASKED = [
    {"Id": "quay", "Question": "What is the grade?", "Answer": "grade ii"},
    {"Id": "harbour", "Question": "?", "Answer": "no"},
]
FORMS_READ = ["coco", "cvat", "labelstudio", "dota", "yolo", "qupath", "csv", "panda", "wsivqa"]
ROUNDS = int(os.environ.get("GIGAVQA_TEST_ROUNDS", "100"))
"""Of each form; more find rarer faults."""


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> FolderImages:
    folder = tmp_path_factory.mktemp("images")
    for name, size in SIZES.items():
        write_image(folder, name, size)
    return FolderImages(folder)


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return one source of each form."""
    folder = tmp_path_factory.mktemp("scene")
    scene = one_scene(folder)
    return {
        "coco": FORMS / "supervision-coco.json", "cvat": FORMS / "datumaro-cvat/train.xml",
        "labelstudio": FORMS / "labelstudio.json", "dota": FORMS / "datumaro-dota", "yolo": FORMS / "supervision-yolo",
        "qupath": scene["qupath"], "csv": scene["csv"], "panda": write_json(folder / "panda.json", PANDA),
        "wsivqa": write_json(folder / "wsivqa.json", ASKED),
    }  # fmt: skip


def read_or_refuse(form: str, source: Path, images: FolderImages) -> list[AnnotatedImage] | None:
    """Read a source, whose reader may refuse it with a sentence, and look at all that it gives."""
    try:
        found, _ = read(source, images, form)
    except AnnotationFileError as error:
        assert len(str(error)) > 20
        return None
    names = [image.image for image in found]
    assert names == sorted(set(names))
    ids = [one.id for image in found for one in image.annotations]
    assert len(ids) == len(set(ids))
    for image in found:
        assert (image.width, image.height) == SIZES[image.image]
        for one in image.annotations:
            assert one.category.strip()
            assert 0 <= one.box.x1 < one.box.x2 <= image.width
            assert 0 <= one.box.y1 < one.box.y2 <= image.height
            for ring in (*one.rings, one.quad or ()):
                assert all(one.box.x1 <= x <= one.box.x2 for x in ring[::2])
                assert all(one.box.y1 <= y <= one.box.y2 for y in ring[1::2])
    return found


def _mutated_bytes(content: bytes, draws: random.Random) -> bytes:
    at = draws.randrange(len(content))
    kind = draws.randrange(6)
    if kind == 0:
        return content[:at]
    if kind == 1:
        return content[:at] + bytes([draws.randrange(256)]) + content[at + 1 :]
    if kind == 2:
        return content[:at] + content[at + draws.randrange(1, 40) :]
    if kind == 3:
        return content[:at] + draws.choice(_INSERTED) + content[at:]
    if kind == 4:
        other = draws.randrange(len(content))
        return content[:at] + content[other : other + 60] + content[at:]
    return content[:at] + draws.choice([b"[", b'{"a":', b"<a>"]) * 5000 + content[at:]


@pytest.mark.parametrize("form", FORMS_READ)
def test_damaged_files_are_refused_or_give_objects_within_their_images(
    form: str, sources: dict[str, Path], images: FolderImages, tmp_path: Path
) -> None:
    draws = random.Random(form)
    original = sources[form]
    for _ in range(ROUNDS):
        source = tmp_path / original.name
        if original.is_dir():
            shutil.copytree(original, source)
            files = sorted(path for path in source.rglob("*") if path.is_file() and path.stat().st_size)
        else:
            shutil.copy(original, source)
            files = [source]
        target = draws.choice(files)
        target.write_bytes(_mutated_bytes(target.read_bytes(), draws))
        read_or_refuse(form, source, images)
        shutil.rmtree(source) if source.is_dir() else source.unlink()


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of all values within a value of JSON."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from places(one, (*path, key))


@pytest.mark.parametrize("form", ["coco", "labelstudio", "qupath", "panda", "wsivqa"])
def test_nonsense_in_one_object_costs_that_object_alone(
    form: str, sources: dict[str, Path], images: FolderImages, tmp_path: Path
) -> None:
    draws = random.Random(form)
    whole = json.loads(sources[form].read_text())
    spots = [path for path in places(whole) if path]
    before = {_shape(one) for image in read_or_refuse(form, sources[form], images) or () for one in image.annotations}
    for _ in range(ROUNDS):
        spot = draws.choice(spots)
        value = copy.deepcopy(whole)
        holder = value
        for key in spot[:-1]:
            holder = holder[key]
        holder[spot[-1]] = draws.choice(NONSENSE)
        source = tmp_path / sources[form].name
        source.write_text(json.dumps(value))
        found = read_or_refuse(form, source, images)
        if found is None or not _is_within_an_annotation(form, spot):
            continue
        after = {_shape(one) for image in found for one in image.annotations}
        assert len(before - after) <= 1, spot


def _shape(one: Any) -> tuple[Any, ...]:
    return one.category, one.box


def _is_within_an_annotation(form: str, spot: tuple[Any, ...]) -> bool:
    """Return whether a place belongs to one object alone: to no image, category or collection."""
    if form == "panda":
        return len(spot) > 3 and spot[1] == "objects list"
    heads = {"wsivqa": ("none",), "coco": ("annotations",), "qupath": ("features",)}
    if form == "labelstudio":
        return (
            len(spot) > 4
            and spot[3] == "result"
            and not {"original_width", "original_height", "image_rotation"} & {*spot}
        )
    return spot[0] in heads[form] and len(spot) > 1


def test_every_image_of_the_scene_is_read_where_nothing_is_damaged(
    sources: dict[str, Path], images: FolderImages
) -> None:
    for form, source in sources.items():
        found = read_or_refuse(form, source, images)
        assert found, form
        assert {image.image for image in found} <= set(SCENE)
