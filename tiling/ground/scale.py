"""What a pixel of an image is in the world, where its file says so: its sides, where north is, where it lies.

The resolution that scanners and editors write into any file (dots per inch of a print) says nothing of the kind.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from gigavqa.tiling.errors import GeoreferenceError
from gigavqa.tiling.geometry import Size
from gigavqa.tiling.ground.georeference import georeference_of
from gigavqa.tiling.ground.geotags import GeoTags

_MICRONS = 1e-6


class GroundTransform(NamedTuple):
    """Where pixels of level 0 lie: `affine` (a, b, c, d, e, f) leads from the corner (x, y) of a pixel to the
    coordinates (a x + b y + c, d x + e y + f) of the system that `crs` names, such as EPSG:32633.

    Both are in its unit: degrees, longitude first, where it `is_geographic`; else easting and northing.
    """

    crs: str
    affine: tuple[float, float, float, float, float, float]
    is_geographic: bool = False


@dataclass(frozen=True)
class ImageScale:
    """Sides of a level-0 pixel in metres, x and y, in the oriented frame.

    `north` is in degrees clockwise from up, where there is any. What is not known for sure is None.
    """

    x: float | None = None
    y: float | None = None
    north: float | None = None
    place: GroundTransform | None = None


def scale_of(size: Size, tags: GeoTags) -> ImageScale | None:
    """Return the scale of an image of this frame and these tags; None where its file says nothing for sure."""
    try:
        return _ground_scale(size, tags) if tags else _specimen_scale(size)
    except GeoreferenceError:
        return None


@lru_cache(maxsize=1024)  # each tile of a viewer asks for it
def _ground_scale(size: Size, tags: GeoTags) -> ImageScale | None:
    ground = georeference_of(tags)
    sides = ground.scale_at(size)
    if sides is None:
        return None
    place = GroundTransform(f"EPSG:{ground.keys.code}", ground.matrix, not ground.system.is_projected)
    return ImageScale(sides.across, sides.down, ground.north_at(size), place)


def _specimen_scale(size: Size) -> ImageScale | None:
    microns = size.microns_per_pixel
    return ImageScale(microns.x * _MICRONS, microns.y * _MICRONS) if microns else None
