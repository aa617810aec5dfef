"""The interface of every decoder: levels, and the pixels of a region in bands from top to bottom, in the stored
frame.
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gigavqa.tiling.displays.samples import Conversion, NativeSamples
from gigavqa.tiling.files import Closeable
from gigavqa.tiling.geometry import MicronsPerPixel, Region, Size

Pixels = NDArray[np.uint8]
"""H x W x 3 RGB."""


_GRID = 4
_LANDMARK = 96


class Level(NamedTuple):
    """One resolution of an image: its size in pixels, and how many level-0 pixels one of its pixels spans.

    `lag` is how many of its pixels further down and to the right its content lies than the mean of level 0 would.
    """

    size: Size
    downsample: float
    lag: float = 0.0


class Decoder(Closeable):
    """Reads one file. Not thread-safe; everything is in the stored frame; every error is a TilingError."""

    levels: tuple[Level, ...]
    conversion: Conversion | None = None
    """What becomes of the file's samples, in place of RGB as its own colours are."""
    microns_per_pixel: MicronsPerPixel | None = None
    is_sequential: bool = False
    """Whether all that lies above a region is decoded, too."""
    is_scaling: bool = False
    """Whether smaller levels are made of the same bytes as the first, so that none lies in the file."""
    is_nested: bool = False
    """Whether smaller levels are parts of the bytes of the first, so that they cannot show anything else."""
    is_lossy: bool = False
    """Whether levels were compressed with a loss of their own."""
    incomplete: frozenset[int] = frozenset()
    """Levels that lack tiles of which the level before has pixels."""

    @property
    def native(self) -> NativeSamples:
        """The samples of a pixel as they lie in the file: RGB of 8 bits, unless a decoder says otherwise."""
        return NativeSamples(3, np.dtype(np.uint8), bits=8)

    @abstractmethod
    def bands(self, level: int, region_l: Region) -> Iterator[Pixels]:
        """Yield the region's rows in order, as bands of the region's width; a band's memory is bounded.

        Raises ImageUnreadableError where the file's pixels cannot be decoded.
        """

    def expect(self, level: int, regions: Sequence[Region]) -> None:
        """Hear which regions of a level will be read soon: of a file elsewhere their bytes may come meanwhile."""

    def landmarks(self, level: int) -> list[Region]:
        """Return a few regions of a level in which there may be something to see: squares, evenly spaced."""
        width, height = self.levels[level].size
        side = min(_LANDMARK, width, height)
        return [
            Region((width - side) * column // (_GRID - 1), (height - side) * row // (_GRID - 1), side, side)
            for row in range(_GRID)
            for column in range(_GRID)
        ]


def describe_levels(sizes: list[Size]) -> tuple[Level, ...]:
    """Give each level its downsample: a whole number where rounding explains the size, else the mean of both axes."""
    return tuple(Level(size, _downsample(sizes[0], size)) for size in sizes)


def _downsample(full: Size, size: Size) -> float:
    factor = round(max(full) / max(size))
    if all(side // factor <= small <= -(-side // factor) for side, small in zip(full, size, strict=True)):
        return float(factor)
    return (full.width / size.width + full.height / size.height) / 2
