"""Regions by places on the ground: the pixels that enclose an area, and the outline of a region in lon and lat.

An area is a box of two corners, or a polygon of its vertices, whose edges are straight in the system that they are
given in. They are followed in small steps, so that their bend in the image's grid is within the pixels.
"""

import math
from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any

import numpy as np

from gigavqa.tiling.errors import GeoreferenceError, RegionError
from gigavqa.tiling.geometry import Region, RegionResolver, Size
from gigavqa.tiling.ground.georeference import Georeference, Points, georeference_of, transform_points
from gigavqa.tiling.ground.geotags import GeoTags
from gigavqa.tiling.region_grammar import RegionScheme, RegionText

_SCHEMES: tuple[RegionScheme, ...] = ("lonlat", "projected", "epsg")
_STEPS = 1024  # around an area
_SLACK = 0.01  # of a pixel: what coordinates of a few decimals lack is no further pixel
_BEND = 0.002  # of a pixel, that an outline may lie beside its region
_MOST_LEAP = 0.5  # of an area's diagonal in one step: the map is torn there
_TURN = 360.0


def place_resolvers(tags: GeoTags) -> Mapping[RegionScheme, RegionResolver]:
    """Return what finds places in an image with these tags, whose errors are raised when one is looked for."""
    return dict.fromkeys(_SCHEMES, partial(_find_region, tags)) if tags else {}


def _find_region(tags: GeoTags, asked: RegionText, size: Size) -> Region:
    try:
        found = _enclosing_pixels(georeference_of(tags), asked, size)
    except GeoreferenceError as error:
        raise GeoreferenceError(f"region '{asked}' cannot be found in the image: {error}") from error
    left, top, right, bottom = found
    beyond = asked.scheme == "lonlat" and len(asked.numbers) == 4 and asked.numbers[0] > asked.numbers[2]
    if left < 0 or top < 0 or right > size.width or bottom > size.height:
        raise RegionError(
            f"region '{asked}' reaches outside the image, which spans {bounds_text(georeference_of(tags), size, asked)}"
            f"{'; its west is east of its east, which says across the antimeridian' if beyond else ''}"
        )
    return Region(left, top, right - left, bottom - top)


def _enclosing_pixels(georeference: Georeference, asked: RegionText, size: Size) -> tuple[int, int, int, int]:
    path = _walk(_vertices(asked), _STEPS)
    if asked.scheme == "projected":
        if georeference.keys.model == "geographic":
            raise GeoreferenceError("its grid is in degrees; say lonlat:W,S,E,N")
        pixels = georeference.pixels(path)
    else:
        pixels = georeference.pixels_of(path, asked.code)
        _require_untorn(pixels)
        pixels = _turned_into(pixels, georeference.turn, size)
    low, high = pixels.min(axis=0), pixels.max(axis=0)
    left, top = (math.floor(side + _SLACK) for side in low)
    right, bottom = (math.ceil(side - _SLACK) for side in high)
    return left, top, max(right, left + 1), max(bottom, top + 1)


def _vertices(asked: RegionText) -> Points:
    """Return the corners of an area, in order. Raises RegionError for one that has none."""
    if len(asked.numbers) > 4:
        points = np.array(asked.numbers).reshape(-1, 2)
        if np.ptp(points, axis=0).min() <= 0:
            raise RegionError(f"region '{asked}' has no area")
        if asked.scheme == "lonlat":
            _require_degrees(asked, points)
        return points
    west, south, east, north = asked.numbers
    if asked.scheme == "lonlat":
        _require_degrees(asked, np.array([[west, south], [east, north]]))
        east += _TURN if east < west else 0  # across the antimeridian (RFC 7946, 5.2)
    if not (west < east and south < north):
        raise RegionError(f"region '{asked}' has no area: its corners are west, south, east, north")
    return np.array([[west, south], [east, south], [east, north], [west, north]])


def _require_degrees(asked: RegionText, points: Points) -> None:
    if np.abs(points[:, 0]).max() > 180 or np.abs(points[:, 1]).max() > 90:
        raise RegionError(f"region '{asked}' is not in degrees: longitudes lie from -180 to 180, latitudes to 90")


def _walk(vertices: Points, steps: int) -> Points:
    """Return points around a polygon, about so many, evenly spaced, its vertices among them."""
    ends = np.roll(vertices, -1, axis=0)
    lengths = np.linalg.norm(ends - vertices, axis=1)
    counts = np.maximum(1, np.ceil(steps * lengths / lengths.sum())).astype(int)
    starts = np.repeat(np.arange(len(vertices)), counts)
    parts = np.concatenate([np.arange(count) / count for count in counts])[:, None]
    path: Points = vertices[starts] * (1 - parts) + ends[starts] * parts
    return path


def _require_untorn(pixels: Points) -> None:
    """Raise GeoreferenceError where neighbours on the ground lie far apart in the image's map."""
    leap = np.linalg.norm(pixels - np.roll(pixels, 1, axis=0), axis=1).max()
    if leap > _MOST_LEAP * np.linalg.norm(np.ptp(pixels, axis=0)):
        raise GeoreferenceError("the edge of the image's map runs through it; ask for the parts on either side")


def _turned_into(pixels: Points, turn: Points, size: Size) -> Points:
    """Move an area by whole turns of longitude to where the image is."""
    if not turn.any():
        return pixels
    middle, centre = pixels.mean(axis=0), np.array(size) / 2
    turns = round(float((centre - middle) @ turn / (turn @ turn)))
    return pixels + turns * turn


def bounds_text(georeference: Georeference, size: Size, asked: RegionText) -> str:
    """Say what an image spans, in the scheme of a region that was asked for."""
    corners = _walk(_corners(Region(0, 0, *size)), _STEPS)
    if asked.scheme == "projected":
        points, digits, head = georeference.ground(corners), 3, "projected:"
    else:
        lonlat = georeference.lonlat(corners)
        points = lonlat if asked.code is None else transform_points(None, asked.code, lonlat)
        digits, head = (6, "lonlat:") if asked.code is None else (3, f"epsg:{asked.code}:")
    around = False
    if asked.scheme == "lonlat":
        points[:, 0] = np.unwrap(points[:, 0], period=_TURN)
        around = _goes_around(points)
    (west, south), (east, north) = points.min(axis=0), points.max(axis=0)
    if around:
        west, east = -180.0, 180.0
        south, north = (south, 90.0) if south + north > 0 else (-90.0, north)
    elif asked.scheme == "lonlat":
        west, east = ((side + 180) % _TURN - 180 if abs(round(side, 6)) > 180 else side for side in (west, east))
    return head + ",".join(f"{side:.{digits}f}".rstrip("0").rstrip(".") for side in (west, south, east, north))


def _goes_around(points: Points) -> bool:
    """Return whether a closed path goes around a pole: its longitudes end a turn from where they begin."""
    return bool(abs(points[-1, 0] - points[0, 0]) > _TURN / 2)


def outline_of(georeference: Georeference, region: Region) -> list[tuple[float, float]]:
    """Return a region's outline in lon and lat, counterclockwise on the ground and closed, as RFC 7946 has it.

    Its edges have as many points as keep them within a part of a pixel of the region's. Longitudes go on beyond 180
    where the region crosses the antimeridian. Raises GeoreferenceError.
    """
    steps = 4
    while True:
        pixels = _walk(_corners(region), steps)
        points = georeference.lonlat(pixels)
        points[:, 0] = np.unwrap(points[:, 0], period=_TURN)
        if _goes_around(points):
            raise GeoreferenceError("a pole lies within the region, whose outline is no polygon in lon and lat")
        middles, wanted = ((path + np.roll(path, -1, axis=0)) / 2 for path in (points, pixels))
        apart = np.abs(georeference.pixels_of(middles, None) - wanted).max()
        if apart <= _BEND or steps >= _STEPS:
            break
        steps *= 2
    ahead = np.roll(points, -1, axis=0)
    if (points[:, 0] * ahead[:, 1] - ahead[:, 0] * points[:, 1]).sum() < 0:
        points = points[::-1]
    ring = [(float(lon), float(lat)) for lon, lat in points.round(9)]
    return [*ring, ring[0]]


def _corners(region: Region) -> Points:
    x, y, width, height = region
    return np.array([[x, y], [x + width, y], [x + width, y + height], [x, y + height]], float)


@lru_cache(maxsize=1024)
def describe_ground(tags: GeoTags, size: Size) -> str:
    """Say where an image lies, how far its pixels are apart and where north is; nothing of one without georeference."""
    if not tags:
        return ""
    try:
        return georeference_of(tags).describe(size)
    except GeoreferenceError as error:
        return f"its georeference is not understood: {error}"


def ground_record(tags: GeoTags, size: Size) -> dict[str, Any]:
    """Return the same for programs: `crs`, `gsd` (metres along rows and columns) and `north` (degrees right of up).

    Nothing of an image without georeference, or with one that is not understood.
    """
    try:
        found = georeference_of(tags) if tags else None
        if found is None:
            return {}
        scale = found.scale_at(size)
        north = None if scale is None else round(found.north_at(size), 3) + 0.0
        return {"crs": found.name, "gsd": scale and [float(f"{side:.6g}") for side in scale], "north": north}
    except GeoreferenceError:
        return {}
