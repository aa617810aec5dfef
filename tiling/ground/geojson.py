"""Areas in GeoJSON (RFC 7946), in and out: in WGS 84 in lon and lat, or in the system that a member `crs` names.

That member is of GeoJSON 2008; GDAL and QGIS still write it.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

_AREAS = {"Polygon", "MultiPolygon"}
_LINES_AND_POINTS = {"Point", "MultiPoint", "LineString", "MultiLineString", "GeometryCollection"}
_TYPES = _AREAS | _LINES_AND_POINTS | {"Feature", "FeatureCollection"}
_LONLAT = {"OGC:CRS84", "urn:ogc:def:crs:OGC:1.3:CRS84", "urn:ogc:def:crs:OGC::CRS84"}
_EPSG = ("urn:ogc:def:crs:EPSG:", "EPSG:")
_LATLON = 4326


class GeoJsonArea(NamedTuple):
    """The text of a region, and the properties of the feature that it was of."""

    region: str
    properties: Mapping[str, Any]


def is_geojson(value: Any) -> bool:
    """Return whether a value is an object of GeoJSON, by its type."""
    return isinstance(value, dict) and value.get("type") in _TYPES


def areas_of(value: Mapping[str, Any], head: str = "lonlat:") -> Iterator[GeoJsonArea]:
    """Yield the areas of an object of GeoJSON: one of each polygon.

    Raises ValueError for what is no area, or lies in a system that is unsure.
    """
    if "crs" in value:
        head = _head_of_system(value["crs"])
    if value["type"] == "FeatureCollection":
        if not (features := _list(value, "features")):
            raise ValueError("GeoJSON: a collection without a feature")
        for feature in features:
            if not is_geojson(feature) or feature["type"] != "Feature":
                raise ValueError("GeoJSON: a member of `features` is no feature")
            yield from areas_of(feature, head)
        return
    geometry: Any = value.get("geometry") if value["type"] == "Feature" else value
    if not is_geojson(geometry):
        raise ValueError("GeoJSON: a feature without a geometry")
    if geometry["type"] not in _AREAS:
        raise ValueError(f"GeoJSON: a {geometry['type']} is no area; give a Polygon")
    properties = value.get("properties") if value["type"] == "Feature" else None
    polygons = _list(geometry, "coordinates")
    for polygon in [polygons] if geometry["type"] == "Polygon" else polygons:
        yield GeoJsonArea(head + _numbers(polygon), properties if isinstance(properties, dict) else {})
    if not polygons:
        raise ValueError("GeoJSON: an area without coordinates")


def _head_of_system(system: Any) -> str:
    try:
        name = str(system["properties"]["name"])
    except (TypeError, KeyError):
        raise ValueError("GeoJSON: its member `crs` names no system") from None
    if name in _LONLAT:
        return "lonlat:"
    code = next((name.removeprefix(head).rpartition(":")[2] for head in _EPSG if name.startswith(head)), "")
    if not code.isdecimal():
        raise ValueError(f"GeoJSON: its system '{name[:80]}' is none of EPSG's")
    if int(code) == _LATLON:
        raise ValueError("GeoJSON: writers differ in the order of EPSG:4326; say urn:ogc:def:crs:OGC:1.3:CRS84")
    return f"epsg:{code}:"


def _numbers(polygon: Any) -> str:
    points = _ring(polygon)
    longitudes = [x for x, _ in points]
    if max(longitudes) - min(longitudes) > 180 and max(map(abs, longitudes)) <= 180:
        raise ValueError("GeoJSON: an area across the antimeridian; write it as lonlat:W,S,E,N with W above E")
    return ",".join(_decimal(side) for point in points for side in point)


def _ring(polygon: Any) -> list[tuple[float, float]]:
    """Return the vertices of a polygon's outer ring, the last of which is the first again."""
    try:
        points = [(float(x), float(y)) for x, y, *_ in polygon[0]]
    except (TypeError, ValueError, IndexError):
        raise ValueError("GeoJSON: coordinates that are none of an area") from None
    if len(points) < 4 or points[0] != points[-1] or not all(math.isfinite(x + y) for x, y in points):
        raise ValueError("GeoJSON: a ring has four positions at least, of which the last is the first again")
    return points[:-1]


def _decimal(side: float) -> str:
    return f"{side:.9f}".rstrip("0").rstrip(".")


def _list(value: Mapping[str, Any], name: str) -> list[Any]:
    found = value.get(name)
    if not isinstance(found, list):
        raise ValueError(f"GeoJSON: its member `{name}` is no list")
    return found


def feature(ring: Iterable[tuple[float, float]], properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return a feature of one polygon, cut in two at the antimeridian, beyond which a ring's longitudes may go on."""
    points = list(ring)
    parts = [part for part in (_cut(points, turn) for turn in (-360, 0, 360)) if part]
    geometry: dict[str, Any] = {"type": "Polygon", "coordinates": [parts[0]]}
    if len(parts) > 1:
        geometry = {"type": "MultiPolygon", "coordinates": [[part] for part in parts]}
    return {"type": "Feature", "geometry": geometry, "properties": dict(properties)}


def _cut(points: list[tuple[float, float]], turn: int) -> list[tuple[float, float]]:
    """Return what of a closed ring lies between -180 and 180 moved by a turn; nothing of what has no area."""
    moved = [(lon + turn, lat) for lon, lat in points[:-1]]
    for edge, sign in ((-180.0, 1), (180.0, -1)):
        kept: list[tuple[float, float]] = []
        for (lon, lat), (next_lon, next_lat) in zip(moved, moved[1:] + moved[:1], strict=True):
            is_in, goes_in = (lon - edge) * sign >= 0, (next_lon - edge) * sign >= 0
            if is_in:
                kept.append((lon, lat))
            if is_in != goes_in:
                kept.append((edge, lat + (next_lat - lat) * (edge - lon) / (next_lon - lon)))
        moved = kept
    if len(moved) < 3 or max(lon for lon, _ in moved) == min(lon for lon, _ in moved):
        return []
    return [*moved, moved[0]]


def collection_lines(features: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the lines of a feature collection, one a feature, so that it is written as it is made."""
    yield '{"type": "FeatureCollection", "features": [\n'
    for number, one in enumerate(features):
        yield (",\n" if number else "") + json.dumps(one, ensure_ascii=False)
    yield "\n]}\n"
