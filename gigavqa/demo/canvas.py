"""A picture in memory, composed of a coarse ground, a fine texture and sprites, and the files it is written to."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psutil
import pyvips
from numpy.typing import NDArray
from PIL import Image

from gigavqa.tiling.geometry import Size

Pixels = NDArray[np.uint8]
_BAND = 512
_TEXTURE = 1024
HEADROOM = 16  # a ground keeps every channel within HEADROOM .. 255 - HEADROOM, so that texture is added without a clip


class Canvas:
    """An RGB picture, H x W x 3, that sprites are pasted on."""

    def __init__(self, pixels: Pixels) -> None:
        self.pixels = pixels

    @property
    def size(self) -> Size:
        """Width and height in pixels."""
        height, width, _ = self.pixels.shape
        return Size(width, height)

    def paste(self, sprite: Image.Image, x: float, y: float) -> None:
        """Blend an RGBA sprite with its top left corner at (x, y) pixels, cut where it leaves the canvas."""
        left, top = round(x), round(y)
        x1, y1 = max(0, left), max(0, top)
        x2, y2 = min(self.size.width, left + sprite.width), min(self.size.height, top + sprite.height)
        if x1 >= x2 or y1 >= y2:
            return
        source = np.asarray(sprite)[y1 - top : y2 - top, x1 - left : x2 - left]
        alpha = source[..., 3:].astype(np.uint16)
        below = self.pixels[y1:y2, x1:x2]
        below[:] = (source[..., :3] * alpha + below * (255 - alpha) + 127) // 255

    def write_png(self, path: Path) -> None:
        """Write a PNG file, whole or not at all; row differences and a low level cost least for flat drawings."""
        with replacing(path) as temporary:
            self._image().pngsave(str(temporary), compression=2, filter="up")

    def write_jpeg(self, path: Path, quality: int) -> None:
        """Write a baseline JPEG file, whole or not at all."""
        with replacing(path) as temporary:
            self._image().jpegsave(str(temporary), Q=quality)

    def _image(self) -> pyvips.Image:
        return pyvips.Image.new_from_memory(self.pixels.data, *self.size, 3, "uchar")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary name beside `path` that takes its place once the block has ended well.

    What killed processes left of the same file is removed first.
    """
    for leftover in path.parent.glob(f".*-{path.name}"):
        owner = leftover.name[1:].split("-")[0]
        if owner.isdecimal() and not psutil.pid_exists(int(owner)):
            leftover.unlink(missing_ok=True)
    temporary = path.with_name(f".{os.getpid()}-{path.name}")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def textured_ground(ground: Image.Image, size: Size, texture: Pixels) -> Canvas:
    """Enlarge a coarse ground to `size` and add a texture that repeats.

    `ground` keeps HEADROOM from black and white; `texture` is H x W x 1 of small offsets modulo 256.
    """
    pixels = np.empty((size.height, size.width, 3), np.uint8)
    across = np.tile(texture, (1, -(-size.width // texture.shape[1]), 1))[:, : size.width]
    step = ground.height / size.height
    band = min(_BAND, texture.shape[0])
    for top in range(0, size.height, band):
        bottom = min(size.height, top + band)
        box = (0, top * step, ground.width, bottom * step)
        pixels[top:bottom] = np.asarray(ground.resize((size.width, bottom - top), Image.Resampling.BILINEAR, box=box))
        start = top % texture.shape[0]
        pixels[top:bottom] += across[start : start + bottom - top]
    return Canvas(pixels)


def grain(rng: np.random.Generator, strength: int, block: int = 2) -> Pixels:
    """Return a texture of square blocks, offsets within +-`strength` modulo 256: rough, yet cheap to store."""
    cells = _TEXTURE // block
    fine = rng.integers(-strength // 2, strength // 2 + 1, (cells, cells))
    coarse = rng.integers(-strength // 2, strength // 2 + 1, (cells // 4, cells // 4)).repeat(4, 0).repeat(4, 1)
    return (fine + coarse).repeat(block, 0).repeat(block, 1).astype(np.int8).view(np.uint8)[..., None]


def within_headroom(ground: Image.Image) -> Image.Image:
    """Return the ground with every channel cut to HEADROOM .. 255 - HEADROOM."""
    return ground.point([max(HEADROOM, min(255 - HEADROOM, value)) for value in range(256)] * 3)
