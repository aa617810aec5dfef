"""CVAT for images 1.1: XML of boxes, turned boxes, polygons, masks and tags."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import iterparse

from gigavqa.construction.annotations import AnnotatedImage, AttributeValue, Omissions, Ring
from gigavqa.construction.errors import AnnotationFileError, MarkError
from gigavqa.construction.kept_ids import NAME, kept_id
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
                _CvatFile(collection, source.name).read(iterparse(file, events=("start", "end"), forbid_dtd=True))
        except DefusedXmlException as error:
            told = f"{source.name}: declares entities or a document type; take the declaration out"
            raise AnnotationFileError(told) from error
        except (ParseError, ValueError, LookupError) as error:
            if isinstance(error, AnnotationFileError):
                raise
            raise AnnotationFileError(f"{source.name}: {error}; give a whole XML file") from error
        return collection.annotated()


class _CvatFile:
    """One pass over a file, shape by shape: what was read is let go, of however many shapes an image has."""

    def __init__(self, collection: MarkCollection, file: str) -> None:
        self._collection, self._file = collection, file
        self._types: InputTypes = {}
        self._position = self._lost = 0
        self._record = ""
        self._number: int | None = None

    def read(self, events: Iterator[tuple[str, Element]]) -> None:
        above: list[Element] = []
        for event, element in events:
            if event == "start":
                above.append(element)
                if len(above) > _DEEPEST:
                    raise ValueError(f"is nested deeper than {_DEEPEST} elements")
                if len(above) == 2 and element.tag == "image":
                    self._begin(element)
                continue
            above.pop()
            if len(above) == 2 and above[1].tag == "image":
                self._add(element)
                above[1].remove(element)
            elif len(above) == 1:
                self._end(element)
                above[0].remove(element)

    def _begin(self, image: Element) -> None:
        self._record = f"image {image.get('id', '')[:20]} ({image.get('name', '')[:80]})"
        self._number, self._lost = _enter(self._collection, image, self._file, self._record), 0

    def _end(self, element: Element) -> None:
        if element.tag == _VIDEO:
            raise AnnotationFileError(f"{self._file}: track: these are tracks of a video; export 'CVAT for images 1.1'")
        if element.tag == "meta":
            self._types = _input_types(element)
        if element.tag == "image" and self._lost:
            told = f"is left out, and so are its {self._lost} shapes"
            self._collection.leave_out("of-left-out-image", self._file, self._record, told, self._lost)

    def _add(self, shape: Element) -> None:
        if shape.tag not in _SHAPES:
            return
        self._position += 1
        if self._number is None:
            self._lost += 1
            return
        where = f"{self._record}, {shape.tag} {self._position}"
        try:
            if shape.tag == "tag":
                _label(self._collection, self._number, shape, self._types)
            else:
                self._collection.add(self._number, _mark(shape, self._position, where, self._types), self._file)
        except MarkError as error:
            self._collection.leave_out(error.reason, self._file, where, str(error), image=self._number)


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
    told = _attributes(shape, types)
    attributes, flags = attributes_of({**told, "occluded": shape.get("occluded", "0")})
    box, rings, quad = _geometry(shape)
    return Mark(position, record, shape.get("label", ""), box, rings, quad, attributes, flags, kept_id(told.get(NAME)))


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
