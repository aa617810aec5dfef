"""CVAT for images 1.1: boxes, turned boxes and polygons with attributes, image by image."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from gigavqa.construction.annotations import AttributeValue, attribute_text
from gigavqa.construction.kept_ids import NAME
from gigavqa.construction.tool_exports.drawn_objects import DrawnImage, DrawnImages, DrawnObject, is_number
from gigavqa.reports.writers.verdict_files import open_whole_file

_ASKED = f"{NAME}_questions"
_OCCLUDED = "occluded"
InputTypes = dict[str, dict[str, str]]
"""By label, and attribute: `text`, `number` or `checkbox`."""


def write_cvat(target: Path, images: DrawnImages) -> None:
    """Write the file. Each shape has its id and the questions that rest on it, with their answers, as attributes."""
    types, number = _input_types(images()), sum(1 for _ in images())
    with open_whole_file(target) as file:
        file.write(b"<?xml version='1.0' encoding='utf-8'?>\n<annotations>\n  <version>1.1</version>\n")
        file.write(_indented(_meta(types, number)))
        for at, drawn in enumerate(images()):
            file.write(_indented(_image(at, drawn, types)))
        file.write(b"</annotations>\n")


def _indented(element: Element) -> bytes:
    indent(element, level=1)
    return f"  {tostring(element, encoding='unicode')}\n".encode()


def _input_types(images: Iterable[DrawnImage]) -> InputTypes:
    """Return the types of all attributes: one of which values differ in kind is a text."""
    types: InputTypes = {}
    for drawn in images:
        for one in drawn.objects:
            _note(types.setdefault(one.category, {}), one.attributes)
        for name in drawn.image.labels:
            types.setdefault(name, {})
    return types


def _note(known: dict[str, str], said: Mapping[str, AttributeValue]) -> None:
    for name, value in said.items():
        if name == _OCCLUDED:  # of which every shape says by itself
            continue
        kind = "checkbox" if isinstance(value, bool) else "number" if is_number(value) else "text"
        if known.setdefault(name, kind) != kind:
            known[name] = "text"


def _meta(types: InputTypes, number: int) -> Element:
    meta = Element("meta")
    task = SubElement(meta, "task")
    SubElement(task, "size").text = str(number)
    labels = SubElement(task, "labels")
    for category, attributes in types.items():
        label = SubElement(labels, "label")
        SubElement(label, "name").text = category
        inner = SubElement(label, "attributes")
        for name, kind in {**attributes, NAME: "text", _ASKED: "text"}.items():
            attribute = SubElement(inner, "attribute")
            for tag, text in (("name", name), ("mutable", "False"), ("input_type", kind), ("default_value", "")):
                SubElement(attribute, tag).text = text
            SubElement(attribute, "values").text = {"checkbox": "false"}.get(kind, "")
    return meta


def _image(at: int, drawn: DrawnImage, types: InputTypes) -> Element:
    image = drawn.image
    size = {"width": str(image.width), "height": str(image.height)}
    element = Element("image", {"id": str(at), "name": image.image, **size})
    for one in drawn.objects:
        _add_shape(element, one, types[one.category])
    for name, value in image.labels.items():
        if value is True:
            SubElement(element, "tag", label=name, source="manual")
    return element


def _add_shape(image: Element, one: DrawnObject, types: Mapping[str, str]) -> None:
    occluded = "1" if one.attributes.get(_OCCLUDED) == "1" else "0"
    head = {"label": one.category, "source": "manual", _OCCLUDED: occluded}
    if one.ring:
        points = ";".join(f"{x!r},{y!r}" for x, y in zip(one.ring[::2], one.ring[1::2], strict=True))
        shape = SubElement(image, "polygon", {**head, "points": points, "z_order": "0"})
    else:
        corners = _corners(one)
        shape = SubElement(image, "box", {**head, **dict(zip(("xtl", "ytl", "xbr", "ybr"), corners, strict=True))})
        if one.turned:
            shape.set("rotation", repr(one.turned.degrees))
        shape.set("z_order", "0")
    said = {name: _text(value, types[name]) for name, value in one.attributes.items() if name in types}
    for name, text in {**said, NAME: one.id, _ASKED: "; ".join(one.asked)}.items():
        SubElement(shape, "attribute", name=name).text = text


def _corners(one: DrawnObject) -> list[str]:
    """Return the corners of a box, of a turned one before it is turned about its center."""
    if not one.turned:
        return [*map(repr, one.box)]
    x, y = one.turned.center
    across, down = one.turned.width / 2, one.turned.height / 2
    return [*map(repr, (x - across, y - down, x + across, y + down))]


def _text(value: AttributeValue, kind: str) -> str:
    return str(value).lower() if kind == "checkbox" else attribute_text(value)
