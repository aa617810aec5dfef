"""Paints the slide tile by tile, level by level, into a tiled BigTIFF of JPEG tiles with x2 levels.

Most tiles hold one material alone. Such a tile is encoded once and its bytes are written wherever it occurs; only
tiles with an outline in them are composed. No level is ever in memory as a whole.
"""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import imagecodecs
import numpy as np
import tifffile
from numpy.typing import NDArray
from PIL import Image

from demo.canvas import Pixels, replacing
from demo.draws import stream
from demo.wsi.scene import MATERIALS, MICRONS_PER_PIXEL, SIZE, STEP, Slide, lay
from demo.wsi.textures import paint_materials, seamless_noise
from tiling.geometry import Size

TILE = 512
_QUALITY = 80
_RAGGED = 0.03  # how far the fine noise moves an outline, in units of a field
_SMALLEST = 1024


def paint_slide(slide: Slide, path: Path, scale: float = 1.0) -> None:
    """Write the slide as a pyramidal BigTIFF of 60000 x 40000 pixels times `scale`, a quarter of a micron each."""
    size = Size(round(SIZE.width * scale), round(SIZE.height * scale))
    painter = TilePainter(slide, SIZE.width / size.width)
    with replacing(path) as temporary, tifffile.TiffWriter(temporary, bigtiff=True) as file:
        level = 0
        while level == 0 or max(size) >> (level - 1) > _SMALLEST:
            _write_level(file, painter, Size(size.width >> level, size.height >> level), level)
            level += 1


def _write_level(file: tifffile.TiffWriter, painter: "TilePainter", size: Size, level: int) -> None:
    pixels_per_centimeter = 1e4 / (MICRONS_PER_PIXEL * 2**level)
    file.write(
        painter.encoded_tiles(size, level),
        shape=(size.height, size.width, 3),
        dtype=np.uint8,
        tile=(TILE, TILE),
        photometric="ycbcr",
        subsampling=(2, 2),
        compression="jpeg",
        subfiletype=1 if level else 0,
        resolution=(pixels_per_centimeter, pixels_per_centimeter),
        resolutionunit="CENTIMETER",
        description="Synthetic slide drawn by a program; it shows no patient and no pathology." if level == 0 else None,
        software="gigavqa",
        metadata=None,
    )


class TilePainter:
    """Composes tiles of any level from the slide's fields and the materials' patches, reduced to that level."""

    def __init__(self, slide: Slide, zoom: float) -> None:
        """`zoom`: pixels of the full-size slide per pixel of level 0."""
        self._fields = slide.fields
        self._zoom = zoom
        materials = paint_materials(slide.seed)
        self._patches = [[materials[name]] for name in MATERIALS]
        self._noise = _RAGGED * seamless_noise(stream(slide.seed, "wsi", "outlines"), 40, 40)
        self._encoded = lru_cache(maxsize=512)(self._encode_plain)

    def encoded_tiles(self, size: Size, level: int) -> Iterator[bytes]:
        """Yield the JPEG bytes of a level's tiles, row by row."""
        for top in range(0, size.height, TILE):
            for left in range(0, size.width, TILE):
                material = self._only_material(left, top, level)
                if material is None:
                    yield _encode(self.compose(left, top, level))
                else:
                    side = self._patch(material, level).shape[0]
                    yield self._encoded(material, left % side, top % side, level)

    def compose(self, left: int, top: int, level: int) -> Pixels:
        """Return a tile's pixels, TILE x TILE x 3; (left, top) in pixels of the level."""
        laid = lay(self._enlarged_fields(left, top, level))
        present = np.unique(laid)
        pixels = self._material(int(present[0]), left, top, level).copy()
        for material in present[1:]:
            np.copyto(pixels, self._material(int(material), left, top, level), where=(laid == material)[..., None])
        return pixels

    def _window(self, left: int, top: int, level: int) -> tuple[float, float, float, float]:
        """The tile's edges in values of the fields: left, top, right, bottom."""
        step = STEP / (self._zoom * 2**level)
        return left / step, top / step, (left + TILE) / step, (top + TILE) / step

    def _only_material(self, left: int, top: int, level: int) -> int | None:
        """The material that alone fills the tile, or None where an outline may cross it."""
        x1, y1, x2, y2 = self._window(left, top, level)
        rows, columns = slice(max(0, int(y1) - 1), int(y2) + 2), slice(max(0, int(x1) - 1), int(x2) + 2)
        around = self._fields[:, rows, columns]
        margin = 4 * _RAGGED
        lowest, highest = around.min(axis=(1, 2)) - margin, around.max(axis=(1, 2)) + margin
        if highest[0] <= 0:
            return 0
        low, high = (lay(edge[:, None, None])[0, 0] for edge in (lowest, highest))
        certain = bool(lowest[0] > 0) and not np.any((lowest <= 0) & (highest > 0))
        return int(low) if certain and low == high else None

    def _enlarged_fields(self, left: int, top: int, level: int) -> NDArray[np.float32]:
        _, height, width = self._fields.shape
        x1, y1, x2, y2 = self._window(left, top, level)
        columns = slice(max(0, int(x1) - 2), min(width, int(x2) + 3))
        rows = slice(max(0, int(y1) - 2), min(height, int(y2) + 3))
        xs = np.clip(np.linspace(x1, x2, TILE, endpoint=False) - 0.5 - columns.start, 0, columns.stop - columns.start - 1)
        ys = np.clip(np.linspace(y1, y2, TILE, endpoint=False) - 0.5 - rows.start, 0, rows.stop - rows.start - 1)
        fields = _bilinear(self._fields[:, rows, columns], xs.astype(np.float32), ys.astype(np.float32))
        return fields + self._fine_noise(left, top, level)

    def _fine_noise(self, left: int, top: int, level: int) -> NDArray[np.float32]:
        return _wrapped(self._noise[:: 2**level, :: 2**level], left, top)

    def _patch(self, material: int, level: int) -> Pixels:
        patches = self._patches[material]
        while len(patches) <= level:
            patches.append(np.asarray(Image.fromarray(patches[-1]).reduce(2)))
        return patches[level]

    def _material(self, material: int, left: int, top: int, level: int) -> Pixels:
        return _wrapped(self._patch(material, level), left, top)

    def _encode_plain(self, material: int, left: int, top: int, level: int) -> bytes:
        return _encode(self._material(material, left, top, level))


def _wrapped(patch: NDArray[np.generic], left: int, top: int) -> NDArray:  # type: ignore[type-arg]
    """Return TILE x TILE of a patch that repeats, from (left, top)."""
    side = patch.shape[0]
    left, top = left % side, top % side
    if left + TILE <= side and top + TILE <= side:
        return patch[top : top + TILE, left : left + TILE]
    rows, columns = (np.arange(start, start + TILE) % side for start in (top, left))
    return patch[rows][:, columns]


def _bilinear(fields: NDArray[np.float32], xs: NDArray[np.float32], ys: NDArray[np.float32]) -> NDArray[np.float32]:
    """Interpolate fields, N x H x W, at every (x, y) of two axes."""
    x0, y0 = np.minimum(xs.astype(int), fields.shape[2] - 2), np.minimum(ys.astype(int), fields.shape[1] - 2)
    x_share, y_share = (xs - x0)[None, None, :], (ys - y0)[None, :, None]
    across = fields[:, :, x0] * (1 - x_share) + fields[:, :, x0 + 1] * x_share
    return across[:, y0] * (1 - y_share) + across[:, y0 + 1] * y_share


def _encode(pixels: Pixels) -> bytes:
    encoded: bytes = imagecodecs.jpeg8_encode(np.ascontiguousarray(pixels), level=_QUALITY, subsampling="420")
    return encoded

