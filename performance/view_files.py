"""The images that `performance.views` measures: textured like photographs, made in seconds, kept for the next run."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import imagecodecs
import numpy as np
import pyvips
import tifffile
from numpy.typing import NDArray
from PIL import Image

_TILE = 512


@dataclass(frozen=True)
class Sizes:
    jpeg: tuple[int, int]
    png: tuple[int, int]
    pyramid: tuple[int, int]
    scene: tuple[int, int]


FULL = Sizes(jpeg=(26753, 15052), png=(16000, 12800), pyramid=(100_000, 100_000), scene=(20_000, 20_000))
QUICK = Sizes(jpeg=(8192, 6144), png=(6000, 4800), pyramid=(16384, 12288), scene=(8192, 8192))
SCENE_RANGE = (200, 3000)
"""What of the scene's samples is shown black and white."""


def make_files(folder: Path, sizes: Sizes) -> dict[str, Path]:
    """Write what is missing of the JPEG, the PNG, the slide-like pyramid and the scene of 16 bits.

    Returns them by layout.
    """
    folder.mkdir(parents=True, exist_ok=True)
    writers = {
        "jpeg": (_jpeg, sizes.jpeg, "jpg"),
        "png": (_png, sizes.png, "png"),
        "pyramid": (_pyramid, sizes.pyramid, "tif"),
        "scene": (_scene, sizes.scene, "tif"),
    }
    files = {}
    for layout, (write, (width, height), suffix) in writers.items():
        path = files[layout] = folder / f"{layout}-{width}x{height}.{suffix}"
        if not path.exists():
            partial = path.with_name(f"partial-{path.name}")
            write(partial, width, height)
            partial.replace(path)
    return files


def texture(side: int = 2048) -> NDArray[np.uint8]:
    draw = np.random.default_rng(0)
    coarse = draw.integers(0, 256, (side // 6, side // 6, 3), np.uint8)
    smooth = np.asarray(Image.fromarray(coarse).resize((side, side), Image.Resampling.BICUBIC)).astype(np.int16)
    return np.clip(smooth + draw.integers(-8, 9, smooth.shape), 0, 255).astype(np.uint8)


def layered_texture(side: int) -> NDArray[np.uint8]:
    """Return a texture with as much to be seen at every scale, as photographs have; `side` is a power of 2."""
    draw = np.random.default_rng(0)
    layers = np.zeros((side, side, 3), np.float32)
    for grain in (2**power for power in range(int(np.log2(side)))):
        coarse = draw.integers(-24, 25, (side // grain, side // grain, 3), np.int8).astype(np.float32)
        layers += coarse.repeat(grain, axis=0).repeat(grain, axis=1)
    return np.clip(128 + layers, 0, 255).astype(np.uint8)


def shrunk(pattern: NDArray[np.uint8], scale: int) -> NDArray[np.uint8]:
    """Return a pattern averaged, and repeated to its size: what a level shows of an image that repeats the pattern."""
    return np.tile(np.asarray(Image.fromarray(pattern).reduce(scale)), (scale, scale, 1))


def encoded_tiles(pattern: NDArray[np.uint8], tile: int, quality: int) -> list[bytes]:
    """Return a pattern as JPEG tiles, row by row."""
    return [imagecodecs.jpeg8_encode(part, level=quality) for part in _tiles(pattern, tile)]


def _tiles(pattern: NDArray[Any], tile: int) -> list[NDArray[Any]]:
    corners = range(0, pattern.shape[0], tile)
    return [np.ascontiguousarray(pattern[y : y + tile, x : x + tile]) for y in corners for x in corners]


def _tiled(width: int, height: int) -> pyvips.Image:
    image = pyvips.Image.new_from_array(texture())
    return image.replicate(-(-width // 2048), -(-height // 2048)).crop(0, 0, width, height)


def _jpeg(path: Path, width: int, height: int) -> None:
    _tiled(width, height).jpegsave(str(path), Q=88)


def _png(path: Path, width: int, height: int) -> None:
    _tiled(width, height).pngsave(str(path), compression=1)


def _pyramid(path: Path, width: int, height: int) -> None:
    write_tile_pyramid(path, (width, height), tile=_TILE, levels=7, quality=50)


def _scene(path: Path, width: int, height: int) -> None:
    """Write three bands of 16 bits in deflated tiles with averaged levels, as clouds keep scenes of satellites."""
    low, high = SCENE_RANGE
    pattern = layered_texture(4 * _TILE)
    with tifffile.TiffWriter(path, bigtiff=True) as writer:
        for level in range(5):
            samples = (low + pattern.astype(np.uint32) * (high - low) // 255).astype(np.uint16)
            tiles = [_deflated(part) for part in _tiles(samples, _TILE)]
            size = width >> level, height >> level
            writer.write(
                _repeated(tiles, size, _TILE),
                shape=(size[1], size[0], 3),
                dtype=np.uint16,
                tile=(_TILE, _TILE),
                photometric="rgb",
                compression="zlib",
                predictor=2,
                subfiletype=1 if level else 0,
                metadata=None,
            )
            pattern = shrunk(pattern, 2)


def _deflated(samples: NDArray[np.uint16]) -> bytes:
    return bytes(imagecodecs.zlib_encode(imagecodecs.delta_encode(samples, axis=1), level=6))


def _repeated(tiles: list[bytes], size: tuple[int, int], tile: int) -> Iterator[bytes]:
    """Yield the sixteen tiles of a pattern again and again, row by row, until a level of this size is covered."""
    columns, rows = (-(-side // tile) for side in size)
    return (tiles[row % 4 * 4 + column % 4] for row in range(rows) for column in range(columns))


def write_tile_pyramid(path: Path, size: tuple[int, int], *, tile: int, levels: int, quality: int) -> None:
    """Lay every level out of sixteen JPEG tiles, which costs a reader what a photographed slide costs."""
    pattern = layered_texture(4 * tile)
    with tifffile.TiffWriter(path, bigtiff=True) as writer:
        for level in range(levels):
            width, height = (side >> level for side in size)
            tiles = encoded_tiles(pattern, tile, quality)
            writer.write(
                _repeated(tiles, (width, height), tile),
                shape=(height, width, 3),
                dtype=np.uint8,
                tile=(tile, tile),
                photometric="ycbcr",
                compression="jpeg",
                subsampling=(2, 2),
                subfiletype=1 if level else 0,
                metadata=None,
            )
            pattern = shrunk(pattern, 2)
