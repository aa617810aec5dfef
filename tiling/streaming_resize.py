"""Makes the raster of one recipe of the rows of a level, as they pass."""

import numpy as np

from gigavqa.tiling.edges import WindowEdges, window_edges
from gigavqa.tiling.geometry import Region
from gigavqa.tiling.orientation import orient_pixels, orient_size, region_s_from_oriented
from gigavqa.tiling.recipes import Recipe
from gigavqa.tiling.resampling import Resizer, whole_box
from gigavqa.tiling.sources import Level
from gigavqa.tiling.sources.base import Decoder, Pixels
from gigavqa.tiling.sources.window import level_window


class StreamingResize:
    """Takes bands of rows of a level from top to bottom, and uses what they have of the recipe's region.

    The region is resized in the stored frame and turned at the end. Its pixels do not depend on how bands are cut.
    Nothing outside the region is used: where an edge of it cuts a pixel of the level in two, the one inside stands in.
    What a level whose size was rounded down lacks of the region is read of `decoder`, if there is one.
    """

    def __init__(self, recipe: Recipe, level: Level, orientation: int, decoder: Decoder | None = None) -> None:
        size_s = orient_size(recipe.source_size, orientation)
        region_s = region_s_from_oriented(recipe.region, size_s, orientation)
        window = level_window(level, region_s, size_s)
        self.region_l: Region = window.region_l
        """What is used of the level, in its pixels and the stored frame."""
        self.is_done = False
        self._window = window
        self._edges = window_edges(decoder, level, window, region_s) if decoder else WindowEdges()
        self._orientation = orientation
        self._resizers: list[Resizer] = []
        size, box = window.size, window.box
        for target in recipe.stages:
            target_s = orient_size(target, orientation)
            if target_s != size or box != whole_box(size):
                self._resizers.append(Resizer(size, box, target_s, recipe.plan.filter))
            size, box = target_s, whole_box(target_s)
        self._pixels_s = np.empty((size.height, size.width, 3), np.uint8)
        self._rows = 0

    def needs(self, top: int, rows: int) -> bool:
        """Return whether some of so many rows of the level from `top` on lie in the region."""
        return top < self.region_l.y + self.region_l.height and top + rows > self.region_l.y

    def take(self, band: Pixels, left: int, top: int) -> None:
        """Use a band whose first pixel is at (left, top) of the level; bands come in order, and cover the region."""
        x, y, width, height = self.region_l
        last = min(top + band.shape[0], y + height)
        rows = slice(max(top, y) - y, last - y)
        part = self._with_columns(band[rows.start + y - top : last - top, x - left : x - left + width], rows)
        above, below = self._window.before[1], self._window.after[1]
        if above and rows.start == 0:
            self._push(np.repeat(part[:1], above, axis=0), 0)
        self._push(part, 0)
        if last == y + height:
            if below:
                last_row = np.repeat(part[-1:], below, axis=0)
                self._push(last_row if self._edges.below is None else self._edges.below, 0)
            self.is_done = True

    def _with_columns(self, part: Pixels, rows: slice) -> Pixels:
        """Add the columns that these rows of the window lack before and after them."""
        before, after = self._window.before[0], self._window.after[0]
        if not before and not after:
            return part
        edge = self._edges.right
        last_columns = np.repeat(part[:, -1:], after, axis=1) if edge is None else edge[rows]
        return np.concatenate([np.repeat(part[:, :1], before, axis=1), part, last_columns], axis=1)

    def pixels(self) -> Pixels:
        """Return the raster's pixels, H x W x 3, C-contiguous and read-only, when it is done."""
        pixels = orient_pixels(self._pixels_s, self._orientation)
        pixels.flags.writeable = False
        return pixels

    def _push(self, band: Pixels, stage: int) -> None:
        if stage == len(self._resizers):
            self._pixels_s[self._rows : self._rows + band.shape[0]] = band
            self._rows += band.shape[0]
            return
        for rows in self._resizers[stage].push(band):
            self._push(rows, stage + 1)
