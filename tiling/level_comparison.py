"""Compare an image's smaller levels with its largest one: each is compared with the mean of the one before.

A level may be of another page, may have been made by leaving pixels out, or may lie beside the one before. So a few
places of it are compared with the mean of the pixels that they stand for, and with what leaving pixels out, and what
lying half a pixel beside, would have given: it is believed where the mean is nearest. That tells wherever there is
structure, however much was lost to JPEG; elsewhere a level is believed (docs/decisions/0006-pixels.md).
"""

import math
from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gigavqa.tiling.errors import ImageUnreadableError
from gigavqa.tiling.geometry import Region, Size
from gigavqa.tiling.sources.base import Decoder, Pixels

_SQUARE_SIDE = 96
_MIN_LEVEL_SIDE = 16  # a level of fewer pixels on a side tells nothing, and serves no view
_INNER = slice(2, -2)  # where what lies half a pixel beside is whole
_MARGIN = 1.25  # another explanation must be nearer than the mean by so much, of squared errors: decision 0006
_ROUNDING = 2.0  # squared grey levels that rounding explains
_UNRELATED = 0.7  # of both variances; images that have nothing in common differ by 1
_DETAIL = 2.0  # of what means of unrelated pixels vary by; no filter differs more from the mean than by 1.2
_NOISE = 16.0  # squared grey levels that lossy compression explains where there is nothing to see
_LOSS = {False: 80.0, True: 180.0}  # and elsewhere, by whether the file is lossy as it is; it may have been before
_SHADE = 13.0  # grey levels between mean colours; sharp filters overshoot white, which is cut off
_OTHER_CONTENT = "shows something else"
_LUMA = np.array([0.299, 0.587, 0.114], np.float32)
_QUARTERS = (0.0, 0.25, 0.5, 0.75)  # where in a pixel of a level the one that was kept lay
_SHIFTED_OFFSETS = tuple(offset for offset in product((-0.5, 0.0, 0.5), repeat=2) if any(offset))

_Grey = NDArray[np.float32]


class LevelAgreement(NamedTuple):
    """The number of levels from the first on that show the same image, and what is wrong with the next."""

    num_levels: int
    doubt: str = ""


def compare_levels(decoder: Decoder) -> LevelAgreement:
    """Compare each level of an open image with the one before, until one differs; reads a few tiles of each."""
    reads = _RecentReads(decoder)
    for number in range(1, len(decoder.levels)):
        decoder.expect(number, _regions_to_compare(decoder, number))
    for number in range(1, len(decoder.levels)):
        if doubt := _find_mismatch(reads, number):
            width, height = decoder.levels[number].size
            return LevelAgreement(number, f"its level of {width}x{height} pixels {doubt}")
    return LevelAgreement(len(decoder.levels))


def _find_mismatch(reads: "_RecentReads", number: int) -> str:
    decoder = reads.decoder
    if number in decoder.incomplete:
        return "lacks tiles"
    if min(decoder.levels[number].size) < _MIN_LEVEL_SIDE:
        return ""
    return _mismatch_in_squares(list(_square_pairs(reads, number)), _LOSS[decoder.is_lossy])


def _mismatch_in_squares(places: list["_SquarePair"], loss: float) -> str:
    if not places:
        return "cannot be compared with the one before"
    mean = sum(place.error_of_mean for place in places)
    most = mean / _MARGIN - _ROUNDING * len(places)
    offsets = _sample_offsets(places[0].factor)
    if any(_is_nearer((place.error(place.sample(*at)) for place in places), most) for at in offsets):
        return "was made by leaving pixels out"
    if any(place.is_unrelated for place in places):
        return _OTHER_CONTENT
    if any(_is_nearer((place.error(place.mean(*at)) for place in places), most) for at in _SHIFTED_OFFSETS):
        return "lies beside the one before"
    return _OTHER_CONTENT if any(place.differs_by_more_than(loss) for place in places) else ""


def _sample_offsets(factor: float) -> Iterator[tuple[float, ...]]:
    """Yield where in a pixel of a level the one that was kept may have lain; each finer pixel once."""
    parts = {int(part * factor): part for part in reversed(_QUARTERS)}.values() if factor.is_integer() else _QUARTERS
    return iter(product(parts, repeat=2))


def _is_nearer(errors: Iterator[float], most: float) -> bool:
    """Return whether all errors together are less than so much.

    Most often one place is enough to tell that they are not.
    """
    return all(total < most for total in accumulate(errors))


class _SquarePair:
    """The pixels of a square of a level, and those of the finer level that lie there, which begin `lead` before it."""

    def __init__(self, coarse: Pixels, fine: Pixels, factor: float, lead: tuple[float, float]) -> None:
        self._fine, self.factor, self._lead = _luma(fine), factor, lead
        self._sums = np.pad(self._fine.astype(np.float64).cumsum(0).cumsum(1), ((1, 0), (1, 0)))
        self._height, self._width = coarse.shape[:2]
        self._shades = coarse.mean((0, 1)), fine.mean((0, 1))
        self._luma = _luma(coarse)[_INNER, _INNER]

    @property
    def is_unrelated(self) -> bool:
        """Whether both have no more in common than two images have."""
        apart = max(abs(one - other) for one, other in zip(*self._shades, strict=True))
        if apart > _SHADE:
            return True
        return bool(self.error_of_mean > _UNRELATED * (self._luma.var() + self._mean.var()) + _NOISE)

    def differs_by_more_than(self, loss: float) -> bool:
        """Return whether more differs than filters do, and so much loss: pages of type have grey lines in common."""
        return self.error_of_mean > _DETAIL * self._detail() / self.factor**2 + loss

    @cached_property
    def error_of_mean(self) -> float:
        """What the mean of the finer pixels leaves unexplained, where they should be."""
        return self.error(self._mean)

    @cached_property
    def _mean(self) -> _Grey:
        return self.mean(0, 0)

    def error(self, explanation: _Grey) -> float:
        """Return the mean square of what an explanation leaves unexplained."""
        return float(np.square(self._luma - explanation).mean())

    def mean(self, right: float, down: float) -> _Grey:
        """Averages of the finer pixels, so many pixels of the level beside where they should be."""
        rows = (np.arange(self._height + 1) + down) * self.factor + self._lead[1]
        columns = (np.arange(self._width + 1) + right) * self.factor + self._lead[0]
        sums = _interpolate_sums(_interpolate_sums(self._sums, rows).T, columns).T
        return (np.diff(np.diff(sums, axis=0), axis=1) / self.factor**2).astype(np.float32)[_INNER, _INNER]

    def _detail(self) -> float:
        """Return the mean variance of the finer pixels that one of the level stands for."""
        side = max(2, round(self.factor))
        rows, columns = (length // side for length in self._fine.shape)
        squares = np.square(self._fine[: rows * side, : columns * side], dtype=np.float64).mean()
        sums = self._sums[: rows * side + 1 : side, : columns * side + 1 : side]
        return float(squares - np.square(np.diff(np.diff(sums, axis=0), axis=1) / side**2).mean())

    def sample(self, right: float, down: float) -> _Grey:
        """One of the finer pixels for each of the level."""
        rows = ((np.arange(self._height) + down) * self.factor + self._lead[1]).astype(int)
        columns = ((np.arange(self._width) + right) * self.factor + self._lead[0]).astype(int)
        sample: _Grey = self._fine[np.ix_(rows, columns)][_INNER, _INNER]
        return sample


class _RecentReads:
    """Reads regions of levels, and keeps those of the last two levels: what is to be seen in one is looked at in both.

    A square of one pair often lies in a tile that was decoded for the pair before.
    """

    def __init__(self, decoder: Decoder) -> None:
        self.decoder = decoder
        self._kept: dict[int, list[tuple[Region, Pixels]]] = {}

    def read(self, number: int, region: Region) -> Pixels | None:
        """Return a region of a level; None where it cannot be decoded."""
        self._kept = {level: some for level, some in self._kept.items() if abs(level - number) <= 1}
        for there, pixels in self._kept.setdefault(number, []):
            if _holds(there, region):
                return _crop(pixels, Region(region.x - there.x, region.y - there.y, *region.size))
        try:
            pixels = np.concatenate(list(self.decoder.bands(number, region)))
        except ImageUnreadableError:  # whoever looks there will say so
            return None
        self._kept[number].append((region, pixels))
        return pixels


def _holds(outer: Region, inner: Region) -> bool:
    x, y = inner.x - outer.x, inner.y - outer.y
    return min(x, y) >= 0 and x + inner.width <= outer.width and y + inner.height <= outer.height


def _square_pairs(reads: _RecentReads, number: int) -> Iterator[_SquarePair]:
    """Yield where there is most to see in either level; what cannot be decoded tells nothing."""
    decoder = reads.decoder
    finer = decoder.levels[number - 1]
    factor = decoder.levels[number].downsample / finer.downsample
    found = []
    for region in _regions_to_compare(decoder, number):
        if (pixels := reads.read(number, region)) is not None:
            square = _busiest_square(pixels)
            left, top = (region.x + square.x) * factor, (region.y + square.y) * factor
            x, y = math.floor(left), math.floor(top)
            right, bottom = math.ceil(left + square.width * factor), math.ceil(top + square.height * factor)
            there = Region(x, y, min(right, finer.size.width) - x, min(bottom, finer.size.height) - y)
            found.append((_crop(pixels, square), there, (left - x, top - y)))
    decoder.expect(number - 1, [there for _, there, _ in found])
    for coarse, there, lead in found:
        if (fine := reads.read(number - 1, there)) is not None:
            yield _SquarePair(coarse, fine, factor, lead)


def _regions_to_compare(decoder: Decoder, number: int) -> list[Region]:
    """Return a few regions of a level that lie in the finer one, too, and in which there may be something to see."""
    level, finer = decoder.levels[number], decoder.levels[number - 1]
    factor = level.downsample / finer.downsample
    shared = Size(*(min(int(most / factor), side) for most, side in zip(finer.size, level.size, strict=True)))
    fitting = (_fit_within(landmark, shared) for landmark in _landmarks(decoder, number, factor))
    return [region for region in fitting if region]


def _landmarks(decoder: Decoder, number: int, factor: float) -> list[Region]:
    """In the pixels of a level, what there is to see in it and in the finer one."""
    finer = (Region(*(int(side / factor) for side in region)) for region in decoder.landmarks(number - 1))
    return list(dict.fromkeys([*decoder.landmarks(number), *finer]))


def _fit_within(region: Region, shared: Size) -> Region | None:
    """Return a region moved and widened to a square's size, within what both levels share.

    None where that is too small.
    """
    x, y = max(0, min(region.x, shared.width - _SQUARE_SIDE)), max(0, min(region.y, shared.height - _SQUARE_SIDE))
    width, height = (
        min(max(region.width, _SQUARE_SIDE), shared.width - x),
        min(max(region.height, _SQUARE_SIDE), shared.height - y),
    )
    return Region(x, y, width, height) if min(width, height) >= _MIN_LEVEL_SIDE else None


def _busiest_square(pixels: Pixels) -> Region:
    height, width = pixels.shape[:2]
    side_x, side_y = min(_SQUARE_SIDE, width), min(_SQUARE_SIDE, height)
    columns, rows = width // side_x, height // side_y
    green = pixels[: rows * side_y, : columns * side_x, 1].reshape(rows, side_y, columns, side_x)
    column, row = divmod(int(green.var((1, 3)).T.argmax()), rows)
    return Region(column * side_x, row * side_y, side_x, side_y)


def _crop(pixels: Pixels, region: Region) -> Pixels:
    return pixels[region.y : region.y + region.height, region.x : region.x + region.width]


def _luma(pixels: Pixels) -> _Grey:
    grey: _Grey = (pixels @ _LUMA).astype(np.float32)
    return grey


def _interpolate_sums(sums: NDArray[np.float64], ends: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows of running sums at ends that may lie between them."""
    ends = np.clip(ends, 0, sums.shape[0] - 1)
    if not (ends % 1).any():
        there: NDArray[np.float64] = sums[ends.astype(int)]
        return there
    whole = np.minimum(ends.astype(int), sums.shape[0] - 2)
    part = (ends - whole)[:, None]
    between: NDArray[np.float64] = sums[whole] * (1 - part) + sums[whole + 1] * part
    return between
