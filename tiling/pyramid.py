"""Writes a lossless pyramid: BigTIFF, tiles of 512 pixels, every level half of the one before by averaging.

Tiles are zstd at level 1 after horizontal differencing, with a checksum each, so that damage on the disk raises.
"""

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import imagecodecs
import numpy as np
import zstandard
from tifffile import TiffWriter

from gigavqa.tiling.decode_threads import decode_pool
from gigavqa.tiling.geometry import Region, Size
from gigavqa.tiling.levels import halve, levels_to_make, rechunk_bands
from gigavqa.tiling.orientation import ORIENTATION_TAG
from gigavqa.tiling.sources import Source
from gigavqa.tiling.sources.base import Decoder, Pixels

_TILE = 512


OnProgress = Callable[[int, int], object]
"""Is told of how many pixels of all levels tiles are made, and how many there are, at every row of tiles."""


def write_pyramid(source: Source, path: Path, progress: OnProgress | None = None) -> None:
    """Decode all of `source` strictly and write its pyramid to `path`, in the stored frame with the same orientation.

    Needs memory for a few bands of 512 rows, and room for temporary files of a third of the pixels beside `path`.
    """
    write_levels(source.decoder, path, progress, _tags(source))


def write_levels(
    decoder: Decoder, path: Path, progress: OnProgress | None = None, tags: Mapping[str, Any] | None = None
) -> None:
    """Write the pyramid of what a decoder reads, as `write_pyramid` does, with `tags` of the first level."""
    levels, num_decoded = levels_to_make(decoder)
    with TiffWriter(path, bigtiff=True) as writer, ExitStack() as files:
        pages = _LevelWriter(writer, _count_pixels(progress, sum(level.size.area for level in levels)))
        half: IO[bytes] | None = None
        for number, size in enumerate(level.size for level in levels):
            bands = _read_back(half, size) if half else decoder.bands(number, Region(0, 0, *size))
            is_halved = num_decoded <= number + 1 < len(levels)
            half = files.enter_context(tempfile.TemporaryFile(dir=path.parent)) if is_halved else None
            pages.write(bands, size, {"subfiletype": 1} if number else {**(tags or {})}, half)


def _count_pixels(progress: OnProgress | None, total: int) -> Callable[[int], object]:
    """Add up the pixels that it is called with, out of so many."""
    written = 0

    def add(pixels: int) -> None:
        nonlocal written
        written += pixels
        if progress:
            progress(written, total)

    return add


class _LevelWriter:
    """Writes levels, and what the next one is made of into a temporary file."""

    def __init__(self, writer: TiffWriter, count: Callable[[int], object]) -> None:
        self._writer, self._count = writer, count

    def write(self, bands: Iterator[Pixels], size: Size, tags: dict[str, Any], half: IO[bytes] | None) -> None:
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

    def _tiles(self, bands: Iterator[Pixels], half: IO[bytes] | None) -> Iterator[bytes]:
        for band in rechunk_bands(bands, _TILE):
            if half:
                half.write(halve(band).data)
            self._count(band.shape[0] * band.shape[1])  # the writer never comes back after its last tile
            starts = range(0, band.shape[1], _TILE)
            yield from decode_pool().map(_encode, [band[:, left : left + _TILE] for left in starts])


def _tags(source: Source) -> dict[str, Any]:
    tags: dict[str, Any] = {"extratags": [(ORIENTATION_TAG, "H", 1, source.orientation, True)]}
    if microns := source.decoder.microns_per_pixel:
        tags |= {"resolution": (10_000 / microns.x, 10_000 / microns.y), "resolutionunit": "CENTIMETER"}
    return tags


def _encode(part: Pixels) -> bytes:
    tile = np.pad(part, ((0, _TILE - part.shape[0]), (0, _TILE - part.shape[1]), (0, 0)), "edge")
    differences = imagecodecs.delta_encode(tile, axis=-2)
    return zstandard.ZstdCompressor(level=1, write_checksum=True).compress(differences.data)


def _read_back(file: IO[bytes], size: Size) -> Iterator[Pixels]:
    file.seek(0)
    for top in range(0, size.height, _TILE):
        rows = min(_TILE, size.height - top)
        yield np.frombuffer(file.read(rows * size.width * 3), np.uint8).reshape(rows, size.width, 3)
