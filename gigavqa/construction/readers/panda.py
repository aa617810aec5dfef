"""PANDA: persons and vehicles of gigapixel scenes, in parts of the image's sides, by the image's path."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gigavqa.construction.annotations import AnnotatedImage, Flag, Omissions
from gigavqa.construction.errors import MarkError
from gigavqa.construction.readers.collection import ImageSize, MarkCollection
from gigavqa.construction.readers.documents import json_members, look_at, look_at_json
from gigavqa.construction.readers.marks import Mark, attributes_of, describe_value, number_of, size_of
from gigavqa.construction.readers.reader import ImageIndex, ReaderOptions
from gigavqa.runtime.work_progress import counted

_BODY = "visible body"
_ZONES: Mapping[str, tuple[Flag, ...]] = {
    "ignore": ("ignore",), "fake person": ("ignore",), "crowd": ("crowd", "ignore"), "unsure": ("ignore",)
}  # fmt: skip
"""Categories that are no objects: outlines in which nothing is labelled."""
_SHAPES = ("rects", "rect", "category")


class PandaReader:
    """Reads one file, or a folder of them: persons and vehicles of an image are merged.

    A person's box is that of the visible body; what else is said of a person is attributes.
    """

    name = "panda"
    title = "PANDA"

    def recognises(self, source: Path) -> bool:
        """Return whether a file has lists of objects by image, as PANDA calls them."""
        for path in _files(source)[:20]:
            look = look_at_json(path)
            if look and any(place.endswith(".objects list") for place in look.paths):
                return b'"image size"' in look_at(path)
        return False

    def read(
        self, source: Path, images: ImageIndex, omissions: Omissions, options: ReaderOptions
    ) -> Iterator[AnnotatedImage]:
        """Yield images by name."""
        collection = MarkCollection(images, omissions, merges=True)
        for path in _files(source):
            position = 0
            for name, entry in counted(json_members(path), "images read"):
                position = _add_image(collection, path.name, name, entry, position)
        return collection.annotated()


def _files(source: Path) -> list[Path]:
    return sorted(source.glob("*.json")) if source.is_dir() else [source]


def _add_image(collection: MarkCollection, file: str, name: str, entry: Any, position: int) -> int:
    """Add the objects of an image; returns the position of the last."""
    record = f"image {name[:80]}"
    objects = entry.get("objects list") if isinstance(entry, Mapping) else None
    if not isinstance(objects, list):
        collection.leave_out("malformed", file, record, "objects list: is no list; give the image's objects")
        return position
    try:
        number = collection.enter(name, file, record, _size(entry.get("image size")))
    except MarkError as error:
        collection.leave_out(error.reason, file, record, str(error))
        number = None
    if number is None:
        if objects:
            told = f"is left out, and so are its {len(objects)} objects"
            collection.leave_out("of-left-out-image", file, record, told, len(objects))
        return position + len(objects)
    image = collection.image(number)
    for at, raw in enumerate(objects, start=position + 1):
        where = f"{record}, object {at - position}"
        try:
            mark = _mark(raw, at, where, image.width, image.height)
        except MarkError as error:
            collection.leave_out(error.reason, file, where, str(error), image=number)
        else:
            collection.add(number, mark, file)
    return position + len(objects)


def _size(told: Any) -> ImageSize:
    return size_of(told.get("width"), told.get("height")) if isinstance(told, Mapping) else None


def _mark(raw: Any, position: int, record: str, width: int, height: int) -> Mark:
    if not isinstance(raw, Mapping):
        raise MarkError("malformed", f"is {describe_value(raw)}, and must be an object")
    category = raw.get("category")
    if not isinstance(category, str):
        raise MarkError("no-category", f"category: is {describe_value(category)}; give a text")
    rects = raw.get("rects")
    rect = rects.get(_BODY) if isinstance(rects, Mapping) else raw.get("rect")
    field = f"rects.{_BODY}" if isinstance(rects, Mapping) else "rect"
    corners = [_part(rect, corner, side, field) for corner in ("tl", "br") for side in ("x", "y")]
    box = corners[0] * width, corners[1] * height, corners[2] * width, corners[3] * height
    attributes, flags = attributes_of({name: value for name, value in raw.items() if name not in _SHAPES})
    return Mark(position, record, category, box, attributes=attributes, flags=flags + _ZONES.get(category, ()))


def _part(rect: Any, corner: str, side: str, field: str) -> float:
    point = rect.get(corner) if isinstance(rect, Mapping) else None
    if not isinstance(point, Mapping):
        raise MarkError("malformed", f"{field}.{corner}: is {describe_value(point)}; give x and y")
    return number_of(point.get(side), f"{field}.{corner}.{side}")
