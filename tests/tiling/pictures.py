"""Pictures for tests: textured like photographs, written, lined or noisy, seeded, and how alike two of them are."""

from pathlib import Path
from typing import Any

import numpy as np
import pyvips
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont, ImageOps

from gigavqa.catalogue.families.qwen import QwenBudget
from gigavqa.testing.pictures import textured
from gigavqa.tiling.geometry import Region, Size
from gigavqa.tiling.sources import open_source

__all__ = [
    "SMALL_BUDGET",
    "as_pillow_sees",
    "grained",
    "lined",
    "noisy",
    "psnr",
    "read_all",
    "ringed",
    "save_pyramid",
    "size_of",
    "textured",
    "written",
]

SMALL_BUDGET = QwenBudget(factor=32, min_pixels=65536, max_pixels=512 * 512)
"""At most 512 x 512 pixels, so that small pictures are downsized."""

Pixels = NDArray[np.uint8]


def written(width: int, height: int, seed: int = 0, type_size: int = 22) -> Pixels:
    """Black type of so many pixels on white, in lines, every one of them another, H x W x 3."""
    draw = np.random.default_rng(seed)
    sheet = Image.new("L", (width, height), 255)
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(type_size)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz    ABCDEFG0123456789.,"))
    for top in range(0, height, type_size * 15 // 11):
        line = "".join(draw.choice(letters, width * 5 // (2 * type_size)))
        pen.text((int(draw.integers(0, 12)), top), line, fill=0, font=font)
    return np.repeat(np.asarray(sheet)[..., None], 3, axis=2)


def lined(width: int, height: int, seed: int = 0) -> Pixels:
    """Black lines of one pixel on white, across and down, at every other distance from 5 to 23 pixels, H x W x 3."""
    draw = np.random.default_rng(seed)
    sheet = np.full((height, width, 3), 255, np.uint8)
    sheet[np.cumsum(draw.integers(5, 24, height // 24))] = 0
    sheet[:, np.cumsum(draw.integers(5, 24, width // 24))] = 0
    return sheet


def noisy(width: int, height: int, seed: int = 0) -> Pixels:
    """Each pixel of its own grey, H x W x 3."""
    return np.repeat(np.random.default_rng(seed).integers(0, 256, (height, width, 1), np.uint8), 3, axis=2)


def ringed(width: int, height: int, seed: int = 0) -> Pixels:
    """A zone plate: rings about the middle, finer outwards, down to two pixels at the edges, H x W x 3."""
    y, x = np.ogrid[:height, :width]
    phase = np.pi / max(width, height) * ((x - width / 2) ** 2 + (y - height / 2) ** 2) + seed
    return np.repeat((127.5 + 127.5 * np.cos(phase))[..., None], 3, axis=2).astype(np.uint8)


def grained(width: int, height: int, seed: int = 0) -> Pixels:
    """Grains of three pixels, as film and tissue have them, H x W x 3."""
    grains = np.random.default_rng(seed).normal(128, 60, (height // 3 + 1, width // 3 + 1)).clip(0, 255)
    sheet = Image.fromarray(grains.astype(np.uint8)).resize((width, height), Image.Resampling.BICUBIC)
    return np.repeat(np.asarray(sheet)[..., None], 3, axis=2)


def psnr(one: NDArray[Any], other: NDArray[Any]) -> float:
    """Peak signal-to-noise ratio in dB; 99 for equal pictures."""
    error = np.square(one.astype(np.float64) - other).mean()
    return 99.0 if error == 0 else float(10 * np.log10(255**2 / error))


def as_pillow_sees(path: Path) -> Pixels:
    """The whole picture by Pillow: oriented, transparency on white, RGB."""
    with Image.open(path) as stored:
        image = ImageOps.exif_transpose(stored)
        if not image.has_transparency_data:
            return np.asarray(image.convert("RGB"))
        rgba = image.convert("RGBA")
        on_white = Image.new("RGB", rgba.size, "white")
        on_white.paste(rgba, mask=rgba.getchannel("A"))
        return np.asarray(on_white)


def read_all(path: Path, level: int = 0) -> Pixels:
    """All pixels of a level through our own source."""
    with open_source(path) as source:
        return source.read(level, Region(0, 0, *source.levels[level].size))


def save_pyramid(pixels: Pixels, path: Path, compression: str = "deflate", **options: object) -> Path:
    """A tiled pyramid with box-averaged levels, tiles of 128 pixels, written by libvips."""
    pyvips.Image.new_from_array(pixels).tiffsave(
        str(path),
        tile=True,
        tile_width=128,
        tile_height=128,
        pyramid=True,
        compression=compression,
        region_shrink="mean",
        **options,
    )
    return path


def size_of(pixels: Pixels) -> Size:
    """Width and height of a picture."""
    return Size(pixels.shape[1], pixels.shape[0])
