"""The last row and column of a level whose size was rounded down: they stand for parts of pixels, which it lacks.

They are made as ingest makes them, as averages of what is left over, of the level-0 pixels that lie there.
"""

from typing import NamedTuple

import numpy as np

from gigavqa.tiling.geometry import Region
from gigavqa.tiling.sources.base import Decoder, Level, Pixels


class WindowEdges(NamedTuple):
    """The pixels that a window lacks: a column of its height, and a row of its width with the column's end where there
    is one.
    """

    right: Pixels | None = None
    below: Pixels | None = None


def window_edges(decoder: Decoder, level: Level, region_l: Region, missing: tuple[int, int]) -> WindowEdges:
    """Average what a window of a level lacks, (columns, rows) of which are `missing`. Reads strips of level 0.

    Nothing where a level's scale is no whole number, so that it was stretched, and not cut off; nor of one that lags,
    whose last pixels lie at the image's edge.
    Raises ImageUnreadableError where the strips cannot be decoded.
    """
    if level.lag or not level.downsample.is_integer():
        return WindowEdges()
    (x, y, width, height), (columns, rows) = region_l, missing
    right = _averages(decoder, level, Region(x + width, y, columns, height)) if columns else None
    below = _averages(decoder, level, Region(x, y + height, width + columns, rows)) if rows else None
    return WindowEdges(right, below)


def _averages(decoder: Decoder, level: Level, wanted_l: Region) -> Pixels:
    full, scale = decoder.levels[0].size, int(level.downsample)
    columns = np.minimum(np.arange(wanted_l.x, wanted_l.x + wanted_l.width + 1) * scale, full.width)
    rows = np.minimum(np.arange(wanted_l.y, wanted_l.y + wanted_l.height + 1) * scale, full.height)
    sums = np.zeros((len(rows) - 1, len(columns) - 1, 3))
    strip = Region(*map(int, (columns[0], rows[0], columns[-1] - columns[0], rows[-1] - rows[0])))
    top = strip.y
    for band in decoder.bands(0, strip):
        across = np.add.reduceat(band.astype(np.uint32), columns[:-1] - columns[0], axis=1)
        np.add.at(sums, np.arange(top, top + band.shape[0]) // scale - wanted_l.y, across)
        top += band.shape[0]
    areas = np.diff(rows)[:, None, None] * np.diff(columns)[None, :, None]
    averages: Pixels = np.floor(sums / areas + 0.5).astype(np.uint8)
    return averages
