"""CVAT for images 1.1: XML of boxes, turned boxes, polygons, masks and tags."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import iterparse

from gigavqa.construction.annotations import AnnotatedImage, AttributeValue, Omissions, Ring
from gigavqa.construction.errors import AnnotationFileError, MarkError
from gigavqa.construction.readers.collection import MarkCollection
from gigavqa.construction.readers.documents import look_at, opened
from gigavqa.construction.readers.marks import Mark, attributes_of, text_number, turned_box
from gigavqa.construction.readers.masks import mask_of_rows
from gigavqa.construction.readers.reader import ImageIndex, ReaderOptions

_OPENING = re.compile(rb"\A\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<annotations\b", re.DOTALL)
_SHAPES = {"box", "polygon", "mask", "polyline", "points", "cuboid", "ellipse", "skeleton", "tag"}
_VIDEO = "track"
_DEEPEST = 32
InputTypes = dict[tuple[str, str], str]
"""Of an attribute of a label: `checkbox`, `number`, `select` ..."""


class CvatReader:
    """Reads CVAT's XML one image at a time; nothing that it declares is expanded."""

    name = "cvat"
    title = "CVAT for images"

    def recognises(self, source: Path) -> bool:
        """Return whether a file's first element is `annotations`, with images, tracks or CVAT's `meta` in it."""
        text = look_at(source)
        return bool(_OPENING.match(text)) and any(tag in text for tag in (b"<image", b"<track", b"<meta"))

    def read(
        self, source: Path, images: ImageIndex, omissions: Omissions, options: ReaderOptions
    ) -> Iterator[AnnotatedImage]:
        """Yield images by name; tracks of a video raise AnnotationFileError."""
        collection = MarkCollection(images, omissions)
        try:
            with opened(source) as file:
                _read(_Events(iterparse(file, events=("start", "end"), forbid_dtd=True)), collection, source.name)
        except DefusedXmlException as error:
            told = f"{source.name}: declares entities or a document type; take the declaration out"
            raise AnnotationFileError(told) from error
        except (ParseError, ValueError, LookupError) as error:
            if isinstance(error, AnnotationFileError):
                raise
            raise AnnotationFileError(f"{source.name}: {error}; give a whole XML file") from error
        return collection.annotated()


class _Events:
    """The elements below the root, each when it is whole; what was seen is let go."""

    def __init__(self, events: Iterator[tuple[str, Element]]) -> None:
        self._events = events

    def __iter__(self) -> Iterator[Element]:
        depth, root = 0, None
        for event, element in self._events:
            if event == "start":
                root = element if root is None else root
                depth += 1
                if depth > _DEEPEST:
                    raise ValueError(f"is nested deeper than {_DEEPEST} elements")
                continue
            depth -= 1
            if depth == 1 and root is not None:
                yield element
                root.clear()


def _read(elements: _Events, collection: MarkCollection, file: str) -> None:
    types: InputTypes = {}
    position = 0
    for element in elements:
        if element.tag == _VIDEO:
            raise AnnotationFileError(f"{file}: track: these are tracks of a video; export 'CVAT for images 1.1'")
        if element.tag == "meta":
            types = _input_types(element)
        if element.tag != "image":
            continue
        record = f"image {element.get('id', '')} ({element.get('name', '')[:80]})"
        shapes = [shape for shape in element if shape.tag in _SHAPES]
        number = _enter(collection, element, file, record)
        if number is None:
            if shapes:
                told = f"is left out, and so are its {len(shapes)} shapes"
                collection.leave_out("of-left-out-image", file, record, told, len(shapes))
            position += len(shapes)
            continue
        for shape in shapes:
            position += 1
            try:
                if shape.tag == "tag":
                    _label(collection, number, shape, types)
                else:
                    collection.add(number, _mark(shape, position, f"{record}, {shape.tag}", types), file)
            except MarkError as error:
                collection.leave_out(error.reason, file, f"{record}, {shape.tag} {position}", str(error), image=number)


def _enter(collection: MarkCollection, element: Element, file: str, record: str) -> int | None:
    try:
        size = None
        if element.get("width") is not None or element.get("height") is not None:
            size = text_number(element.get("width", ""), "width"), text_number(element.get("height", ""), "height")
    except MarkError as error:
        collection.leave_out(error.reason, file, record, str(error))
        return None
    return collection.enter(element.get("name", ""), file, record, size)


def _input_types(meta: Element) -> InputTypes:
    return {
        (label.findtext("name", ""), attribute.findtext("name", "")): attribute.findtext("input_type", "")
        for label in meta.iter("label")
        for attribute in label.iter("attribute")
    }


def _attributes(shape: Element, types: InputTypes) -> Mapping[str, AttributeValue]:
    label, told = shape.get("label", ""), dict[str, AttributeValue]()
    for attribute in shape.iter("attribute"):
        name, text = attribute.get("name", ""), (attribute.text or "").strip()
        kind = types.get((label, name))
        if kind == "checkbox" and text.lower() in ("true", "false"):
            told[name] = text.lower() == "true"
        elif kind == "number" and text:
            told[name] = text_number(text, f"attribute {name}")
        else:
            told[name] = text
    return told


def _label(collection: MarkCollection, number: int, tag: Element, types: InputTypes) -> None:
    """Keep a tag of the image: that it has it, and its attributes as `TAG.ATTRIBUTE`."""
    name = tag.get("label", "")
    if not name:
        raise MarkError("no-category", "label: is empty; give the tag's label")
    collection.label(number, name, True)
    for attribute, value in attributes_of(_attributes(tag, types))[0].items():
        collection.label(number, f"{name}.{attribute}", value)


def _mark(shape: Element, position: int, record: str, types: InputTypes) -> Mark:
    attributes, flags = attributes_of({**_attributes(shape, types), "occluded": shape.get("occluded", "0")})
    box, rings, quad = _geometry(shape)
    return Mark(position, f"{record} {position}", shape.get("label", ""), box, rings, quad, attributes, flags)


def _geometry(shape: Element) -> tuple[tuple[float, float, float, float] | None, tuple[Ring, ...], Ring | None]:
    if shape.tag == "box":
        x1, y1, x2, y2 = (text_number(shape.get(side, ""), side) for side in ("xtl", "ytl", "xbr", "ybr"))
        degrees = text_number(shape.get("rotation", "0"), "rotation")
        if degrees % 360 == 0:
            return (x1, y1, x2, y2), (), None
        if not (x1 < x2 and y1 < y2):
            raise MarkError("inverted", "box: ends before it begins; give xtl < xbr and ytl < ybr")
        return None, (), turned_box((x1, y1, x2, y2), degrees, ((x1 + x2) / 2, (y1 + y2) / 2))
    if shape.tag == "polygon":
        points = shape.get("points", "").replace(";", ",").split(",")
        return None, (tuple(text_number(one, "points") for one in points),), None
    if shape.tag == "mask":
        left, top, width, height = (_whole(shape.get(side, ""), side) for side in ("left", "top", "width", "height"))
        mask = mask_of_rows([_whole(run, "rle") for run in shape.get("rle", "").split(",")], width, height)
        x1, y1, x2, y2 = mask.box
        rings = tuple(tuple(side + (left, top)[at % 2] for at, side in enumerate(ring)) for ring in mask.rings())
        return (x1 + left, y1 + top, x2 + left, y2 + top), rings, None
    raise MarkError("unsupported-shape", f"{shape.tag}: is no area; mark a box, a polygon or a mask")


def _whole(text: str, field: str) -> int:
    number = text_number(text, field)
    if not 0 <= number < 1 << 31 or number % 1:
        raise MarkError("malformed", f"{field}: is '{text[:40]}', and must be a whole number")
    return int(number)
