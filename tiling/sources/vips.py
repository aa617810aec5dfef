"""Flat images through libvips: JPEG (whose decoder also yields 1/2 and 1/4), PNG, WebP."""

import os
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
import pyvips

from gigavqa.tiling.displays.samples import Conversion, NativeSamples
from gigavqa.tiling.errors import ImageUnreadableError, translate_decoder_errors
from gigavqa.tiling.files import OpenFile
from gigavqa.tiling.formats import Container
from gigavqa.tiling.geometry import Region, Size
from gigavqa.tiling.sources.base import Decoder, Level, Pixels
from gigavqa.tiling.sources.colours import Alpha, ColourModel
from gigavqa.tiling.sources.jpeg import BLOCK_SIDE, find_plain_frame, pad_to_blocks

_BAND_ROWS = 128
_PROFILE = "icc-profile-data"
_SCALES = (1, 2, 4)  # 1/8 takes hardly less time than 1/4
_TYPES: dict[str, type[np.unsignedinteger[Any]]] = {"uchar": np.uint8, "ushort": np.uint16}
_LOADERS = {"jpeg": "jpegload", "png": "pngload", "webp": "webpload"}

pyvips.concurrency_set(1)  # views are rendered in parallel, which costs less than parallelism within one
pyvips.cache_set_max(0)  # the operation cache grows without end, and returns old pixels of a changed file


class VipsDecoder(Decoder):
    """Reads a flat image from top to bottom, once per region: pixels above it are decoded, those below are not."""

    is_sequential = True

    def __init__(self, file: OpenFile, container: Container, size_s: Size) -> None:
        self._file = file
        self._container = container
        self._frame = find_plain_frame(file) if container == "jpeg" else None
        self.is_scaling = self._frame is not None
        scales = [scale for scale in _SCALES if 2 * scale <= min(size_s) and self.is_scaling]
        self.levels = tuple(
            Level(Size(*(_divide_up(side, scale) for side in size_s)), float(scale)) for scale in scales or [1]
        )

    @cached_property
    def native(self) -> NativeSamples:
        """The samples of a pixel as libvips decodes them, with what stands for alpha."""
        try:
            image = self._open(0)
        except pyvips.Error as error:
            raise self._unreadable(error) from error
        dtype = np.dtype(_TYPES[image.format])
        alpha = image.bands - 1 if image.hasalpha() else None
        profile = image.get(_PROFILE) if image.get_typeof(_PROFILE) else None
        return NativeSamples(image.bands, dtype, bits=8 * dtype.itemsize, alpha=alpha, profile=profile)

    def bands(self, level: int, region_l: Region) -> Iterator[Pixels]:
        """Decode in bands of 128 rows; a damaged file raises when its damage is reached."""
        try:
            image = self._open(level)
            with translate_decoder_errors(self._file.path):
                yield from _bands(image, region_l, self.conversion or _colours(image))
        except pyvips.Error as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: pyvips.Error) -> ImageUnreadableError:
        return ImageUnreadableError(f"{self._file.path}: {self._file.renamed(' '.join(str(error).split()))}")

    def _is_cut(self, level: int) -> bool:
        """Return whether the last pixels of a scaled level are partly beside the image."""
        return any(side % _SCALES[level] for side in self.levels[0].size)

    def close(self) -> None:
        """Nothing is held between regions: a shared handle grows without end."""

    def _open(self, level: int) -> pyvips.Image:
        load: Callable[..., pyvips.Image] = getattr(pyvips.Image, _LOADERS[self._container])
        path, size, scale = self._file.path, self.levels[level].size, _SCALES[level]
        options: dict[str, Any] = {"access": "sequential", "fail_on": "warning"}
        if self._frame is not None and self._is_cut(level):
            image = pyvips.Image.jpegload_source(pad_to_blocks(self._file, self._frame), shrink=scale, **options)
            size = Size(*(_divide_up(side, BLOCK_SIDE) * BLOCK_SIDE // scale for side in self.levels[0].size))
        else:
            image = load(os.fspath(self._file), **options, **({"shrink": scale} if level else {}))
        if (image.width, image.height) != size:
            raise ImageUnreadableError(f"{path}: libvips decodes {image.width}x{image.height}, not {size}")
        if image.format not in _TYPES:
            raise ImageUnreadableError(f"{path}: libvips decodes samples of type {image.format}")
        return image


def _divide_up(side: int, scale: int) -> int:
    """Return how many parts of a scale a side has, the last of which may lie in it only in part."""
    return -(-side // scale)


def _bands(image: pyvips.Image, region: Region, convert: Conversion) -> Iterator[Pixels]:
    reader = pyvips.Region.new(image)
    for top in range(0, region.height, _BAND_ROWS):
        rows = min(_BAND_ROWS, region.height - top)
        samples = np.frombuffer(reader.fetch(region.x, region.y + top, region.width, rows), _TYPES[image.format])
        yield convert(samples.reshape(rows, region.width, image.bands))


def _colours(image: pyvips.Image) -> ColourModel:
    alpha: Alpha | None = "straight" if image.hasalpha() else None
    if image.interpretation == "cmyk":
        return ColourModel("cmyk", alpha=alpha)
    return ColourModel("grey" if image.bands < 3 else "rgb", alpha=alpha)
