"""A region of level 0, as the whole pixels of another level that cover it and its exact box among them."""

import math
from dataclasses import dataclass

from gigavqa.tiling.geometry import Region, Size
from gigavqa.tiling.resampling import Box
from gigavqa.tiling.sources.base import Level

_ROUNDING = 1e-6


@dataclass(frozen=True)
class Window:
    """`region_l` is what is read; `box` lies in a picture of `size`, at times a pixel larger than what could be read.

    A level whose size was rounded down lacks the last part of a pixel; the last row and column stand in for it.
    """

    region_l: Region
    size: Size
    box: Box


def level_window(level: Level, region: Region) -> Window:
    """Find the window of a level for a region in level-0 pixels, both in the stored frame."""
    x, width, left, right = _span(region.x, region.width, level, level.size.width)
    y, height, top, bottom = _span(region.y, region.height, level, level.size.height)
    size = Size(max(width, math.ceil(right - _ROUNDING)), max(height, math.ceil(bottom - _ROUNDING)))
    box = Box(left, top, min(right, size.width), min(bottom, size.height))
    return Window(Region(x, y, width, height), size, box)


def _span(start: int, length: int, level: Level, available: int) -> tuple[int, int, float, float]:
    """First pixel and number of pixels on one axis of a level, then the exact ends relative to the first."""
    left, right = (side / level.downsample + level.lag for side in (start, start + length))
    first = min(math.floor(left + _ROUNDING), available - 1)
    last = max(first + 1, min(math.ceil(right - _ROUNDING), available))
    return first, last - first, max(0.0, left - first), right - first
