"""GeoJSON as a stream: features of a collection or a bare list, in one file an image or a folder of them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gigavqa.construction.errors import AnnotationFileError
from gigavqa.construction.readers.documents import JsonLook, json_items, look_at_json, survey_json
from gigavqa.evaluation.sample_files import list_files

_ENDINGS = (".geojson.gz", ".json.gz", ".geojson", ".json")
_LOOKED_AT = 20


def feature_files(source: Path) -> list[Path]:
    """Return the GeoJSON files of a folder, sorted; a file alone."""
    if not source.is_dir():
        return [source]
    return [source / name for name in list_files(source) if name.lower().endswith(_ENDINGS)]


def look_at_features(source: Path) -> JsonLook | None:
    """Return what the first GeoJSON of a source begins with; None where there is none."""
    for path in feature_files(source)[:_LOOKED_AT]:
        look = look_at_json(path)
        if look and {("type", "FeatureCollection"), ("item.type", "Feature"), ("type", "Feature")} & look.texts:
            return look
    return None


def image_stem(path: Path) -> str:
    """Return a GeoJSON file's name without its endings: that of the image that it is about."""
    ending = next((ending for ending in _ENDINGS if path.name.lower().endswith(ending)), "")
    return path.name[: len(path.name) - len(ending)]


def features_of(path: Path) -> Iterator[Any]:
    """Yield the features of a file. Raises AnnotationFileError for what has none."""
    kinds = survey_json(path)
    if "" in kinds:
        yield from json_items(path, "item")
    elif kinds.get("features") == "start_array":
        yield from json_items(path, "features.item")
    elif "geometry" in kinds:
        yield from json_items(path, "")
    else:
        raise AnnotationFileError(f"{path.name}: features: is missing; export a GeoJSON FeatureCollection")
