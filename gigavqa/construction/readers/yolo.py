"""YOLO (Ultralytics, Darknet): a text file for each image, in parts of its sides; boxes, outlines, oriented boxes."""

import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from gigavqa.construction.annotations import AnnotatedImage, Omission, Omissions
from gigavqa.construction.errors import AnnotationFileError, MarkError
from gigavqa.construction.readers.collection import MarkCollection
from gigavqa.construction.readers.documents import LOOK_BYTES, look_at
from gigavqa.construction.readers.marks import Mark, text_number
from gigavqa.construction.readers.reader import ImageIndex, ReaderOptions
from gigavqa.construction.readers.text_folders import label_files, lines_of, stem_of

_LISTS = ("classes.txt", "obj.names", "labels/classes.txt", "data/obj.names")
_NO_LABELS = {"classes.txt", "train.txt", "val.txt", "test.txt", "readme.txt"}
_LABELS, _IMAGES = "labels", "images"
_NAMES = re.compile(rb"^names\s*:", re.MULTILINE)
_SQUARE = 0.02
"""How far a corner's cosine may be from that of a right angle."""


class YoloReader:
    """Reads a folder with `data.yaml`, `classes.txt` or `obj.names`, and labels in text files below it."""

    name = "yolo"
    title = "YOLO"

    def recognises(self, source: Path) -> bool:
        """Return whether a folder names classes in one of YOLO's files."""
        return source.is_dir() and bool(_settings_file(source))

    def read(
        self, source: Path, images: ImageIndex, omissions: Omissions, options: ReaderOptions
    ) -> Iterator[AnnotatedImage]:
        """Yield images by name. Poses and labels without names of classes raise AnnotationFileError."""
        path = _settings_file(source)
        if path is None:
            raise AnnotationFileError(f"{source.name}: has neither data.yaml nor classes.txt; add the classes' names")
        classes = _classes(path)
        collection = MarkCollection(images, omissions)
        for name in label_files(source):
            if PurePosixPath(name).name.lower() in _NO_LABELS:
                continue
            if (number := collection.enter(_image_name(name, images), name, "its name")) is not None:
                _add_file(collection, number, source / name, name, classes)
        return collection.annotated()


def _settings_file(source: Path) -> Path | None:
    settings = [path for ending in ("*.yaml", "*.yml") for path in sorted(source.glob(ending))]
    named = [*(path for path in settings if _NAMES.search(look_at(path))), *(source / name for name in _LISTS)]
    return next((path for path in named if path.is_file()), None)


def _classes(path: Path) -> Mapping[int, str]:
    if path.stat().st_size > LOOK_BYTES:
        raise AnnotationFileError(f"{path.name}: is larger than a MiB; give the classes' names alone")
    if path.suffix not in (".yaml", ".yml"):
        return dict(enumerate(text for _, text in lines_of(path)))
    try:
        told = yaml.safe_load(path.read_bytes())
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise AnnotationFileError(f"{path.name}: is no YAML: {' '.join(str(error).split())[:200]}") from error
    names: Any = told.get("names") if isinstance(told, dict) else None
    if isinstance(told, dict) and "kpt_shape" in told:
        raise AnnotationFileError(f"{path.name}: kpt_shape: these are poses, which are not read; export boxes")
    pairs = enumerate(names) if isinstance(names, list) else names.items() if isinstance(names, dict) else ()
    classes = {key: name for key, name in pairs if type(key) is int and isinstance(name, str)}
    if not classes:
        raise AnnotationFileError(f"{path.name}: names: is no list of texts; give the classes' names")
    return classes


def _image_name(label: str, images: ImageIndex) -> str:
    """Return the image of a label file: in the folder `images` that stands beside its `labels`, else by its stem."""
    parts = PurePosixPath(stem_of(label)).parts
    below = parts[parts.index(_LABELS) + 1 :] if _LABELS in parts[:-1] else parts
    beside = [(*parts[: len(parts) - len(below) - 1], _IMAGES, *below)] if len(below) < len(parts) else []
    for candidate in (*beside, below):
        name = "/".join(candidate)
        if not isinstance(images.find(name), Omission):
            return name
    return parts[-1]


def _add_file(collection: MarkCollection, number: int, path: Path, name: str, classes: Mapping[int, str]) -> None:
    image = collection.image(number)
    try:
        for line, text in lines_of(path):
            try:
                mark = _mark(text.split(), line, classes, image.width, image.height)
            except MarkError as error:
                collection.leave_out(error.reason, name, f"line {line}", str(error), image=number)
            else:
                collection.add(number, mark, name)
    except AnnotationFileError as error:
        collection.leave_out("file", name, "whole", str(error))
        collection.discard(number)


def _mark(fields: list[str], line: int, classes: Mapping[int, str], width: int, height: int) -> Mark:
    """Return the mark of a line, whose kind its number of columns tells."""
    record, parts = f"line {line}", [text_number(field, "coordinates") for field in fields[1:]]
    if not fields[0].isascii() or not fields[0].isdecimal() or int(fields[0][:9]) not in classes:
        raise MarkError("no-category", f"class: is '{fields[0][:40]}', which the classes' names have not; add its name")
    category = classes[int(fields[0][:9])]
    if len(parts) == 4:
        x, y, w, h = parts
        box = (x - w / 2) * width, (y - h / 2) * height, (x + w / 2) * width, (y + h / 2) * height
        return Mark(line, record, category, box)
    if len(parts) == 5:
        raise MarkError("prediction", "has six columns, as predictions with a confidence have; give labels")
    if len(parts) < 6 or len(parts) % 2:
        told = f"has {len(fields)} columns: neither a box (5), an oriented box (9) nor an outline (7, 9, 11 ...)"
        raise MarkError("unsupported-shape", f"{told}; poses are not read: export boxes")
    ring = tuple(part * side for part, side in zip(parts, [width, height] * (len(parts) // 2), strict=True))
    if _is_rectangle(ring):
        return Mark(line, record, category, quad=ring)
    return Mark(line, record, category, rings=(ring,))


def _is_rectangle(ring: tuple[float, ...]) -> bool:
    """Return whether an outline is an oriented box: four corners, at right angles within what rounding leaves."""
    if len(ring) != 8:
        return False
    points = [ring[at : at + 2] for at in range(0, 8, 2)]
    sides = [(b[0] - a[0], b[1] - a[1]) for a, b in zip(points, (*points[1:], points[0]), strict=True)]
    lengths = [math.hypot(*side) for side in sides]
    if min(lengths) == 0:
        return False
    turns = zip(sides, (*sides[1:], sides[0]), lengths, (*lengths[1:], lengths[0]), strict=True)
    return all(abs(a[0] * b[0] + a[1] * b[1]) <= max(_SQUARE * m * n, m, n) for a, b, m, n in turns)
