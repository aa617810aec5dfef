"""Builds are written for annotation tools so that what comes back is the same objects, and edits are edits."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from gigavqa.construction.annotations import AnnotatedImage, Annotation, Box, attribute_text
from gigavqa.construction.errors import BuildError
from gigavqa.construction.readers.marks import turned_box
from gigavqa.construction.tool_exports.drawn_objects import drawn_images
from gigavqa.construction.tool_exports.tools import write_for_tool
from tests.construction.scenes import read, write_image

WIDTH, HEIGHT = 640, 480
TURNED = turned_box((300.0, 100.0, 380.0, 130.0), 30.0, (300.0, 100.0))
PLAIN = Annotation("coco.json#1", "ship", Box(10, 20, 110.5, 80.25), attributes={"color": "red", "length": 12.5})
OUTLINED = Annotation(
    "coco.json#2", "dock", Box(200, 200, 300, 320), rings=((200.0, 200.0, 300.0, 210.0, 250.0, 320.0),)
)
ORIENTED = Annotation(
    "coco.json#3", "ship", Box(*map(float, (285, 100, 369.28, 166))), quad=TURNED, attributes={"new": True}
)
HIDDEN = Annotation("coco.json#4", "ship", Box(400, 300, 500, 400), flags=frozenset({"occluded", "difficult"}))
PORT = AnnotatedImage("port/a b.png", WIDTH, HEIGHT, (PLAIN, OUTLINED, ORIENTED, HIDDEN), labels={"night": True})
EMPTY = AnnotatedImage("none.png", WIDTH, HEIGHT)
RECORDS = [
    {"id": "count-1", "image": PORT.image, "question": "How many ships?", "answer": 3, "boxes": [[10, 20, 110, 80]],
     "objects": ["coco.json#1", "coco.json#3"]},
    {"id": "odd-1", "image": PORT.image, "question": "Which <one>?", "choices": ["a", "b"], "answer_text": "b"},
]  # fmt: skip
FORMS = ("labelstudio", "cvat", "qupath")


def write(form: str, folder: Path, *images: AnnotatedImage) -> Path:
    """Write images for a tool, beside a folder of them."""
    for image in images:
        write_image(folder / "images", image.image, (image.width, image.height))
    target = folder / {"labelstudio": "tasks.json", "cvat": "cvat.xml", "qupath": "slides"}[form]
    write_for_tool(form, target, lambda: drawn_images(iter(images), RECORDS))
    return target


def told(one: Annotation) -> tuple[str, str, Mapping[str, str]]:
    """What is said of an annotation."""
    flags = dict.fromkeys(one.flags, "flag")
    return one.id, one.category, {**{name: attribute_text(value) for name, value in one.attributes.items()}, **flags}


@pytest.mark.parametrize("form", FORMS)
def test_a_file_is_read_as_what_was_written(form: str, tmp_path: Path) -> None:
    """Ids, categories, attributes and flags, boxes and outlines; images that nobody asks about, too."""
    source = write(form, tmp_path, PORT, EMPTY)
    (bare, image), omissions = read(source, tmp_path / "images", form)
    assert (bare.image, bare.annotations, image.image) == (EMPTY.image, (), PORT.image)
    assert list(map(told, image.annotations)) == list(map(told, PORT.annotations))
    for found, one in zip(image.annotations, PORT.annotations, strict=True):
        assert found.rings == one.rings or form == "qupath"
        assert one.quad or found.box == one.box
        assert one.quad is None or (found.quad or found.rings[0]) == pytest.approx(one.quad)
    assert set(omissions.counts) <= {"prediction"}


@pytest.mark.parametrize("form", FORMS)
def test_what_was_incomplete_is_a_zone_without_labels(form: str, tmp_path: Path) -> None:
    """So that no count of it is taken for sure; of an unknown category, nothing is."""
    lost = AnnotatedImage(PORT.image, WIDTH, HEIGHT, (PLAIN,), incomplete=frozenset({"", "crane"}))
    (image,), _ = read(write(form, tmp_path, lost), tmp_path / "images", form)
    zones = {one.category: one.flags for one in image.annotations[1:]}
    assert zones == {"ship": {"ignore"}, "crane": {"crowd"}}
    assert {one.box for one in image.annotations[1:]} == {Box(0, 0, WIDTH, HEIGHT)}


def test_questions_are_predictions_of_label_studio(tmp_path: Path) -> None:
    """One each, with its words, its answer, and its evidence; annotations are what people made."""
    (task,) = json.loads(write("labelstudio", tmp_path, PORT).read_text())
    assert task["data"]["image"] == "/data/local-files/?d=port/a%20b.png"
    first, second = task["predictions"]
    assert (first["model_version"], second["model_version"]) == ("count-1", "odd-1")
    texts = [result["value"]["text"][0] for result in first["result"] if result["type"] == "textarea"]
    assert texts == ["How many ships?", "3"]
    (box,) = [result["value"] for result in first["result"] if result["type"] == "rectanglelabels"]
    assert (box["x"], box["width"]) == (100 * 10 / WIDTH, 100 * 100 / WIDTH)
    assert [result["value"]["text"][0] for result in second["result"]] == ["Which <one>?", "b"]
    config = ET.parse(tmp_path / "tasks.label_config.xml").getroot()
    names = {element.get("name") for element in config}
    used = {result["from_name"] for each in (*task["annotations"], *task["predictions"]) for result in each["result"]}
    assert used <= names


@pytest.mark.parametrize("form", ["cvat", "qupath"])
def test_objects_say_which_questions_rest_on_them(form: str, tmp_path: Path) -> None:
    """With the answers, for people; a reader takes that for no attribute."""
    source = write(form, tmp_path, PORT)
    text = (source / "a b.geojson" if form == "qupath" else source).read_text()
    assert text.count("count-1: 3") == 2
    (image,), _ = read(source, tmp_path / "images", form)
    assert not any(name.startswith("gigavqa") for one in image.annotations for name in one.attributes)


def edited(form: str, source: Path) -> None:
    """Delete the dock, call the first ship a boat, copy the last ship, as a person does in the tool."""
    if form == "labelstudio":
        tasks = json.loads(source.read_text())
        (annotation,) = tasks[0]["annotations"]
        results = [one for one in annotation["result"] if one["id"] != "gigavqa:coco.json#2"]
        results[0]["value"]["rectanglelabels"] = ["boat"]
        annotation["result"] = [*results, _moved(next(one for one in results if one["id"] == "gigavqa:coco.json#4"))]
        source.write_text(json.dumps(tasks))
    elif form == "cvat":
        tree = ET.parse(source)
        (image,) = tree.getroot().iter("image")
        image.remove(image.findall("polygon")[0])
        boxes = image.findall("box")
        boxes[0].set("label", "boat")
        copied = ET.fromstring(ET.tostring(boxes[-1]))
        copied.set("xtl", "420")
        image.append(copied)
        tree.write(source)
    else:
        path = source / "a b.geojson"
        document = json.loads(path.read_text())
        first, _, *others = document["features"]
        first["properties"]["classification"]["name"] = "boat"
        copied = json.loads(json.dumps(others[-1]))
        for point in copied["geometry"]["coordinates"][0]:
            point[0] += 20
        document["features"] = [first, *others, copied]
        path.write_text(json.dumps(document))


def _moved(result: dict[str, Any]) -> dict[str, Any]:
    """A copy of a region that Label Studio gave an id of its own."""
    return {**result, "id": "x7Gh2", "value": {**result["value"], "x": result["value"]["x"] + 2}}


@pytest.mark.parametrize("form", FORMS)
def test_edits_come_back_by_ids(form: str, tmp_path: Path) -> None:
    """What was changed is the same object, what was deleted is gone, and a copy is a new one, told where it can be."""
    source = write(form, tmp_path, PORT)
    edited(form, source)
    (image,), omissions = read(source, tmp_path / "images", form)
    found = {one.id: one.category for one in image.annotations}
    new = next(name for name in found if not name.startswith("coco.json#"))
    assert found == {"coco.json#1": "boat", "coco.json#3": "ship", "coco.json#4": "ship", new: "ship"}
    copies = [one.sentence for one in omissions if one.reason == "id-twice"]
    assert len(copies) == (form != "labelstudio")
    assert all("'coco.json#4' is that of another object" in sentence for sentence in copies)


def test_images_of_one_stem_are_refused_for_qupath(tmp_path: Path) -> None:
    """Its files name their image by the stem."""
    images = [AnnotatedImage(name, WIDTH, HEIGHT, (PLAIN,)) for name in ("a/x.png", "b/x.png")]
    records = [{"id": name, "image": name, "question": "?", "answer": "1"} for name in ("a/x.png", "b/x.png")]
    with pytest.raises(BuildError, match=r"a/x.png and b/x.png would both be x.geojson"):
        write_for_tool("qupath", tmp_path / "out", lambda: drawn_images(iter(images), records))
    assert not (tmp_path / "out").exists()


def test_a_quadrilateral_that_is_no_rectangle_is_an_outline(tmp_path: Path) -> None:
    """Tools turn rectangles alone; its corners stay to the pixel's fraction."""
    corners = (100.0, 100.0, 200.0, 110.0, 190.0, 180.0, 90.0, 150.0)
    skewed = Annotation("d.txt#1", "ship", Box(90, 100, 200, 180), quad=corners)
    image = AnnotatedImage(PORT.image, WIDTH, HEIGHT, (skewed,))
    for form in FORMS:
        (found,), _ = read(write(form, tmp_path / form, image), tmp_path / form / "images", form)
        assert found.annotations[0].rings[0] == pytest.approx(corners)
