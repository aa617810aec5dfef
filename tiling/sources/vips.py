"""Flat images through libvips: JPEG (whose decoder also yields 1/2, 1/4 and 1/8), PNG, WebP, JPEG 2000."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyvips

from tiling.errors import ImageUnreadableError
from tiling.formats import Container
from tiling.geometry import Region, Size
from tiling.sources.base import Decoder, Pixels, describe_levels
from tiling.sources.colours import Alpha, Colours, to_rgb

_BAND_ROWS = 128
_SHRINKS = (1, 2, 4, 8)
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
        self.is_scaling = container == "jpeg"
        shrinks = [shrink for shrink in _SHRINKS if shrink <= min(size_s)] if container == "jpeg" else [1]
        sizes = [Size(size_s.width // shrink, size_s.height // shrink) for shrink in shrinks]
        self.levels = describe_levels(sizes)

    def bands(self, level: int, region_l: Region) -> Iterator[Pixels]:
        """Decode in bands of 128 rows; a damaged file raises when its damage is reached."""
        try:
            image = self._open(level)
            yield from _bands(image, region_l)
        except pyvips.Error as error:
            raise ImageUnreadableError(f"{self._path}: {_message(error)}") from error

    def close(self) -> None:
        """Nothing is held between regions: a shared handle grows without end."""

    def _open(self, level: int) -> pyvips.Image:
        load: Callable[..., pyvips.Image] = getattr(pyvips.Image, _LOADERS[self._container])
        options: dict[str, Any] = {"access": "sequential", "fail_on": "warning"}
        if self._container == "jpeg":
            options["shrink"] = _SHRINKS[level]
        image = load(str(self._path), **options)
        if (image.width, image.height) != self.levels[level].size:
            raise ImageUnreadableError(
                f"{self._path}: libvips decodes {image.width}x{image.height}, not {self.levels[level].size}"
            )
        return image


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
