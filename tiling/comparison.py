"""Whether an image's smaller levels show what its largest one shows: each is compared with the mean of the one before.

A level may be of another page, may have been made by leaving pixels out, or may lie beside the one before. So a few
places of it are compared with the mean of the pixels that they stand for, and with what leaving pixels out, and what
lying half a pixel beside, would have given: it is believed where the mean is nearest. That tells wherever there is
structure, however much was lost to JPEG; elsewhere a level is believed (docs/decisions/2026-11-24-levels.md).
"""

import math
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tiling.errors import ImageUnreadableError
from tiling.geometry import Region, Size
from tiling.sources.base import Decoder, Pixels

_SIDE = 96
_LEAST = 16  # a level of fewer pixels on a side tells nothing, and serves no view
_INNER = slice(2, -2)  # where what lies half a pixel beside is whole
_MARGIN = 1.25  # another explanation must be nearer than the mean by so much, of squared errors
_ROUNDING = 2.0  # squared grey levels that rounding explains
_UNRELATED = 0.75  # of both variances; images that have nothing in common differ by 1
_NOISE = 16.0  # squared grey levels that lossy compression explains
_SHADE = 16.0  # grey levels between mean colours
_LUMA = np.array([0.299, 0.587, 0.114], np.float32)
_SAMPLES = tuple(product((0.0, 0.25, 0.5, 0.75), repeat=2))  # where in a pixel of a level the one that was kept lay
_BESIDE = tuple(offset for offset in product((-0.5, 0.0, 0.5), repeat=2) if any(offset))

_Grey = NDArray[np.float32]


class Agreement(NamedTuple):
    """How many levels show the same image, from the first one on, and what is wrong with the next."""

    num_levels: int
    doubt: str = ""


def agreement(decoder: Decoder) -> Agreement:
    """Compare each level of an open image with the one before, until one differs; reads a few tiles of each."""
    for number in range(1, len(decoder.levels)):
        if doubt := _doubt(decoder, number):
            width, height = decoder.levels[number].size
            return Agreement(number, f"its level of {width}x{height} pixels {doubt}")
    return Agreement(len(decoder.levels))


def _doubt(decoder: Decoder, number: int) -> str:
    if min(decoder.levels[number].size) < _LEAST:
        return ""
    places = list(_places(decoder, number))
    if not places:
        return "cannot be compared with the one before"
    if any(place.is_of_another_image for place in places):
        return "shows something else"
    mean = sum(place.error(place.mean(0, 0)) for place in places)
    most = mean / _MARGIN - _ROUNDING * len(places)
    if min(sum(place.error(place.sample(*at)) for place in places) for at in _SAMPLES) < most:
        return "was made by leaving pixels out"
    if min(sum(place.error(place.mean(*at)) for place in places) for at in _BESIDE) < most:
        return "lies beside the one before"
    return ""


class _Place:
    """The pixels of a square of a level, and those of the finer level that lie there, which begin `lead` before it."""

    def __init__(self, coarse: Pixels, fine: Pixels, factor: float, lead: tuple[float, float]) -> None:
        self._fine, self._factor, self._lead = _luma(fine), factor, lead
        self._height, self._width = coarse.shape[:2]
        self._shades = coarse.mean((0, 1)), fine.mean((0, 1))
        self._luma = _luma(coarse)[_INNER, _INNER]

    @property
    def is_of_another_image(self) -> bool:
        """Whether both have no more in common than two images have."""
        mean = self.mean(0, 0)
        apart = max(abs(one - other) for one, other in zip(*self._shades, strict=True))
        return bool(apart > _SHADE or self.error(mean) > _UNRELATED * (self._luma.var() + mean.var()) + _NOISE)

    def error(self, explanation: _Grey) -> float:
        """The mean square of what an explanation leaves unexplained."""
        return float(np.square(self._luma - explanation).mean())

    def mean(self, right: float, down: float) -> _Grey:
        """Averages of the finer pixels, so many pixels of the level beside where they should be."""
        rows = _averages(self._height, self._fine.shape[0], self._factor, down * self._factor + self._lead[1])
        columns = _averages(self._width, self._fine.shape[1], self._factor, right * self._factor + self._lead[0])
        mean: _Grey = (rows @ self._fine @ columns.T)[_INNER, _INNER].astype(np.float32)
        return mean

    def sample(self, right: float, down: float) -> _Grey:
        """One of the finer pixels for each of the level."""
        rows = ((np.arange(self._height) + down) * self._factor + self._lead[1]).astype(int)
        columns = ((np.arange(self._width) + right) * self._factor + self._lead[0]).astype(int)
        sample: _Grey = self._fine[np.ix_(rows, columns)][_INNER, _INNER]
        return sample


def _places(decoder: Decoder, number: int) -> Iterator[_Place]:
    """Where there is most to see in either level; what cannot be decoded tells nothing."""
    factor = decoder.levels[number].downsample / decoder.levels[number - 1].downsample
    width, height = (int(side / factor) for side in decoder.levels[number - 1].size)
    shared = Size(min(width, decoder.levels[number].size.width), min(height, decoder.levels[number].size.height))
    for region in _landmarks(decoder, number, factor):
        if square := _square(decoder, number, region, shared):
            left, top = square.x * factor, square.y * factor
            x, y = math.floor(left), math.floor(top)
            right, bottom = math.ceil(left + square.width * factor), math.ceil(top + square.height * factor)
            fine_size = decoder.levels[number - 1].size
            fine_region = Region(x, y, min(right, fine_size.width) - x, min(bottom, fine_size.height) - y)
            coarse, fine = _read(decoder, number, square), _read(decoder, number - 1, fine_region)
            if coarse is not None and fine is not None:
                yield _Place(coarse, fine, factor, (left - x, top - y))


def _landmarks(decoder: Decoder, number: int, factor: float) -> list[Region]:
    finer = (Region(*(int(side / factor) for side in region)) for region in decoder.landmarks(number - 1))
    return list(dict.fromkeys([*decoder.landmarks(number), *finer]))


def _square(decoder: Decoder, number: int, region: Region, shared: Size) -> Region | None:
    """The square of a region with most structure, within what both levels share; None where that is too small."""
    x, y = min(region.x, shared.width - _SIDE), min(region.y, shared.height - _SIDE)
    x, y = max(0, x), max(0, y)
    width, height = min(max(region.width, _SIDE), shared.width - x), min(max(region.height, _SIDE), shared.height - y)
    if min(width, height) < _LEAST or (pixels := _read(decoder, number, Region(x, y, width, height))) is None:
        return None
    grey, side_x, side_y = _luma(pixels), min(_SIDE, width), min(_SIDE, height)
    squares = [
        (left, top) for top in range(0, height - side_y + 1, side_y) for left in range(0, width - side_x + 1, side_x)
    ]
    left, top = max(squares, key=lambda at: grey[at[1] : at[1] + side_y, at[0] : at[0] + side_x].var())
    return Region(x + left, y + top, side_x, side_y)


def _read(decoder: Decoder, number: int, region: Region) -> Pixels | None:
    try:
        return np.concatenate(list(decoder.bands(number, region)))
    except ImageUnreadableError:  # whoever looks there will say so
        return None


def _luma(pixels: Pixels) -> _Grey:
    grey: _Grey = (pixels @ _LUMA).astype(np.float32)
    return grey


def _averages(count: int, available: int, factor: float, begin: float) -> _Grey:
    """The matrix that averages `available` numbers over `count` spans of `factor` numbers each, from `begin` on."""
    ends = (begin + factor * np.arange(count + 1))[:, None]
    covered = np.clip(ends - np.arange(available)[None], 0, 1)
    averages: _Grey = (np.diff(covered, axis=0) / factor).astype(np.float32)
    return averages
