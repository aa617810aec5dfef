"""Writes a lossless pyramid: BigTIFF, tiles of 512 pixels, every level half of the one before by averaging.

Tiles are zstd at level 1 after horizontal differencing, with a checksum each, so that damage on the disk raises.
"""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import imagecodecs
import numpy as np
import zstandard
from tifffile import TiffWriter

from tiling.geometry import Region, Size
from tiling.helpers import helpers
from tiling.levels import SMALLEST, cut_anew, half_size, halve
from tiling.orientation import TAG
from tiling.sources import Source
from tiling.sources.base import Pixels

_TILE = 512


Progress = Callable[[int, int], object]
"""Is told of how many pixels of all levels tiles are made, and how many there are, at every row of tiles."""


def write_pyramid(source: Source, path: Path, progress: Progress | None = None) -> None:
    """Decode all of `source` strictly and write its pyramid to `path`, in the stored frame with the same orientation.

    Needs memory for a few bands of 512 rows, and room for temporary files of a third of the pixels beside `path`.
    """
    size = source.decoder.levels[0].size
    bands = source.decoder.bands(0, Region(0, 0, *size))
    with TiffWriter(path, bigtiff=True) as writer:
        _Levels(writer, path.parent, _counting(progress, size)).write(bands, size, _tags(source))


def _counting(progress: Progress | None, size: Size) -> Callable[[int], object]:
    """Add up the pixels that it is called with, out of those of all levels of an image of `size`."""
    if progress is None:
        return lambda pixels: None
    total, level, written = size.area, size, 0
    while max(level) > SMALLEST:
        level = half_size(level)
        total += level.area

    def add(pixels: int) -> None:
        nonlocal written
        written += pixels
        progress(written, total)

    return add


class _Levels:
    """Writes one level while it keeps the next in a temporary file."""

    def __init__(self, writer: TiffWriter, folder: Path, count: Callable[[int], object]) -> None:
        self._writer, self._folder, self._count = writer, folder, count

    def write(self, bands: Iterator[Pixels], size: Size, tags: dict[str, Any]) -> None:
        with tempfile.TemporaryFile(dir=self._folder) as half:
            self._writer.write(
                self._tiles(bands, half),
                shape=(size.height, size.width, 3),
                dtype=np.uint8,
                tile=(_TILE, _TILE),
                photometric="rgb",
                compression="zstd",
                predictor=2,
                metadata=None,
                **tags,
            )
            if max(size) > SMALLEST:
                half.seek(0)
                smaller = half_size(size)
                self.write(_read_back(half, smaller), smaller, {"subfiletype": 1})

    def _tiles(self, bands: Iterator[Pixels], half: IO[bytes]) -> Iterator[bytes]:
        for band in cut_anew(bands, _TILE):
            half.write(halve(band).data)
            self._count(band.shape[0] * band.shape[1])  # the writer never comes back after its last tile
            starts = range(0, band.shape[1], _TILE)
            yield from helpers().map(_encode, [band[:, left : left + _TILE] for left in starts])


def _tags(source: Source) -> dict[str, Any]:
    tags: dict[str, Any] = {"extratags": [(TAG, "H", 1, source.orientation, True)]}
    if source.microns_per_pixel:
        pixels_per_centimetre = 10_000 / source.microns_per_pixel
        tags |= {"resolution": (pixels_per_centimetre, pixels_per_centimetre), "resolutionunit": "CENTIMETER"}
    return tags


def _encode(part: Pixels) -> bytes:
    tile = np.pad(part, ((0, _TILE - part.shape[0]), (0, _TILE - part.shape[1]), (0, 0)), "edge")
    differences = imagecodecs.delta_encode(tile, axis=-2)
    return zstandard.ZstdCompressor(level=1, write_checksum=True).compress(differences.data)


def _read_back(file: IO[bytes], size: Size) -> Iterator[Pixels]:
    for top in range(0, size.height, _TILE):
        rows = min(_TILE, size.height - top)
        yield np.frombuffer(file.read(rows * size.width * 3), np.uint8).reshape(rows, size.width, 3)
