"""A region of level 0, as the whole pixels of another level that lie in it and its exact box among them."""

import math
from dataclasses import dataclass

from gigavqa.tiling.geometry import Region, Size
from gigavqa.tiling.resampling import Box
from gigavqa.tiling.sources.base import Level

_ROUNDING = 1e-6


@dataclass(frozen=True)
class Window:
    """`region_l` is what is read; `box` lies in a picture of `size`, which at each edge may have one pixel more.

    A pixel that only a part of the region has shows what lies beside it, too, and is not read: decision 0006. `before`
    (columns, rows) of the picture come ahead of what is read, `after` follow.
    """

    region_l: Region
    size: Size
    box: Box
    before: tuple[int, int]

    @property
    def after(self) -> tuple[int, int]:
        """Columns and rows of the picture that follow what is read."""
        columns, rows = self.before
        return self.size.width - self.region_l.width - columns, self.size.height - self.region_l.height - rows


def level_window(level: Level, region: Region, full: Size) -> Window:
    """Find the window of a level for a region of an image of `full` size, in level-0 pixels and the stored frame."""
    x = _span(region.x, region.width, full.width, level, level.size.width)
    y = _span(region.y, region.height, full.height, level, level.size.height)
    box = Box(x.start, y.start, min(x.end, x.pixels), min(y.end, y.pixels))
    read = Region(x.first, y.first, x.last - x.first, y.last - y.first)
    return Window(read, Size(x.pixels, y.pixels), box, (x.before, y.before))


@dataclass(frozen=True)
class _Span:
    """One axis of a window: pixels of the level from `first` to `last`, `before` them as many that are not read, the
    picture's `pixels`, and the region's exact ends in it.
    """

    first: int
    last: int
    before: int
    pixels: int
    start: float
    end: float


def _span(start: int, length: int, full: int, level: Level, available: int) -> _Span:
    left, right = (side / level.downsample + level.lag for side in (start, start + length))
    origin = min(math.floor(left + _ROUNDING), available - 1)
    first = origin if start == 0 else min(math.ceil(left - _ROUNDING), available - 1)
    inside = available if start + length == full else min(math.floor(right + _ROUNDING), available)
    last = max(first + 1, inside)
    return _Span(
        first,
        last,
        first - origin,
        max(last - origin, math.ceil(right - origin - _ROUNDING)),
        max(0.0, left - origin),
        right - origin,
    )
