"""Label Studio's tasks: annotations as they were made, questions with evidence and answers as predictions."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from gigavqa.construction.annotations import AttributeValue, Box, attribute_text
from gigavqa.construction.kept_ids import NAME
from gigavqa.construction.tool_exports.drawn_objects import (
    DrawnImage,
    DrawnImages,
    DrawnObject,
    answer_text,
    is_number,
)
from gigavqa.reports.writers.verdict_files import open_whole_file

_EVIDENCE, _QUESTION, _ANSWER = f"{NAME}_evidence", f"{NAME}_question", f"{NAME}_answer"
Results = list[dict[str, Any]]


def write_label_studio(target: Path, images: DrawnImages) -> Path:
    """Write the tasks, and beside them the labelling interface that they fit; return where that is.

    Images are named as Label Studio's local storage of the folder of images serves them.
    """
    interface = _Interface.of(images())
    with open_whole_file(target) as file:
        for number, drawn in enumerate(images()):
            file.write(b",\n" if number else b"[\n")
            file.write(json.dumps(_task(drawn, interface), ensure_ascii=False).encode())
        file.write(b"\n]\n")
    config = target.with_name(f"{target.stem}.label_config.xml")
    with open_whole_file(config) as file:
        file.write(interface.xml())
    return config


class _Vocabulary(dict[str, dict[str, None] | None]):
    """By what something is said with: the texts that can be said, or None for any number."""

    def note(self, said: Mapping[str, AttributeValue]) -> None:
        for name, value in said.items():
            if is_number(value) and self.get(name) is None:
                self.setdefault(name)
            else:  # numbers among texts are texts
                self[name] = {**(self.get(name) or {}), attribute_text(value): None}


class _Interface:
    """What the labelling interface must offer: labels, and what is said of regions and images."""

    def __init__(self) -> None:
        self.labels: dict[str, None] = {}
        self.of_regions = _Vocabulary()
        self.of_images = _Vocabulary()

    @classmethod
    def of(cls, images: Iterable[DrawnImage]) -> "_Interface":
        made = cls()
        for drawn in images:
            made.of_images.note(drawn.image.labels)
            for one in drawn.objects:
                made.labels.setdefault(one.category)
                made.of_regions.note(one.attributes)
        return made

    def xml(self) -> bytes:
        view = Element("View")
        SubElement(view, "Image", name="image", value="$image", zoom="true")
        for tag, name in (("RectangleLabels", "label"), ("PolygonLabels", "outline")):
            _choose(view, tag, name, "Label", self.labels)
        _choose(view, "RectangleLabels", _EVIDENCE, "Label", ["evidence"])
        for told, each in ((self.of_regions, {"perRegion": "true"}), (self.of_images, {})):
            for name, values in told.items():
                if values is None:
                    SubElement(view, "Number", {"name": name, "toName": "image", **each})
                else:
                    _choose(view, "Choices", name, "Choice", values, **each)
        for name in (_QUESTION, _ANSWER):
            SubElement(view, "TextArea", name=name, toName="image", editable="true")
        indent(view)
        return f"{tostring(view, encoding='unicode')}\n".encode()


def _choose(view: Element, tag: str, name: str, inner: str, values: Iterable[str], **more: str) -> None:
    group = SubElement(view, tag, {"name": name, "toName": "image", **more})
    for value in values:
        SubElement(group, inner, value=value)


def _task(drawn: DrawnImage, interface: _Interface) -> dict[str, Any]:
    image, size = drawn.image, (drawn.image.width, drawn.image.height)
    results = [result for one in drawn.objects for result in _region(one, size, interface)]
    for name, value in image.labels.items():
        results.append({**_said(name, value, interface.of_images), "id": f"{NAME}-{name}"})
    return {
        "data": {"image": f"/data/local-files/?d={quote(image.image)}"},
        "annotations": [{"result": results}],
        "predictions": [_prediction(record, size) for record in drawn.questions],
    }


def _region(one: DrawnObject, size: tuple[int, int], interface: _Interface) -> Iterator[dict[str, Any]]:
    head = {"to_name": "image", "original_width": size[0], "original_height": size[1], "image_rotation": 0}
    named = {"id": one.id, **head}
    if one.ring:
        points = [[100 * x / size[0], 100 * y / size[1]] for x, y in zip(one.ring[::2], one.ring[1::2], strict=True)]
        shape: dict[str, Any] = {"points": points, "closed": True, "polygonlabels": [one.category]}
        yield {**named, "from_name": "outline", "type": "polygonlabels", "value": shape}
    else:
        turned = one.turned
        box = turned[:4] if turned else (one.box.x1, one.box.y1, one.box.x2 - one.box.x1, one.box.y2 - one.box.y1)
        shape = {**_percents(box, size), "rotation": turned.degrees if turned else 0, "rectanglelabels": [one.category]}
        yield {**named, "from_name": "label", "type": "rectanglelabels", "value": shape}
    for name, value in one.attributes.items():
        yield {**_said(name, value, interface.of_regions), **named, "from_name": name}


def _said(name: str, value: AttributeValue, vocabulary: _Vocabulary) -> dict[str, Any]:
    """Return the result that says one thing, as a number or a choice."""
    head = {"from_name": name, "to_name": "image"}
    if vocabulary[name] is None:
        return {**head, "type": "number", "value": {"number": value}}
    return {**head, "type": "choices", "value": {"choices": [attribute_text(value)]}}


def _percents(box: Sequence[float], size: tuple[int, int]) -> dict[str, float]:
    sides = (size[0], size[1], size[0], size[1])
    return dict(zip(("x", "y", "width", "height"), (100 * a / b for a, b in zip(box, sides, strict=True)), strict=True))


def _prediction(record: Mapping[str, Any], size: tuple[int, int]) -> dict[str, Any]:
    """Return a question as a prediction that bears its id: its words, its answer, and the boxes that answer it."""
    texts = ((_QUESTION, record["question"]), (_ANSWER, answer_text(record)))
    results: Results = [
        {"id": f"{record['id']}-{name}", "from_name": name, "to_name": "image", "type": "textarea",
         "value": {"text": [text]}}
        for name, text in texts
    ]  # fmt: skip
    for number, corners in enumerate(record.get("boxes", ()), start=1):
        box = Box(*corners)
        shape = _percents((box.x1, box.y1, box.x2 - box.x1, box.y2 - box.y1), size)
        results.append({
            "id": f"{record['id']}-{number}", "from_name": _EVIDENCE, "to_name": "image", "type": "rectanglelabels",
            "original_width": size[0], "original_height": size[1], "image_rotation": 0,
            "value": {**shape, "rotation": 0, "rectanglelabels": ["evidence"]},
        })  # fmt: skip
    return {"model_version": record["id"], "result": results}
