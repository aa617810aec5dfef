"""Flat images through libvips: JPEG (whose decoder also yields 1/2 and 1/4), PNG, WebP, JPEG 2000."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyvips

from tiling.errors import ImageUnreadableError
from tiling.formats import Container
from tiling.geometry import Region, Size
from tiling.sources.base import Decoder, Level, Pixels
from tiling.sources.colours import Alpha, Colours, to_rgb
from tiling.sources.jpeg import BLOCK, find_frame, whole_blocks

_BAND_ROWS = 128
_SCALES = (1, 2, 4)  # 1/8 takes hardly less time than 1/4
_TYPES = {"uchar": np.uint8, "ushort": np.uint16}
_LOADERS = {"jpeg": "jpegload", "png": "pngload", "webp": "webpload", "jp2": "jp2kload"}

pyvips.concurrency_set(1)  # views are rendered in parallel, which costs less than parallelism within one
pyvips.cache_set_max(0)  # the operation cache grows without end, and returns old pixels of a changed file


def can_decode(container: Container) -> bool:
    """Whether this build of libvips has the loader."""
    return bool(container in _LOADERS and pyvips.type_find("VipsOperation", _LOADERS[container]))


class VipsDecoder(Decoder):
    """Reads a flat image from top to bottom, once per region: pixels above it are decoded, those below are not."""

    is_sequential = True

    def __init__(self, path: Path, container: Container, size_s: Size) -> None:
        self._path = path
        self._container = container
        self._frame = find_frame(path) if container == "jpeg" else None
        self.is_scaling = self._frame is not None
        scales = [scale for scale in _SCALES if 2 * scale <= min(size_s) and self.is_scaling]
        self.levels = tuple(
            Level(Size(*(_up(side, scale) for side in size_s)), float(scale)) for scale in scales or [1]
        )

    def bands(self, level: int, region_l: Region) -> Iterator[Pixels]:
        """Decode in bands of 128 rows; a damaged file raises when its damage is reached.

        The last column and row of a scaled level may stand for parts of pixels, and for what encoders make up beside
        the image: as no resize gives them less weight for that, their neighbours are mixed in.
        """
        try:
            bands = _bands(self._open(level), region_l) if not self._is_cut(level) else self._mixed(level, region_l)
            yield from bands
        except pyvips.Error as error:
            raise ImageUnreadableError(f"{self._path}: {_message(error)}") from error

    def _is_cut(self, level: int) -> bool:
        """Whether the last pixels of a scaled level are none of whole ones of the image."""
        return any(side % _SCALES[level] for side in self.levels[0].size)

    def _mixed(self, level: int, region: Region) -> Iterator[Pixels]:
        (width, height), scale = self.levels[level].size, _SCALES[level]
        columns, rows = (side % scale or scale for side in self.levels[0].size)
        x, y = min(region.x, width - 2), min(region.y, height - 2)  # so that the last ones come with their neighbours
        right, bottom = region.x + region.width, region.y + region.height
        above = np.empty(0, np.uint8)
        for band in _bands(self._open(level), Region(x, y, right - x, bottom - y)):
            mixed = band.copy()
            if right == width:
                mixed[:, -1] = _mix(mixed[:, -1], mixed[:, -2], columns, scale)
            y += mixed.shape[0]
            if y == height:
                mixed[-1] = _mix(mixed[-1], mixed[-2] if mixed.shape[0] > 1 else above, rows, scale)
            above = mixed[-1]
            yield mixed[-region.height :, -region.width :]

    def close(self) -> None:
        """Nothing is held between regions: a shared handle grows without end."""

    def _open(self, level: int) -> pyvips.Image:
        load: Callable[..., pyvips.Image] = getattr(pyvips.Image, _LOADERS[self._container])
        size, scale = self.levels[level].size, _SCALES[level]
        options: dict[str, Any] = {"access": "sequential", "fail_on": "warning"}
        if self._frame is not None and self._is_cut(level):
            image = pyvips.Image.jpegload_source(whole_blocks(self._path, self._frame), shrink=scale, **options)
            size = Size(*(_up(side, BLOCK) * BLOCK // scale for side in self.levels[0].size))
        else:
            image = load(str(self._path), **options, **({"shrink": scale} if level else {}))
        if (image.width, image.height) != size:
            raise ImageUnreadableError(f"{self._path}: libvips decodes {image.width}x{image.height}, not {size}")
        return image


def _up(side: int, scale: int) -> int:
    """How many parts of a scale a side has, the last of which may lie in it only in part."""
    return -(-side // scale)


def _mix(last: Pixels, neighbour: Pixels, share: int, scale: int) -> Pixels:
    """So many parts of the last pixels with their neighbours, rounded."""
    sums = last.astype(np.uint16) * share + neighbour.astype(np.uint16) * (scale - share)
    return ((sums + scale // 2) // scale).astype(np.uint8)


def _bands(image: pyvips.Image, region: Region) -> Iterator[Pixels]:
    colours, dtype = _colours(image), _TYPES[image.format]
    reader = pyvips.Region.new(image)
    for top in range(0, region.height, _BAND_ROWS):
        rows = min(_BAND_ROWS, region.height - top)
        samples = np.frombuffer(reader.fetch(region.x, region.y + top, region.width, rows), dtype)
        yield to_rgb(samples.reshape(rows, region.width, image.bands), colours)


def _colours(image: pyvips.Image) -> Colours:
    alpha: Alpha | None = "straight" if image.hasalpha() else None
    if image.interpretation == "cmyk":
        return Colours("cmyk", alpha=alpha)
    return Colours("grey" if image.bands < 3 else "rgb", alpha=alpha)


def _message(error: pyvips.Error) -> str:
    return " ".join(str(error).split())
