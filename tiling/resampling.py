"""Resizing a picture that arrives in bands of rows, so that neither it nor its full height is ever held.

The same pixels as Pillow's resize of the whole picture: a horizontal pass, rounded to 8 bits, then a vertical one
(Pillow, src/libImaging/Resample.c), whose rows need only a window of the picture. libvips makes the horizontal pass
where it can place its samples as exactly, in a fifth of the time and at 59 dB or more of Pillow's.
"""

import math
from typing import NamedTuple

import numpy as np
import pyvips
from PIL import Image

from gigavqa.tiling.budgets.base import Filter
from gigavqa.tiling.geometry import Size
from gigavqa.tiling.sources.base import Pixels

_PILLOW = {
    "bicubic": Image.Resampling.BICUBIC,
    "bilinear": Image.Resampling.BILINEAR,
    "lanczos": Image.Resampling.LANCZOS,
}
_VIPS = {"bicubic": "cubic", "bilinear": "linear", "lanczos": "lanczos3"}
_SUPPORT = {"bicubic": 2, "bilinear": 1, "lanczos": 3}
_MIN_ROWS = 32
_MAX_ROWS = 256
_MAX_PADDING = 64
_MIN_WIDTH = 128  # libvips repeats the edge where Pillow leaves it out, which shows in narrow pictures
_MAX_SCALE = 64  # libvips refuses more than some hundred
_EXACT = 0.015  # columns of the picture


class Box(NamedTuple):
    """The part of a picture that is resized, in its pixels and fractions of them."""

    left: float
    top: float
    right: float
    bottom: float


def whole_box(size: Size) -> Box:
    """Return all of a picture."""
    return Box(0, 0, size.width, size.height)


class Resizer:
    """Resizes `box` of a picture of `size` that arrives in bands of rows to `target`.

    The rows of the result are made in groups that depend on nothing but these four, so that its pixels are the same
    however the picture is cut into bands. Keeps the rows that the next group needs.
    """

    def __init__(self, size: Size, box: Box, target: Size, filter: Filter) -> None:
        self._height, self._box, self._target, self._filter = size.height, box, target, filter
        self._scale = (box.bottom - box.top) / target.height
        self._support = _SUPPORT[filter] * max(self._scale, 1) + 1
        self._group = max(_MIN_ROWS, min(_MAX_ROWS, math.ceil(_MAX_ROWS / self._scale)))
        self._rows: list[Pixels] = []
        self._first = 0  # row of the picture that is kept first
        self._end = 0
        self._done = 0  # output rows that were made

    def push(self, band: Pixels) -> list[Pixels]:
        """Take the next rows; return the groups of output rows that became possible."""
        self._rows.append(_horizontal_pass(band, self._box, self._target.width, self._filter))
        self._end += band.shape[0]
        if self._end < self._last_row(self._next()) or self._done == self._target.height:
            return []
        kept = np.concatenate(self._rows) if len(self._rows) > 1 else self._rows[0]
        made = []
        while self._done < self._target.height and self._end >= self._last_row(self._next()):
            made.append(self._resize(kept, self._next()))
            self._done = self._next()
        keep_from = max(self._first, min(self._first_row(), self._end))
        self._rows = [kept[keep_from - self._first :].copy()]
        self._first = keep_from
        return made

    def _next(self) -> int:
        """Output row that the next group ends before."""
        return min(self._done + self._group, self._target.height)

    def _first_row(self) -> int:
        """First row of the picture that the next group needs."""
        return max(0, math.floor(self._box.top + (self._done + 0.5) * self._scale - self._support))

    def _last_row(self, end: int) -> int:
        """Row of the picture before which everything lies that output rows before `end` need."""
        return min(self._height, math.ceil(self._box.top + (end - 0.5) * self._scale + self._support))

    def _resize(self, kept: Pixels, end: int) -> Pixels:
        first, last = self._first_row(), self._last_row(end)
        window = kept[first - self._first : last - self._first]
        top = max(0.0, self._box.top + self._done * self._scale - first)
        bottom = min(window.shape[0], self._box.top + end * self._scale - first)
        target = Size(window.shape[1], end - self._done)
        return _pillow(window, target, (0, top, window.shape[1], bottom), self._filter)


def _horizontal_pass(band: Pixels, box: Box, width: int, filter: Filter) -> Pixels:
    if (grid := _libvips_grid(band.shape[1], box, width)) is None:
        return _pillow(band, Size(width, band.shape[0]), (box.left, 0, box.right, band.shape[0]), filter)
    padding, skipped = grid
    padded = np.pad(band, ((0, 0), (0, padding), (0, 0)), "edge") if padding else np.ascontiguousarray(band)
    scale = (box.right - box.left) / width
    image = pyvips.Image.new_from_array(padded).reduceh(scale, kernel=_VIPS[filter], gap=0)
    columns = np.frombuffer(image.write_to_memory(), np.uint8).reshape(band.shape[0], -1, 3)
    return columns[:, skipped : skipped + width]


def _libvips_grid(available: int, box: Box, width: int) -> tuple[int, int] | None:
    """Return how many columns to add on the right, and to skip of the result, so that libvips samples where `box` asks.

    libvips centres its output on its input: N columns become M = round(N / scale), of which the first begins at column
    (N - scale * M) / 2, which every added column moves. None where it comes nowhere near enough, or is not needed.
    """
    scale = (box.right - box.left) / width
    if not 1 < scale < _MAX_SCALE or width < _MIN_WIDTH:
        return None
    for padding in range(_MAX_PADDING):
        made = round((available + padding) / scale)
        begin = (available + padding - scale * made) / 2
        skipped = round((box.left - begin) / scale)
        if abs(begin + skipped * scale - box.left) < _EXACT and skipped >= 0 and skipped + width <= made:
            return padding, skipped
    return None


def _pillow(pixels: Pixels, size: Size, box: tuple[float, float, float, float], filter: Filter) -> Pixels:
    return np.asarray(Image.fromarray(pixels).resize(size, _PILLOW[filter], box=box))
