"""What a pixel of an image is in the world, where its file says so: its sides, where north is, where it lies.

The resolution that scanners and editors write into any file (dots per inch of a print) says nothing of the kind.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

from gigavqa.tiling.orientation import is_transposed

_MICRONS = 1e-6


class Georeference(NamedTuple):
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
    place: Georeference | None = None

    @classmethod
    def of_microns(cls, microns: float | None) -> "ImageScale | None":
        """Return the scale of square pixels of so many microns; none of none."""
        return cls(microns * _MICRONS, microns * _MICRONS) if microns and microns > 0 else None

    def oriented(self, orientation: int) -> "ImageScale":
        """Return the scale in the oriented frame; what turns has no north and no place any more."""
        if orientation == 1:
            return self
        x, y = (self.y, self.x) if is_transposed(orientation) else (self.x, self.y)
        return replace(self, x=x, y=y, north=None, place=None)
