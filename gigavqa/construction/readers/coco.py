"""COCO: boxes, polygons and run-length masks of `instances` files, their sections in any order."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gigavqa.construction.annotations import AnnotatedImage, Omissions, Ring
from gigavqa.construction.errors import AnnotationFileError, MarkError
from gigavqa.construction.kept_ids import own_id
from gigavqa.construction.readers.collection import EVERY, MarkCollection
from gigavqa.construction.readers.documents import json_items, look_at_json, survey_json
from gigavqa.construction.readers.marks import (
    Mark,
    attributes_of,
    describe_value,
    numbers_of,
    size_of,
)
from gigavqa.construction.readers.masks import RunMask, mask_of_columns, unpack_counts
from gigavqa.construction.readers.reader import ImageIndex, ReaderOptions
from gigavqa.runtime.work_progress import counted

_SECTIONS = ("images", "annotations", "categories")


class CocoReader:
    """Reads COCO's JSON as a stream: every section by a pass of its own."""

    name = "coco"
    title = "COCO"

    def recognises(self, source: Path) -> bool:
        """Return whether the beginning has an annotation with its image's id, or an image with its file's name."""
        look = look_at_json(source)
        return look is not None and (
            look.has("annotations.item.image_id")
            or look.has("images.item.file_name")
            or all(section in look.paths for section in _SECTIONS)
        )

    def read(
        self, source: Path, images: ImageIndex, omissions: Omissions, options: ReaderOptions
    ) -> Iterator[AnnotatedImage]:
        """Yield images by name; sections that are missing or no lists raise AnnotationFileError."""
        kinds = survey_json(source)
        for section in _SECTIONS:
            if kinds.get(section) != "start_array":
                raise AnnotationFileError(
                    f"{source.name}: {section}: is {'no list' if section in kinds else 'missing'}; "
                    "give COCO's `instances` file with its images, annotations and categories"
                )
        return _CocoFile(source, images, omissions).read()


class _CocoFile:
    def __init__(self, source: Path, images: ImageIndex, omissions: Omissions) -> None:
        self._source = source
        self._collection = MarkCollection(images, omissions)
        self._categories: dict[object, str] = {}
        self._numbers: dict[object, int | None] = {}

    def read(self) -> Iterator[AnnotatedImage]:
        self._read_categories()
        self._read_images()
        lost: dict[object, int] = {}
        for position, raw in enumerate(
            counted(json_items(self._source, "annotations.item"), "annotations read"), start=1
        ):
            number = None
            try:
                image_id = _id_of(raw, "image_id")
                number = self._numbers[image_id]
                if number is None:
                    lost[image_id] = lost.get(image_id, 0) + 1
                    continue
                mark = self._mark(raw, position, number)
            except KeyError:
                self._leave_out("no-image", _record(raw, position), "image_id: is no id of `images`; add that image")
            except MarkError as error:
                record = _record(raw, position)
                self._collection.leave_out(
                    error.reason, self._source.name, record, str(error), image=EVERY if number is None else number
                )
            else:
                self._collection.add(number, mark, self._source.name)
        for lost_id, count in lost.items():
            told = f"is left out, and so are its {count} objects"
            self._collection.leave_out("of-left-out-image", self._source.name, f"image {lost_id}", told, count)
        yield from self._collection.annotated()

    def _leave_out(self, reason: str, record: str, text: str) -> None:
        self._collection.leave_out(reason, self._source.name, record, text)

    def _read_categories(self) -> None:
        twice: set[object] = set()
        for position, raw in enumerate(json_items(self._source, "categories.item"), start=1):
            record = f"category {position}"
            try:
                key, name = _id_of(raw, "id"), raw.get("name")
                if not isinstance(name, str) or not name.strip():
                    raise MarkError("no-category", f"name: is {describe_value(name)}; give the category's name")
            except MarkError as error:
                self._leave_out(error.reason, record, str(error))
                continue
            if self._categories.setdefault(key, name) != name:
                twice.add(key)
                self._leave_out("no-category", record, f"id: {key} is that of two categories; give each its own")
        for unsure in twice:
            del self._categories[unsure]

    def _read_images(self) -> None:
        names: dict[object, str] = {}
        for position, raw in enumerate(counted(json_items(self._source, "images.item"), "images read"), start=1):
            try:
                key, name = _id_of(raw, "id"), raw.get("file_name")
                if not isinstance(name, str):
                    raise MarkError("malformed", f"file_name: is {describe_value(name)}; give the image's name")
                size = size_of(raw.get("width"), raw.get("height"))
            except MarkError as error:
                self._leave_out(error.reason, f"image {position}", str(error))
                continue
            if key not in names:
                names[key] = name
                self._numbers[key] = self._collection.enter(name, self._source.name, f"image {key}", size)
                continue
            self._leave_out("image-twice", f"image {key}", "id: is that of two images, neither of which is used")
            if (number := self._numbers[key]) is not None:
                self._collection.discard(number)
                self._numbers[key] = None

    def _mark(self, raw: Mapping[str, Any], position: int, number: int) -> Mark:
        category = self._categories.get(_id_of(raw, "category_id"))
        if category is None:
            told = f"category_id: {raw['category_id']} is no id of `categories` that has a name; add it there"
            raise MarkError("no-category", told)
        attributes, flags = attributes_of(raw.get("attributes"))
        if attributes.pop("rotation", 0.0):
            told = (
                "attributes.rotation: turns the box, and COCO does not say around which point; export as CVAT or DOTA"
            )
            raise MarkError("rotation", told)
        flags += ("crowd",) if raw.get("iscrowd") == 1 else ()
        flags += ("ignore",) if raw.get("ignore") == 1 else ()
        box, rings = self._shape(raw, number)
        kept = own_id(self._source.name, raw.get("id"))
        return Mark(position, _record(raw, position), category, box, rings, None, attributes, flags, kept)

    def _shape(
        self, raw: Mapping[str, Any], number: int
    ) -> tuple[tuple[float, float, float, float] | None, tuple[Ring, ...]]:
        """Return box and outlines: of a mask its own, whose pixels say more than the box beside it."""
        segmentation = raw.get("segmentation")
        if isinstance(segmentation, Mapping):
            mask = self._mask(segmentation, number)
            if (rings := mask.rings()) or mask.pixels is not None:
                return mask.box, rings
            self._leave_out("outline", _record(raw, 0), "segmentation: is too large to trace; its box alone is used")
            return mask.box, ()
        if segmentation is not None and not isinstance(segmentation, list):
            raise MarkError("malformed", f"segmentation: is {describe_value(segmentation)}; give polygons or runs")
        rings = tuple(numbers_of(ring, "segmentation") for ring in segmentation or ())
        return _box_of(raw.get("bbox"), has_outline=bool(rings)), rings

    def _mask(self, raw: Mapping[str, Any], number: int) -> RunMask:
        image = self._collection.image(number)
        counts, size = raw.get("counts"), numbers_of(raw.get("size"), "segmentation.size", 2)
        if size != (image.height, image.width):
            told = f"{size[0]:g} x {size[1]:g} is not height and width of the image, {image.height} x {image.width}"
            raise MarkError("size-differs", f"segmentation.size: {told}; export the masks of that image")
        if isinstance(counts, str):
            return mask_of_columns(unpack_counts(counts), image.width, image.height)
        runs = [int(run) for run in numbers_of(counts, "segmentation.counts")]
        return mask_of_columns(runs, image.width, image.height)


def _box_of(value: Any, *, has_outline: bool) -> tuple[float, float, float, float] | None:
    """Return the corners of a box; of an outline without a box, or with an empty list, none."""
    if has_outline and (value is None or value == []):
        return None
    x, y, width, height = numbers_of(value, "bbox", 4)
    return x, y, x + width, y + height


def _id_of(raw: Any, field: str) -> int | str:
    """Return an id: a whole number, or a text. Raises MarkError."""
    if not isinstance(raw, Mapping):
        raise MarkError("malformed", f"is {describe_value(raw)}, and must be an object")
    value = raw.get(field)
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    raise MarkError("malformed", f"{field}: is {describe_value(value)}; give a number or text")


def _record(raw: Any, position: int) -> str:
    """Return how people find an annotation: by its id, or by where it stands."""
    value = raw.get("id") if isinstance(raw, Mapping) else None
    return f"annotation {value}" if isinstance(value, int | str) else f"annotations[{position - 1}]"
