"""GeoJSON over a georeferenced image: areas on the ground, as GIS write them, found in its pixels."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gigavqa.construction.annotations import AnnotatedImage, Omissions, Ring
from gigavqa.construction.errors import AnnotationFileError, MarkError
from gigavqa.construction.readers.collection import MarkCollection
from gigavqa.construction.readers.documents import json_items, survey_json
from gigavqa.construction.readers.feature_files import features_of, look_at_features
from gigavqa.construction.readers.marks import Mark, attributes_of, describe_value
from gigavqa.construction.readers.qupath import QuPathReader, enter_files
from gigavqa.construction.readers.reader import ImageIndex, ReaderOptions
from gigavqa.runtime.work_progress import counted
from gigavqa.tiling.errors import GeoreferenceError
from gigavqa.tiling.ground.geojson import areas_of, is_geojson
from gigavqa.tiling.ground.georeference import Georeference, georeference_of

_CATEGORIES = ("category", "class", "label", "class_name", "classification")


class GeoJsonReader:
    """Reads polygons in WGS 84, or in the system that the file names, over the image of the file's name."""

    name = "geojson"
    title = "GeoJSON on the ground"

    def recognises(self, source: Path) -> bool:
        """Return whether it is GeoJSON without what QuPath alone writes."""
        return look_at_features(source) is not None and not QuPathReader().recognises(source)

    def read(
        self, source: Path, images: ImageIndex, omissions: Omissions, options: ReaderOptions
    ) -> Iterator[AnnotatedImage]:
        """Yield images by name; an image without a georeference raises AnnotationFileError."""
        collection = MarkCollection(images, omissions)
        for path, number in enter_files(source, collection, options):
            system = _system_of(path)
            georeference = _georeference(collection, number)
            for position, feature in enumerate(counted(features_of(path), "features read"), start=1):
                record = f"feature {position}"
                try:
                    mark = _mark(feature, position, georeference, system, options.category)
                except MarkError as error:
                    collection.leave_out(error.reason, path.name, record, str(error), image=number)
                else:
                    collection.add(number, mark, path.name)
        return collection.annotated()


def _system_of(path: Path) -> Mapping[str, Any]:
    """Return the member `crs` of a collection, as it is."""
    told = next(iter(json_items(path, "crs")), None) if survey_json(path).get("crs") == "start_map" else None
    return {} if told is None else {"crs": told}


def _georeference(collection: MarkCollection, number: int) -> Georeference:
    image = collection.image(number)
    try:
        if not image.geotags:
            raise GeoreferenceError("it has no georeference")
        return georeference_of(image.geotags)
    except GeoreferenceError as error:
        told = f"{image.name}: its places on the ground cannot be found: {error}"
        raise AnnotationFileError(f"{told}; give the GeoTIFF, or --form qupath for outlines in pixels") from error


def _mark(feature: Any, position: int, georeference: Georeference, system: Mapping[str, Any], column: str) -> Mark:
    if not is_geojson(feature):
        raise MarkError("malformed", f"is {describe_value(feature)} that is no Feature; export GeoJSON")
    try:
        areas = list(areas_of({**feature, **system}))
        rings = tuple(_pixels(area.region, georeference) for area in areas)
    except (ValueError, TypeError, KeyError, OverflowError, GeoreferenceError) as error:
        raise MarkError("malformed", f"geometry: {error}") from error
    told, flags = attributes_of(feature.get("properties"))
    names = [column] if column else [name for name in _CATEGORIES if name in told]
    if len(names) != 1 or not isinstance(told.get(names[0]), str):
        remedy = "name the property that holds the category with --category"
        raise MarkError("no-category", f"properties: {'several may be' if len(names) > 1 else 'none is'} it; {remedy}")
    attributes = {name: value for name, value in told.items() if name != names[0]}
    return Mark(position, f"feature {position}", str(told[names[0]]), rings=rings, attributes=attributes, flags=flags)


def _pixels(region: str, georeference: Georeference) -> Ring:
    """Return the pixels of an area's vertices, whose text is that of a region: `lonlat:` or `epsg:CODE:`."""
    head, _, numbers = region.rpartition(":")
    code = int(head.rpartition(":")[2]) if head != "lonlat" else None
    points = np.array([float(number) for number in numbers.split(",")]).reshape(-1, 2)
    found = georeference.pixels_of(points, code)
    return tuple(float(side) for side in found.ravel())
