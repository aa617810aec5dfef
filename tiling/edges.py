"""The last row and column of a level whose size was rounded down: they stand for parts of pixels, which it lacks.

They are made as ingest makes them, as averages of what is left over: of the pixels that lie there in the coarsest finer
level that has all of the region in whole pixels, level 0 if no other.
"""

from typing import NamedTuple

import numpy as np

from gigavqa.tiling.geometry import Region
from gigavqa.tiling.sources.base import Decoder, Level, Pixels
from gigavqa.tiling.sources.window import Window


class WindowEdges(NamedTuple):
    """The pixels that a window lacks: a column of its height, and a row of its picture's whole width."""

    right: Pixels | None = None
    below: Pixels | None = None


def window_edges(decoder: Decoder, level: Level, window: Window, region: Region) -> WindowEdges:
    """Average what of a region (level 0, stored frame) lies where the level was cut off. Reads strips of a finer level.

    Nothing where a level's scale is no whole number, so that it was stretched, and not cut off; nor of one that lags,
    whose last pixels lie at the image's edge.
    Raises ImageUnreadableError where the strips cannot be decoded.
    """
    if level.lag or not level.downsample.is_integer():
        return WindowEdges()
    (x, y, width, height), (columns, rows) = window.region_l, window.after
    left, size = window.before[0], window.size
    is_cut_right, is_cut_below = columns and x + width == level.size.width, rows and y + height == level.size.height
    right = _averages(decoder, level, Region(x + width, y, columns, height), region) if is_cut_right else None
    below = _averages(decoder, level, Region(x - left, y + height, size.width, rows), region) if is_cut_below else None
    return WindowEdges(right, below)


def _averages(decoder: Decoder, level: Level, wanted_l: Region, region: Region) -> Pixels:
    number = _finer_level(decoder, level, region)
    finer = int(decoder.levels[number].downsample)
    scale = int(level.downsample) // finer
    columns, rows = (
        (np.arange(start, start + length + 1) * scale).clip(least // finer, (least + most) // finer)
        for start, length, least, most in (
            (wanted_l.x, wanted_l.width, region.x, region.width),
            (wanted_l.y, wanted_l.height, region.y, region.height),
        )
    )
    sums = np.zeros((len(rows) - 1, len(columns) - 1, 3))
    strip = Region(*map(int, (columns[0], rows[0], columns[-1] - columns[0], rows[-1] - rows[0])))
    top = strip.y
    for band in decoder.bands(number, strip):
        across = np.add.reduceat(band.astype(np.uint32), columns[:-1] - columns[0], axis=1)
        np.add.at(sums, np.arange(top, top + band.shape[0]) // scale - wanted_l.y, across)
        top += band.shape[0]
    areas = np.diff(rows)[:, None, None] * np.diff(columns)[None, :, None]
    averages: Pixels = np.floor(sums / areas + 0.5).astype(np.uint8)
    return averages


def _finer_level(decoder: Decoder, level: Level, region: Region) -> int:
    """Return the coarsest level below this one whose pixels make up the region, and its pixels, in whole numbers."""
    ends = (region.x, region.y, region.x + region.width, region.y + region.height)
    for number in reversed(range(1, decoder.levels.index(level))):
        size, scale, lag = decoder.levels[number]
        is_whole = scale.is_integer() and not level.downsample % scale and not any(end % scale for end in ends)
        if is_whole and not lag and ends[2] <= size.width * scale and ends[3] <= size.height * scale:
            return number
    return 0
