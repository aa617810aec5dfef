"""Resizing a picture that arrives in bands of rows, so that neither it nor its full height is ever held.

The same pixels as Pillow's resize of the whole picture: a horizontal pass, rounded to 8 bits, then a vertical one
(Pillow, src/libImaging/Resample.c), whose rows need only a window of the picture. libvips makes the horizontal pass
where it can place its samples as exactly, in a fifth of the time and at 59 dB or more of Pillow's.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyvips
from PIL import Image

from tiling.budgets.base import Filter
from tiling.geometry import Size
from tiling.sources.base import Pixels

_PILLOW = {"bicubic": Image.Resampling.BICUBIC, "bilinear": Image.Resampling.BILINEAR}
_VIPS = {"bicubic": "cubic", "bilinear": "linear"}
_SUPPORT = {"bicubic": 2, "bilinear": 1}
_MIN_ROWS = 32
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


def whole(size: Size) -> Box:
    """All of a picture."""
    return Box(0, 0, size.width, size.height)


def resize_bands(bands: Iterator[Pixels], size: Size, box: Box, target: Size, filter: Filter) -> Iterator[Pixels]:
    """Resize `box` of a picture of `size` that arrives as `bands` to `target`; yields its rows in bands."""
    vertical = _VerticalPass(size.height, box, target.height, filter)
    for band in bands:
        rows = vertical.push(_horizontal_pass(band, box, target.width, filter))
        if rows is not None:
            yield rows


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
    """How many columns to add on the right, and to skip of the result, so that libvips samples where `box` asks.

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


class _VerticalPass:
    """Keeps the rows that output rows still need."""

    def __init__(self, height: int, box: Box, target: int, filter: Filter) -> None:
        self._height, self._box, self._target, self._filter = height, box, target, filter
        self._scale = (box.bottom - box.top) / target
        self._support = _SUPPORT[filter] * max(self._scale, 1) + 1
        self._window: list[Pixels] = []
        self._first = 0  # row of the picture that the window begins with
        self._end = 0
        self._done = 0  # output rows that were made

    def push(self, band: Pixels) -> Pixels | None:
        """Take the next rows; return the output rows that became possible, if they are worth a pass."""
        self._window.append(band)
        self._end += band.shape[0]
        ready = self._ready()
        if ready == self._done or (ready - self._done < _MIN_ROWS and ready < self._target):
            return None
        window = np.concatenate(self._window)
        rows = self._resize(window, ready)
        self._done = ready
        self._drop(window)
        return rows

    def _ready(self) -> int:
        if self._end >= self._height:
            return self._target
        reachable = (self._end - self._support - self._box.top) / self._scale - 0.5
        return max(self._done, min(self._target, math.floor(reachable)))

    def _resize(self, window: Pixels, ready: int) -> Pixels:
        top = max(0.0, self._box.top + self._done * self._scale - self._first)
        bottom = min(window.shape[0], self._box.top + ready * self._scale - self._first)
        target = Size(window.shape[1], ready - self._done)
        return _pillow(window, target, (0, top, window.shape[1], bottom), self._filter)

    def _drop(self, window: Pixels) -> None:
        needed = math.floor(self._box.top + (self._done + 0.5) * self._scale - self._support)
        keep_from = max(self._first, min(needed, self._end))
        self._window = [window[keep_from - self._first :].copy()]
        self._first = keep_from


def _pillow(pixels: Pixels, size: Size, box: tuple[float, float, float, float], filter: Filter) -> Pixels:
    return np.asarray(Image.fromarray(pixels).resize(size, _PILLOW[filter], box=box))
