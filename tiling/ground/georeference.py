"""Where an image lies on the ground: its grid, its coordinate system, how large its pixels are, and where north is.

Coordinates are east before north, as GeoTIFF and GeoJSON have them. Those of one system become another's by PROJ
(pyproj), without a network (docs/decisions/0021-earth.md).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gigavqa.tiling.errors import GeoreferenceError
from gigavqa.tiling.geometry import Size
from gigavqa.tiling.ground.geotags import GeoTags, Matrix, SystemKeys, matrix_of, system_keys

if TYPE_CHECKING:
    from pyproj import CRS

Points = NDArray[np.float64]
"""N x 2: columns and rows from the image's upper left corner, or eastings and northings, or lon and lat."""

_LONLAT = "OGC:CRS84"
_DEGREE_UNITS = {9102, 9122}
_METRES_OF_UNIT = {9001: 1.0, 9002: 0.3048, 9003: 1200 / 3937}
_TRUE_SCALE = 0.01  # a map whose metres are the ground's to a hundredth has their number
_NORTH_STEP = 1e-4  # degrees, about eleven metres


class GroundScale(NamedTuple):
    """Metres on the ground from pixel to pixel, along a row and along a column, at the image's centre."""

    across: float
    down: float

    def __str__(self) -> str:
        if math.isclose(self.across, self.down, rel_tol=1e-3):
            return f"{self.across:.4g} m"
        return f"{self.across:.4g} x {self.down:.4g} m"


@dataclass(frozen=True)
class Georeference:
    """An image's grid on the ground: `matrix` takes corners of pixels to coordinates of the system of its `keys`."""

    matrix: Matrix
    keys: SystemKeys

    @property
    def name(self) -> str:
        """The coordinate system as people know it: `EPSG:32633 (WGS 84 / UTM zone 33N)`."""
        if self.keys.code is None:
            return f"user-defined ({self.keys.citation or 'without a name'})"
        return f"EPSG:{self.keys.code} ({self.system.name})"

    @property
    def is_rotated(self) -> bool:
        """Whether rows do not run along the system's east, or columns not along its north."""
        a, b, _, d, e, _ = self.matrix
        return abs(b) > 1e-9 * abs(a) or abs(d) > 1e-9 * abs(e)

    @cached_property
    def system(self) -> "CRS":
        """The system as PROJ knows it. Raises GeoreferenceError where EPSG has no code of it, or it is none of those
        that are served.
        """
        keys = self.keys
        if keys.code is None:
            raise GeoreferenceError(
                f"its coordinate system is {self.name}, which has no EPSG code; `gdalwarp -t_srs EPSG:CODE` "
                "makes a file that has one"
            )
        system = system_of(keys.code)
        if keys.model != ("projected" if system.is_projected else "geographic"):
            raise GeoreferenceError(f"its keys call EPSG:{keys.code} ({system.name}) {keys.model}")
        told = {int(axis.unit_code) for axis in system.axis_info}
        if keys.unit and keys.unit not in told and not (told | {keys.unit} <= _DEGREE_UNITS):
            raise GeoreferenceError(f"its unit, EPSG:{keys.unit}, is not that of EPSG:{keys.code} ({system.name})")
        return system

    def ground(self, pixels: Points) -> Points:
        """Return the coordinates of points of the image, in its own system."""
        a, b, c, d, e, f = self.matrix
        found: Points = pixels @ np.array([[a, d], [b, e]]) + np.array([c, f])
        return found

    def pixels(self, ground: Points) -> Points:
        """Return where in the image points of its own system lie."""
        a, b, c, d, e, f = self.matrix
        found: Points = (ground - (c, f)) @ np.linalg.inv(np.array([[a, d], [b, e]]))
        return found

    def lonlat(self, pixels: Points) -> Points:
        """Return longitudes and latitudes of WGS 84 of points of the image. Raises GeoreferenceError."""
        return transform_points(self._code, None, self.ground(pixels))

    def pixels_of(self, points: Points, code: int | None) -> Points:
        """Return where points lie in the image, given in WGS 84 in degrees, or in the system of an EPSG `code`.

        Longitudes of an image in degrees go on beyond 180 as far as the image does. Raises GeoreferenceError.
        """
        ground = transform_points(code, self._code, points)
        if not self.system.is_projected:
            ground[:, 0] = np.unwrap(ground[:, 0], period=self._turn)
        return self.pixels(ground)

    @property
    def turn(self) -> Points:
        """The step in pixels that a full turn of longitude is, of an image in degrees; nothing of a map."""
        a, b, _, d, e, _ = self.matrix
        step = 0.0 if self.system.is_projected else self._turn
        return np.array([step, 0.0]) @ np.linalg.inv(np.array([[a, d], [b, e]]))

    @property
    def _turn(self) -> float:
        """What 360 degrees are in the unit of the system."""
        return 2 * math.pi / float(self.system.axis_info[0].unit_conversion_factor)

    @property
    def _code(self) -> int:
        assert self.system and self.keys.code  # the former raises for what has none
        return self.keys.code

    def scale_at(self, size: Size) -> GroundScale | None:
        """Return how far pixels lie apart at the centre of an image of `size`; None of an unknown map projection.

        In metres of the map where those are the ground's to a hundredth, else along the ellipsoid, as for degrees and
        Web Mercator. Raises GeoreferenceError.
        """
        if self.keys.code is None:
            return None
        column, row = size.width / 2, size.height / 2
        from pyproj import Geod  # noqa: PLC0415 - half a second, which whoever asks for no place need not wait for

        cross = np.array([[column - 0.5, row], [column + 0.5, row], [column, row - 0.5], [column, row + 0.5]])
        (west, east, top, bottom) = self.lonlat(cross)
        geod = Geod(ellps="WGS84")
        ground = tuple(float(geod.inv(*start, *end)[2]) for start, end in ((west, east), (top, bottom)))
        if self.system.is_projected:
            a, b, _, d, e, _ = self.matrix
            metres = float(self.system.axis_info[0].unit_conversion_factor)
            own = metres * math.hypot(a, d), metres * math.hypot(b, e)
            if all(abs(grid / true - 1) < _TRUE_SCALE for grid, true in zip(own, ground, strict=True)):
                return GroundScale(*own)
        return GroundScale(*ground)

    def north_at(self, size: Size) -> float:
        """Return true north at the centre of an image of `size`, in degrees clockwise from up.

        Raises GeoreferenceError.
        """
        centre = np.array([[size.width / 2, size.height / 2]])
        here = self.lonlat(centre)
        step = _NORTH_STEP if here[0, 1] < 90 - _NORTH_STEP else -_NORTH_STEP
        (right, down) = (self.pixels_of(here + np.array([0, step]), None) - centre)[0] * np.sign(step)
        return math.degrees(math.atan2(right, -down)) + 0.0

    def describe(self, size: Size) -> str:
        """Return a line for people: the system, the pixels' size, and north."""
        scale = self.scale_at(size)
        if scale is None:
            a, b, _, d, e, _ = self.matrix
            unit = _METRES_OF_UNIT.get(self.keys.unit or 0)
            grid = f"{math.hypot(a, d) * unit:.4g} x {math.hypot(b, e) * unit:.4g} m of the map" if unit else "unknown"
            return f"{self.name}; pixels {grid}, ground sampling distance and north unknown"
        north = round(self.north_at(size), 1) + 0.0
        turned = "up" if not north else f"{abs(north):g} degrees {'right' if north > 0 else 'left'} of up"
        return f"{self.name}; ground sampling distance {scale}; north is {turned}"


@lru_cache(maxsize=1024)
def georeference_of(tags: GeoTags) -> Georeference:
    """Understand an image's tags. Raises GeoreferenceError."""
    keys = system_keys(tags)
    return Georeference(matrix_of(tags, is_point=keys.is_point), keys)


@lru_cache(maxsize=256)
def system_of(code: int) -> "CRS":
    """Return EPSG's coordinate system of two axes by its code. Raises GeoreferenceError."""
    from pyproj import CRS  # noqa: PLC0415
    from pyproj.exceptions import CRSError  # noqa: PLC0415

    try:
        system = CRS.from_authority("EPSG", code)
    except CRSError:
        raise GeoreferenceError(f"EPSG:{code} is no coordinate system that PROJ knows") from None
    if system.is_compound:
        raise GeoreferenceError(f"EPSG:{code} ({system.name}) has heights; name the system of the plane")
    if not (system.is_projected or system.is_geographic) or len(system.axis_info) != 2:
        raise GeoreferenceError(f"EPSG:{code} ({system.name}) is neither a map projection nor in degrees")
    if any(axis.direction == "west" for axis in system.axis_info):
        raise GeoreferenceError(f"EPSG:{code} ({system.name}) counts to the west, of which writers differ")
    return system


@lru_cache(maxsize=256)
def _transformer(source: int | None, target: int | None) -> Callable[..., Any]:
    from pyproj import CRS, Transformer, network  # noqa: PLC0415

    network.set_network_enabled(active=False)  # type: ignore[attr-defined]
    first, last = (CRS.from_user_input(_LONLAT) if code is None else system_of(code) for code in (source, target))
    transformer = Transformer.from_crs(first, last, always_xy=True, allow_ballpark=False)
    transform: Callable[..., Any] = transformer.transform
    return transform


def transform_points(source: int | None, target: int | None, points: Points) -> Points:
    """Return points of one system in another, each by its EPSG code, None for WGS 84 in lon and lat.

    Raises GeoreferenceError where a point has no coordinates there, or no way between both is known.
    """
    if source == target:
        return points.copy()
    from pyproj.exceptions import ProjError  # noqa: PLC0415

    try:
        moved = np.column_stack(_transformer(source, target)(*points.T.tolist(), errcheck=True))
    except ProjError as error:
        raise GeoreferenceError(f"no coordinates of it in {_name(target)}: {' '.join(str(error).split())}") from error
    if not np.isfinite(moved).all():
        raise GeoreferenceError(f"parts of it have no coordinates in {_name(target)}")
    return moved


def _name(code: int | None) -> str:
    return "lon/lat" if code is None else f"EPSG:{code}"
