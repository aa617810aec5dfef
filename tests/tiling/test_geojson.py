"""Areas in GeoJSON, read and written; geometries that shapely and QGIS write."""

from typing import Any

import pytest

from gigavqa.tiling.ground.geojson import areas_of, feature

RING = [[13.0, 52.0], [13.5, 52.0], [13.5, 52.5], [13.0, 52.0]]
POLYGON: dict[str, Any] = {"type": "Polygon", "coordinates": [RING]}
VERTICES = "13,52,13.5,52,13.5,52.5"


def system(name: str) -> dict[str, Any]:
    return {"crs": {"type": "name", "properties": {"name": name}}}


@pytest.mark.parametrize(
    ("value", "regions"),
    [
        (POLYGON, [f"lonlat:{VERTICES}"]),
        ({"type": "Feature", "geometry": POLYGON, "properties": None}, [f"lonlat:{VERTICES}"]),
        ({"type": "MultiPolygon", "coordinates": [[RING], [RING]]}, [f"lonlat:{VERTICES}"] * 2),
        ({**POLYGON, "coordinates": [[[*point, 30.0] for point in RING]]}, [f"lonlat:{VERTICES}"]),
        ({**POLYGON, **system("urn:ogc:def:crs:OGC:1.3:CRS84")}, [f"lonlat:{VERTICES}"]),
        ({**POLYGON, **system("urn:ogc:def:crs:EPSG::25832")}, [f"epsg:25832:{VERTICES}"]),
        (
            {"type": "FeatureCollection", **system("EPSG:32633"),
             "features": [{"type": "Feature", "geometry": POLYGON, "properties": {}}] * 2},
            [f"epsg:32633:{VERTICES}"] * 2,
        ),
    ],
)  # fmt: skip
def test_areas_become_regions(value: dict[str, Any], regions: list[str]) -> None:
    """By the vertices of their outer rings, in the system that they are in."""
    assert [area.region for area in areas_of(value)] == regions


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"type": "Point", "coordinates": [13, 52]}, "a Point is no area; give a Polygon"),
        ({"type": "GeometryCollection", "geometries": [POLYGON]}, "is no area"),
        ({"type": "Feature", "geometry": None, "properties": {}}, "without a geometry"),
        ({"type": "FeatureCollection", "features": [POLYGON]}, "is no feature"),
        ({"type": "FeatureCollection"}, "`features` is no list"),
        ({"type": "Polygon"}, "`coordinates` is no list"),
        ({"type": "Polygon", "coordinates": []}, "none of an area"),
        ({"type": "MultiPolygon", "coordinates": []}, "without coordinates"),
        ({"type": "FeatureCollection", "features": []}, "a collection without a feature"),
        ({"type": "Polygon", "coordinates": [RING[:3]]}, "a ring has four positions"),
        ({"type": "Polygon", "coordinates": [[*RING[:3], [9, 9]]]}, "a ring has four positions"),
        ({"type": "Polygon", "coordinates": [[["a", 1]] * 4]}, "none of an area"),
        ({"type": "Polygon", "coordinates": [[[float("nan"), 1]] * 4]}, "a ring has four positions"),
        ({**POLYGON, "crs": None}, "names no system"),
        ({**POLYGON, **system("EPSG:4326")}, "differ in the order of EPSG:4326"),
        ({**POLYGON, **system("urn:ogc:def:crs:ESRI::102100")}, "is none of EPSG's"),
        ({"type": "Polygon", "coordinates": [[[179, 1], [-179, 1], [-179, 2], [179, 1]]]}, "across the antimeridian"),
    ],
)
def test_what_is_no_area_or_unsure_is_refused(value: dict[str, Any], told: str) -> None:
    """With what it is."""
    with pytest.raises(ValueError, match=told):
        list(areas_of(value))


def test_an_outline_beyond_the_antimeridian_is_cut_there() -> None:
    """Two polygons, as RFC 7946 asks for (3.1.9), each a closed ring."""
    written = feature([(179.0, 0.0), (181.0, 0.0), (181.0, 1.0), (179.0, 1.0), (179.0, 0.0)], {"a": 1})
    (east,), (west,) = written["geometry"]["coordinates"]
    assert written["geometry"]["type"] == "MultiPolygon"
    assert written["properties"] == {"a": 1}
    assert sorted(set(east)) == [(-180.0, 0.0), (-180.0, 1.0), (-179.0, 0.0), (-179.0, 1.0)]
    assert sorted(set(west)) == [(179.0, 0.0), (179.0, 1.0), (180.0, 0.0), (180.0, 1.0)]
    assert east[0] == east[-1] and west[0] == west[-1]


def test_an_outline_on_one_side_stays_one_polygon() -> None:
    """Also one that touches the antimeridian."""
    ring = [(179.0, 0.0), (180.0, 0.0), (180.0, 1.0), (179.0, 0.0)]
    assert feature(ring, {})["geometry"] == {"type": "Polygon", "coordinates": [ring]}
