"""Label Studio's JSON export: rectangles, turned ones, polygons, and choices, in percent of the image's sides."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from gigavqa.construction.annotations import AnnotatedImage, AttributeValue, Omission, Omissions, Ring
from gigavqa.construction.errors import AnnotationFileError, MarkError
from gigavqa.construction.kept_ids import kept_id, own_id
from gigavqa.construction.readers.collection import MarkCollection
from gigavqa.construction.readers.documents import json_items, look_at_json, survey_json
from gigavqa.construction.readers.marks import (
    DIGITS,
    Mark,
    attributes_of,
    describe_value,
    number_of,
    numbers_of,
    turned_box,
)
from gigavqa.construction.readers.reader import ImageIndex, ReaderOptions
from gigavqa.evaluation.image_lookup import IMAGE_SUFFIXES
from gigavqa.runtime.work_progress import counted
from gigavqa.tiling.remote.addresses import is_remote_name

_UPLOAD = re.compile(r"[0-9a-f]{8}-(.+)")
"""What Label Studio puts before the name of a file that was uploaded."""
_SHAPES = {"rectangle", "polygon"}
_VALUES = ("choices", "number", "rating", "text", "datetime")
_CLOSED = "closed"


class LabelStudioReader:
    """Reads tasks one at a time. Of several annotators of a task one must be chosen; predictions are no truths."""

    name = "labelstudio"
    title = "Label Studio"

    def recognises(self, source: Path) -> bool:
        """Return whether the file is a list of tasks with data and annotations."""
        look = look_at_json(source)
        return (
            look is not None and look.has("item.data") and bool(look.paths & {"item.annotations", "item.completions"})
        )

    def read(
        self, source: Path, images: ImageIndex, omissions: Omissions, options: ReaderOptions
    ) -> Iterator[AnnotatedImage]:
        """Yield images by name; what is no list of tasks raises AnnotationFileError."""
        if survey_json(source).get("") != "start_array":
            raise AnnotationFileError(f"{source.name}: is no list of tasks; export Label Studio's form JSON")
        return _TaskFile(source, images, omissions, options.annotator).read()


class _TaskFile:
    def __init__(self, source: Path, images: ImageIndex, omissions: Omissions, annotator: str) -> None:
        self._source, self._images, self._annotator = source, images, annotator
        self._collection = MarkCollection(images, omissions)
        self._position = 0

    def read(self) -> Iterator[AnnotatedImage]:
        for place, task in enumerate(counted(json_items(self._source, "item"), "tasks read"), start=1):
            record = f"task {task['id']}" if isinstance(task, dict) and "id" in task else f"task {place} of the list"
            try:
                results = self._results(task, record[:80])
                name, size = self._image_of(task), _size_of(results)
            except MarkError as error:
                self._leave_out(error.reason, record[:80], str(error))
                continue
            number = self._collection.enter(name, self._source.name, record[:80], size)
            if number is None and results:
                told = f"is left out, and so are its {len(results)} results"
                self._collection.leave_out("of-left-out-image", self._source.name, record[:80], told, len(results))
            self._add(number, results, record[:80])
        yield from self._collection.annotated()

    def _leave_out(self, reason: str, record: str, text: str) -> None:
        self._collection.leave_out(reason, self._source.name, record, text)

    def _results(self, task: Any, record: str) -> list[Any]:
        """Return what the one annotator that counts said of a task. Raises MarkError."""
        if not isinstance(task, dict):
            raise MarkError("malformed", f"is {describe_value(task)}, and must be an object")
        told = task.get("annotations", task.get("completions"))
        if predictions := task.get("predictions"):
            count = len(predictions) if isinstance(predictions, list) else 1
            text = "predictions: are no annotations; accept them in Label Studio to use them"
            self._collection.leave_out("prediction", self._source.name, record, text, count)
        if not isinstance(told, list):
            raise MarkError("malformed", f"annotations: is {describe_value(told)}, and must be a list")
        whole = [one for one in told if isinstance(one, dict) and not one.get("was_cancelled")]
        if not whole:
            raise MarkError("not-annotated", "annotations: has none that was submitted; annotate the task")
        chosen = [one for one in whole if not self._annotator or self._annotator in _people(one)]
        if not chosen:
            raise MarkError("other-annotator", f"annotations: none is by {self._annotator}; choose another annotator")
        if len(chosen) > 1:
            people = ", ".join(dict.fromkeys(person for one in chosen for person in _people(one)[:1]))
            remedy = (
                f"choose one with --annotator (here: {people})" if len(people.split(", ")) > 1 else "delete all but one"
            )
            raise MarkError("several-annotators", f"annotations: there are {len(chosen)}; {remedy}")
        results = chosen[0].get("result")
        if not isinstance(results, list):
            raise MarkError("malformed", f"result: is {describe_value(results)}, and must be a list")
        return results

    def _image_of(self, task: Mapping[str, Any]) -> str:
        """Return the name of a task's image: of the only value of its data that is one's name or address."""
        data = task.get("data")
        texts = {key: value for key, value in data.items() if isinstance(value, str)} if isinstance(data, dict) else {}
        named = {key: value for key, value in texts.items() if _file_name(value).lower().endswith(IMAGE_SUFFIXES)}
        if len(named) != 1:
            named = {key: value for key, value in texts.items() if key == "image"}
        if len(named) != 1:
            raise MarkError("image-missing", "data: names no image, or several, none as `image`; name it so")
        (value,) = named.values()
        return self._name_here(value)

    def _name_here(self, value: str) -> str:
        name = _file_name(value)
        if is_remote_name(value) and not isinstance(self._images.find(value), Omission):
            return value
        upload = _UPLOAD.fullmatch(PurePosixPath(name).name)
        if upload and isinstance(self._images.find(name), Omission):
            return upload[1]
        return name

    def _add(self, number: int | None, results: Sequence[Any], record: str) -> None:
        regions = {
            one["id"]: _attributes(results, one["id"])
            for one in results
            if isinstance(one, dict) and isinstance(one.get("id"), str) and _kind(one)
        }
        done: dict[str, Mark] = {}
        for place, result in enumerate(results, start=1):
            self._position += 1
            if number is None:
                continue
            where = f"{record}, result {place}"
            try:
                if not isinstance(result, dict):
                    raise MarkError("malformed", f"is {describe_value(result)}, and must be an object")
                key = result.get("id")
                if _kind(result):
                    if mark := self._mark(number, result, results, regions, where):
                        first = done.setdefault(key if isinstance(key, str) else where, mark)
                        if first is mark or (first.box, first.rings, first.quad) != (mark.box, mark.rings, mark.quad):
                            self._collection.add(number, mark, self._source.name)
                elif not (isinstance(key, str) and key in regions):
                    self._label(number, result)
            except MarkError as error:
                self._collection.leave_out(error.reason, self._source.name, where, str(error), image=number)

    def _mark(
        self,
        number: int,
        result: Mapping[str, Any],
        results: Sequence[Any],
        regions: Mapping[str, Mapping[str, AttributeValue]],
        where: str,
    ) -> Mark | None:
        """Return the mark of a region; nothing of its second result, where one has the shape and one the label."""
        key, value = result.get("id"), result.get("value")
        if not isinstance(value, dict):
            raise MarkError("malformed", f"value: is {describe_value(value)}, and must be an object")
        labels = _labels_of(value)
        if not labels and isinstance(key, str):
            alike = [one for one in results if isinstance(one, dict) and one.get("id") == key]
            labels = [label for one in alike for label in _labels_of(one.get("value"))]
        if len(labels) != 1:
            told = f"has {len(labels)} labels; give it one" if labels else "has no label; give it one"
            raise MarkError("no-category", f"labels: {told}")
        image = self._collection.image(number)
        box, rings, quad = _geometry(value, _kind(result), image.width, image.height)
        attributes, flags = attributes_of(regions.get(key, {}) if isinstance(key, str) else {})
        kept = kept_id(key) or own_id(self._source.name, key)
        return Mark(self._position, where, labels[0], box, rings, quad, attributes, flags, kept)

    def _label(self, number: int, result: Mapping[str, Any]) -> None:
        """Keep what is said of the image as a whole."""
        if result.get("type") == "relation":
            raise MarkError("relation", "relations of regions are not read")
        name, found = result.get("from_name"), _value_of(result)
        if not isinstance(name, str) or found is None:
            told = f"{str(result.get('type'))[:40]}: is neither a box, a polygon nor one value; mark a box or a polygon"
            raise MarkError("unsupported-shape", told)
        self._collection.label(number, name, found)


def _people(annotation: Mapping[str, Any]) -> list[str]:
    """Return what an annotation's annotator may be called: by number, or by address."""
    by = annotation.get("completed_by")
    told = [by.get("email"), by.get("id"), by.get("username")] if isinstance(by, dict) else [by]
    return [str(one) for one in told if one is not None]


def _size_of(results: Sequence[Any]) -> tuple[float, float] | None:
    """Return the image's size as the results have it. Raises MarkError where they differ, or it was turned."""
    sizes = set()
    for result in results:
        if not isinstance(result, dict) or not _kind(result):
            continue
        if result.get("image_rotation") not in (None, 0):
            raise MarkError("turned", "image_rotation: the image was turned in Label Studio; annotate it upright")
        if (width := result.get("original_width")) is not None:
            sizes.add((number_of(width, "original_width"), number_of(result.get("original_height"), "original_height")))
    if len(sizes) > 1:
        raise MarkError("size-differs", "original_width: results differ in the size of one image; export it anew")
    return next(iter(sizes), None)


def _file_name(value: str) -> str:
    """Return the path that an address of Label Studio's leads to: of its local files, its uploads, or anywhere."""
    parts = urlsplit(value) if "://" in value or value.startswith("/data/") else None
    if parts is None:
        return value
    local = parse_qs(parts.query).get("d")
    return local[0] if local else unquote(parts.path).lstrip("/")


def _kind(result: Mapping[str, Any]) -> str:
    """Return which shape a result has: `rectangle`, `polygon`, or none that is read."""
    told = str(result.get("type", "")).removesuffix("labels")
    value = result.get("value")
    if told in _SHAPES:
        return told
    if told == "" and isinstance(value, dict):  # the type `labels`, of any shape
        return "polygon" if "points" in value else "rectangle" if "width" in value else ""
    return ""


def _labels_of(value: Any) -> list[str]:
    lists = (
        [value.get(name) for name in ("rectanglelabels", "polygonlabels", "labels")] if isinstance(value, dict) else []
    )
    found = [label for told in lists if isinstance(told, list) for label in told]
    return list(dict.fromkeys(label for label in found if isinstance(label, str)))


def _attributes(results: Sequence[Any], key: str) -> dict[str, AttributeValue]:
    """Return what else is said of a region, by the names of what it was said with."""
    told: dict[str, AttributeValue] = {}
    for one in results:
        if isinstance(one, dict) and one.get("id") == key and not _kind(one) and isinstance(one.get("from_name"), str):
            found = _value_of(one)
            if found is not None:
                told[one["from_name"]] = found
    return told


def _value_of(result: Mapping[str, Any]) -> AttributeValue | None:
    """Return the one value that a result gives; None of several, and of what is none."""
    value = result.get("value")
    told = next((value[name] for name in _VALUES if name in value), None) if isinstance(value, dict) else None
    one = told[0] if isinstance(told, list) and len(told) == 1 else told
    return one if isinstance(one, str | int | float | bool) else None


def _geometry(
    value: Mapping[str, Any], kind: str, width: int, height: int
) -> tuple[tuple[float, float, float, float] | None, tuple[Ring, ...], Ring | None]:
    """Return box, outlines and corners in pixels."""
    if kind == "polygon":
        points = value.get("points")
        if not isinstance(points, list):
            raise MarkError("malformed", f"points: is {describe_value(points)}, and must be a list")
        if value.get(_CLOSED) is False:
            raise MarkError("unsupported-shape", "closed: the polygon is open; close it")
        pairs = [numbers_of(point, "points", 2) for point in points]
        ring = (round(side, DIGITS) for x, y in pairs for side in (x * width / 100, y * height / 100))
        return None, (tuple(ring),), None
    x, y, w, h = (number_of(value.get(name), name) for name in ("x", "y", "width", "height"))
    sides = x * width / 100, y * height / 100, (x + w) * width / 100, (y + h) * height / 100
    left, top, right, bottom = (round(side, DIGITS) for side in sides)
    box = left, top, right, bottom
    degrees = number_of(value.get("rotation") or 0, "rotation")
    if degrees % 360 == 0:
        return box, (), None
    if not (w > 0 and h > 0):
        raise MarkError("empty", "width, height: are not above 0; mark an area")
    return None, (), turned_box(box, degrees, box[:2])
