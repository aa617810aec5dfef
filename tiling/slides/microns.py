"""Regions and sizes in microns on the specimen, of images whose file says how large their pixels are."""

import math
from collections.abc import Mapping
from functools import partial

from gigavqa.tiling.errors import BudgetError
from gigavqa.tiling.geometry import MicronsPerPixel, Region, RegionResolver, Size
from gigavqa.tiling.region_grammar import RegionScheme, RegionText

_ROUNDING = 1e-6  # of a pixel: what binary fractions add is no further pixel
_MOST_ENLARGED = 1.01  # two scanners' 0.25 microns are 0.2498 and 0.2521


def micron_resolvers(microns: MicronsPerPixel | None) -> Mapping[RegionScheme, RegionResolver]:
    """Return what finds regions in microns in an image with pixels of this size; nothing where its file says none."""
    return {"um": partial(_find_region, microns)} if microns else {}


def scaled_to_microns(region: Size, microns: MicronsPerPixel | None, wanted: float) -> Size:
    """Return the size at which a pixel of a region is `wanted` microns wide and high.

    Raises BudgetError where the file does not say how large pixels are, and where it would be enlarged.
    """
    if microns is None:
        raise BudgetError(f"sizing 'mpp:{wanted:g}' needs microns per pixel, which the image's file does not say")
    size = Size(*(max(1, round(side * each / wanted)) for side, each in zip(region, microns, strict=True)))
    if any(side > _MOST_ENLARGED * had and side > had for side, had in zip(size, region, strict=True)):
        raise BudgetError(
            f"sizing 'mpp:{wanted:g}' would enlarge the image, which has {microns} microns per pixel; ask for no finer"
        )
    return Size(*(min(side, had) for side, had in zip(size, region, strict=True)))


def _find_region(microns: MicronsPerPixel, asked: RegionText, _size: Size) -> Region:
    """Return the whole pixels that enclose a region in microns from the upper left corner of level 0."""
    x, y, width, height = asked.numbers
    left, top = math.floor(x / microns.x + _ROUNDING), math.floor(y / microns.y + _ROUNDING)
    right, bottom = math.ceil((x + width) / microns.x - _ROUNDING), math.ceil((y + height) / microns.y - _ROUNDING)
    return Region(left, top, right - left, bottom - top)
