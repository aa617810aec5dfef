"""QuPath's GeoJSON, one file an image: outlines with classes, in pixels of the full-resolution image."""

import json
import uuid
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from gigavqa.construction.annotations import Ring, attribute_text
from gigavqa.construction.errors import BuildError
from gigavqa.construction.kept_ids import NAME
from gigavqa.construction.readers.marks import turned_box
from gigavqa.construction.tool_exports.drawn_objects import DrawnImages, DrawnObject

_IDS = uuid.uuid5(uuid.NAMESPACE_URL, f"{NAME}:annotations")
_ASKED = f"{NAME}_questions"


def write_qupath(target: Path, images: DrawnImages) -> int:
    """Write a folder of files that are called as their images are; return how many.

    An object's name is its id; attributes, and the questions that rest on it with their answers, are its metadata.
    Raises BuildError where two images would have one file.
    """
    files: dict[str, str] = {}
    for drawn in images():
        name = f"{PurePosixPath(drawn.image.image).stem}.geojson"
        if first := files.get(name):
            told = f"{first} and {drawn.image.image} would both be {name}, by which QuPath's files name their image"
            raise BuildError(f"{told}; give the images names of their own")
        files[name] = drawn.image.image
    target.mkdir(parents=True)
    for name, drawn in zip(files, images(), strict=True):
        features = [*map(_feature, drawn.objects)]
        document = {"type": "FeatureCollection", "features": features}
        (target / name).write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    return len(files)


def _feature(one: DrawnObject) -> dict[str, Any]:
    said = {name: attribute_text(value) for name, value in one.attributes.items()}
    metadata = {**said, **({_ASKED: "; ".join(one.asked)} if one.asked else {})}
    rings = [[_closed(ring)] for ring in _rings(one)]
    shape = {"type": "Polygon", "coordinates": rings[0]} if len(rings) == 1 else None
    return {
        "type": "Feature",
        "id": str(uuid.uuid5(_IDS, one.id)),
        "geometry": shape or {"type": "MultiPolygon", "coordinates": rings},
        "properties": {
            "objectType": "annotation",
            "name": one.id,
            "classification": {"name": one.category},
            **({"metadata": metadata} if metadata else {}),
        },
    }


def _rings(one: DrawnObject) -> Iterator[Ring]:
    if one.rings:
        yield from one.rings
    elif one.ring:
        yield one.ring
    elif one.turned:
        x, y, width, height, degrees = one.turned
        yield turned_box((x, y, x + width, y + height), degrees, (x, y))
    else:
        x1, y1, x2, y2 = one.box
        yield (x1, y1, x2, y1, x2, y2, x1, y2)


def _closed(ring: Ring) -> list[list[float]]:
    points = [[x, y] for x, y in zip(ring[::2], ring[1::2], strict=True)]
    return [*points, points[0]]
