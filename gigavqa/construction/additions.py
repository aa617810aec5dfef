"""What people add to annotations: landmarks, as annotations of their own, and attributes of objects, as a table."""

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from gigavqa.construction.annotations import AnnotatedImage, Annotation, Omissions
from gigavqa.construction.errors import BuildError
from gigavqa.construction.readers.reader import ImageIndex, ReaderOptions
from gigavqa.construction.readers.registry import find_reader
from gigavqa.runtime.plurals import list_some

LANDMARK = "landmark"
"""The attribute that describes an object, or a mark of a file of landmarks, as one: "the red-roofed building"."""
_OBJECT = "object"
_MOST_NAMED = 3


def read_landmarks(source: Path, images: ImageIndex) -> dict[str, tuple[Annotation, ...]]:
    """Return people's landmarks by image, of annotations in any form; each is called by `landmark`, else its category.

    Raises BuildError where any cannot be used.
    """
    omissions = Omissions()
    read = find_reader(source, None).read(source, images, omissions, ReaderOptions())
    found = {image.image: tuple(map(_landmark, image.annotations)) for image in read}
    if len(omissions):
        raise BuildError(f"--landmarks: {next(iter(omissions)).sentence}")
    return found


def _landmark(one: Annotation) -> Annotation:
    return replace(one, attributes={**one.attributes, LANDMARK: one.attributes.get(LANDMARK, one.category)})


def read_attributes(path: Path) -> dict[str, dict[str, str]]:
    """Return people's attributes by the id of their object: CSV whose column `object` has ids, as `explain` tells them.

    Raises BuildError naming line and column.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file, strict=True)
            if _OBJECT not in (rows.fieldnames or ()):
                raise BuildError(f"--attributes: {path} has no column '{_OBJECT}'; give the ids of objects, P1.txt#3")
            found: dict[str, dict[str, str]] = {}
            for row in rows:
                if None in row or None in row.values():
                    raise BuildError(f"--attributes: {path}, line {rows.line_num}: give one value for each column")
                name = row.pop(_OBJECT)
                if name in found:
                    raise BuildError(f"--attributes: {path}, line {rows.line_num}: {name} is there twice")
                found[name] = {column: value.strip() for column, value in row.items() if value.strip()}
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BuildError(f"--attributes: {path} cannot be read as CSV: {error}") from error
    return found


def with_additions(
    images: Iterable[AnnotatedImage],
    landmarks: Mapping[str, tuple[Annotation, ...]],
    attributes: Mapping[str, Mapping[str, str]],
) -> Iterator[AnnotatedImage]:
    """Yield the images with what was added to them. Raises BuildError where an addition belongs to none of them."""
    images_left, objects_left = set(landmarks), set(attributes)
    for image in images:
        images_left.discard(image.image)
        objects_left.difference_update(one.id for one in image.annotations)
        marks = image.annotations
        if attributes:
            marks = tuple(
                replace(one, attributes={**one.attributes, **attributes[one.id]}) if one.id in attributes else one
                for one in marks
            )
        yield replace(image, annotations=marks, landmarks=landmarks.get(image.image, ()))
    if images_left:
        raise BuildError(f"--landmarks: nothing is annotated in {list_some(sorted(images_left), _MOST_NAMED)}")
    if objects_left:
        raise BuildError(f"--attributes: there is no object {list_some(sorted(objects_left), _MOST_NAMED)}")
