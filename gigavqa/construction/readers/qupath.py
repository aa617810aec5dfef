"""QuPath's GeoJSON: outlines in pixels of the full-resolution slide, one file a slide."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gigavqa.construction.annotations import AnnotatedImage, Omissions, Ring
from gigavqa.construction.errors import AnnotationFileError, MarkError
from gigavqa.construction.kept_ids import kept_id
from gigavqa.construction.readers.collection import MarkCollection
from gigavqa.construction.readers.feature_files import feature_files, features_of, image_stem, look_at_features
from gigavqa.construction.readers.marks import Mark, attributes_of, describe_value, numbers_of
from gigavqa.construction.readers.reader import ImageIndex, ReaderOptions
from gigavqa.runtime.work_progress import counted

_SIGNS = ("properties.objectType", "properties.object_type", "properties.classification.name")
_HEADS = ("features.item.", "item.", "")


class QuPathReader:
    """Reads annotations, detections and cells. Which slide a file is about, its name says, or an option."""

    name = "qupath"
    title = "QuPath GeoJSON"

    def recognises(self, source: Path) -> bool:
        """Return whether a feature has the properties that QuPath alone writes."""
        look = look_at_features(source)
        return look is not None and any(head + sign in look.paths for head in _HEADS for sign in _SIGNS)

    def read(
        self, source: Path, images: ImageIndex, omissions: Omissions, options: ReaderOptions
    ) -> Iterator[AnnotatedImage]:
        """Yield images by name; an image option with a folder of several files raises AnnotationFileError."""
        collection = MarkCollection(images, omissions)
        for path, number in enter_files(source, collection, options):
            for position, feature in enumerate(counted(features_of(path), "features read"), start=1):
                record = f"feature {position}"
                try:
                    mark = _mark(feature, position, record)
                except MarkError as error:
                    is_object = error.reason != "no-category"  # regions of tissue are left unclassified on purpose
                    image = number if is_object else None
                    collection.leave_out(error.reason, path.name, record, str(error), image=image)
                else:
                    collection.add(number, mark, path.name)
        return collection.annotated()


def enter_files(source: Path, collection: MarkCollection, options: ReaderOptions) -> Iterator[tuple[Path, int]]:
    """Yield the files of a source whose images are there, with the images' numbers."""
    files = feature_files(source)
    if options.image and len(files) > 1:
        raise AnnotationFileError(f"{source.name}: --image names one image, and there are {len(files)} files; give one")
    for path in files:
        name = options.image or image_stem(path)
        number = collection.enter(name, path.name, "its name", by_beginning=not options.image)
        if number is not None:
            yield path, number


def _mark(feature: Any, position: int, record: str) -> Mark:
    if not isinstance(feature, Mapping):
        raise MarkError("malformed", f"is {describe_value(feature)}, and must be an object")
    properties = feature.get("properties")
    told = properties.get("classification") if isinstance(properties, Mapping) else None
    category = told.get("name") if isinstance(told, Mapping) else told
    if isinstance(told, Mapping) and category is None and isinstance(told.get("names"), list):
        category = ": ".join(map(str, told["names"]))
    if not isinstance(category, str) or not category:
        raise MarkError("no-category", "classification: is missing; set the object's class in QuPath")
    name = properties.get("name") if isinstance(properties, Mapping) else None
    named = {"name": name} if isinstance(name, str) and name and name != category and not kept_id(name) else {}
    attributes, flags = attributes_of(properties.get("metadata") if isinstance(properties, Mapping) else None)
    rings = outlines_of(feature.get("geometry"))
    return Mark(
        position, record, category, rings=rings, attributes={**attributes, **named}, flags=flags, kept=kept_id(name)
    )


def outlines_of(geometry: Any) -> tuple[Ring, ...]:
    """Return the outer outlines of a Polygon or MultiPolygon. Raises MarkError."""
    kind = geometry.get("type") if isinstance(geometry, Mapping) else None
    if kind not in ("Polygon", "MultiPolygon"):
        told = f"is a {str(kind)[:40]}" if kind else f"is {describe_value(geometry)}"
        raise MarkError("unsupported-shape", f"geometry: {told}; mark an area: a Polygon or MultiPolygon")
    coordinates = geometry.get("coordinates")
    polygons = [coordinates] if kind == "Polygon" else coordinates
    if not isinstance(polygons, list) or not all(isinstance(one, list) and one for one in polygons):
        raise MarkError("malformed", "coordinates: are none of an area; export it anew")
    return tuple(_ring(polygon[0]) for polygon in polygons)


def _ring(points: Any) -> Ring:
    if not isinstance(points, list):
        raise MarkError("malformed", f"coordinates: is {describe_value(points)}, and must be a list of positions")
    pairs = [numbers_of(point, "coordinates", 2) for point in points]
    if len(pairs) < 4 or pairs[0] != pairs[-1]:
        raise MarkError("malformed", "coordinates: a ring has four positions at least, the last of which is the first")
    return tuple(side for pair in pairs[:-1] for side in pair)
