"""Paints the slide tile by tile, level by level, into a tiled BigTIFF of JPEG tiles with x2 levels.

Most tiles hold one material alone. Such a tile is encoded and stored once, wherever it occurs; only tiles with an
outline in them are composed. No level is ever in memory as a whole.
"""

from pathlib import Path
from typing import TypeVar

import imagecodecs
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gigavqa.demo.canvas import Pixels
from gigavqa.demo.draws import stream
from gigavqa.demo.pyramid_file import PyramidFile, TiffTag, new_pyramid, rational
from gigavqa.demo.ultravr.wsi.scene import COVERS, MATERIALS, MICRONS_PER_PIXEL, SIZE, STEP, Slide
from gigavqa.demo.ultravr.wsi.textures import paint_materials, seamless_noise
from gigavqa.tiling.geometry import Size

_Value = TypeVar("_Value", bound=np.generic)

TILE = 512
_QUALITY = 78
_RAGGED = 0.009  # how far the fine noise moves an outline, in units of a field
_DESCRIPTION = b"Synthetic slide drawn by a program; it shows no patient and no pathology.\0"


def paint_slide(slide: Slide, path: Path, scale: float = 1.0) -> None:
    """Write the slide as a pyramidal BigTIFF of 60000 x 40000 pixels times `scale`, a quarter of a micron each."""
    size = Size(round(SIZE.width * scale), round(SIZE.height * scale))
    with new_pyramid(path, size, TILE) as file:
        painter = TilePainter(slide, SIZE.width / size.width, file)
        for level, (_, numbers) in enumerate(file.levels):
            for row, column in np.ndindex(*numbers.shape):
                numbers[row, column] = painter.tile(column * TILE, row * TILE, level)
        file.finish(_tags)


def _tags(level: int) -> list[TiffTag]:
    """Tiles are JPEG files of YCbCr with a quarter of the colours; the resolution is in centimeters."""
    per_centimeter = rational(round(1e4 / MICRONS_PER_PIXEL), 2**level)
    described: list[TiffTag] = [] if level else [(270, "ascii", _DESCRIPTION)]
    return [
        (259, "short", [7]), (262, "short", [6]), (530, "short", [2, 2]), *described,
        (282, "rational", [per_centimeter]), (283, "rational", [per_centimeter]), (296, "short", [3]),
    ]  # fmt: skip


class TilePainter:
    """Composes tiles of any level from the slide's fields and the materials' patches, reduced to that level."""

    def __init__(self, slide: Slide, zoom: float, file: PyramidFile) -> None:
        """`zoom`: pixels of the full-size slide per pixel of level 0."""
        self._file = file
        self._fields = slide.fields
        self._zoom = zoom
        materials = paint_materials(slide.seed)
        self._patches = [[_packed(materials.pop(name))] for name in MATERIALS]
        self._noise = _RAGGED * seamless_noise(stream(slide.seed, "wsi", "outlines"), 40, 40)
        self._margin = float(np.abs(self._noise).max())
        self._plain: dict[tuple[int, ...], int] = {}

    def tile(self, left: int, top: int, level: int) -> int:
        """Store the tile at (left, top) of a level, and return its number; one of a material alone is stored once."""
        material = self._only_material(left, top, level)
        if material is None:
            return self._file.add(_encode(self.compose(left, top, level)))
        side = self._patch(material, level).shape[0]
        key = (material, left % side, top % side, level)
        if key not in self._plain:
            self._plain[key] = self._file.add(_encode(_unpacked(self._material(material, left, top, level))))
        return self._plain[key]

    def compose(self, left: int, top: int, level: int) -> Pixels:
        """Return a tile's pixels, TILE x TILE x 3; (left, top) in pixels of the level."""
        laid = self._lay_tile(left, top, level)
        present = np.flatnonzero(np.bincount(laid.ravel(), minlength=len(MATERIALS)))
        packed = self._material(int(present[0]), left, top, level)
        for material in present[1:]:
            packed = np.where(laid == material, self._material(int(material), left, top, level), packed)
        return _unpacked(packed)

    def _lay_tile(self, left: int, top: int, level: int) -> NDArray[np.uint8]:
        """As `lay`, over one tile; only fields whose outline may cross it are enlarged."""
        signs = self._signs(left, top, level)
        uncertain = np.flatnonzero(signs == 0)
        enlarged = dict(zip(uncertain.tolist(), self._enlarged(uncertain, left, top, level), strict=True))
        laid = np.zeros((TILE, TILE), np.uint8)
        for index, material in enumerate(COVERS):
            if index in enlarged:
                laid[enlarged[index] > 0] = material
            elif signs[index] > 0:
                laid[:] = material
        if 0 in enlarged:
            laid[enlarged[0] <= 0] = 0
        return laid

    def _window(self, left: int, top: int, level: int) -> tuple[float, float, float, float]:
        """Return the tile's edges in values of the fields: left, top, right, bottom."""
        step = STEP / (self._zoom * 2**level)
        return left / step, top / step, (left + TILE) / step, (top + TILE) / step

    def _signs(self, left: int, top: int, level: int) -> NDArray[np.int8]:
        """For each field 1 or -1 where it has that sign all over the tile, else 0."""
        x1, y1, x2, y2 = self._window(left, top, level)
        rows, columns = slice(max(0, int(y1) - 1), int(y2) + 2), slice(max(0, int(x1) - 1), int(x2) + 2)
        around = self._fields[:, rows, columns]
        positive, negative = around.min(axis=(1, 2)) > self._margin, around.max(axis=(1, 2)) < -self._margin
        signs: NDArray[np.int8] = positive.astype(np.int8) - negative
        return signs

    def _only_material(self, left: int, top: int, level: int) -> int | None:
        """Return the material that alone fills the tile, or None where an outline may cross it."""
        signs = self._signs(left, top, level)
        if signs[0] < 0:
            return 0
        covering = [material for sign, material in zip(signs, COVERS, strict=True) if sign > 0]
        return None if 0 in signs else covering[-1]

    def _enlarged(self, which: NDArray[np.intp], left: int, top: int, level: int) -> NDArray[np.float32]:
        """Return the fields in question at every pixel of the tile, their outlines made ragged: N x TILE x TILE."""
        _, height, width = self._fields.shape
        x1, y1, x2, y2 = self._window(left, top, level)
        columns = slice(max(0, int(x1) - 2), min(width, int(x2) + 3))
        rows = slice(max(0, int(y1) - 2), min(height, int(y2) + 3))
        xs = np.clip(
            np.linspace(x1, x2, TILE, endpoint=False) - 0.5 - columns.start, 0, columns.stop - columns.start - 1
        )
        ys = np.clip(np.linspace(y1, y2, TILE, endpoint=False) - 0.5 - rows.start, 0, rows.stop - rows.start - 1)
        fields = _bilinear(self._fields[which, rows, columns], xs.astype(np.float32), ys.astype(np.float32))
        return fields + self._fine_noise(left, top, level)

    def _fine_noise(self, left: int, top: int, level: int) -> NDArray[np.float32]:
        return _wrapped(self._noise[:: 2**level, :: 2**level], left, top)

    def _patch(self, material: int, level: int) -> NDArray[np.uint32]:
        """Return the material's patch at a level, one packed value a pixel.

        Choosing among those is three times faster.
        """
        patches = self._patches[material]
        while len(patches) <= level:
            patches.append(_packed(np.asarray(Image.fromarray(_unpacked(patches[-1])).reduce(2))))
        return patches[level]

    def _material(self, material: int, left: int, top: int, level: int) -> NDArray[np.uint32]:
        """Return a tile of the material alone, packed."""
        return _wrapped(self._patch(material, level), left, top)


def _packed(pixels: Pixels) -> NDArray[np.uint32]:
    return np.pad(pixels, ((0, 0), (0, 0), (0, 1))).view(np.uint32)[..., 0]


def _unpacked(packed: NDArray[np.uint32]) -> Pixels:
    channels = np.ascontiguousarray(packed).view(np.uint8).reshape(*packed.shape, 4)
    return np.ascontiguousarray(channels[..., :3])


def _wrapped(patch: NDArray[_Value], left: int, top: int) -> NDArray[_Value]:
    """Return TILE x TILE of a patch that repeats, from (left, top)."""
    side = patch.shape[0]
    left, top = left % side, top % side
    if left + TILE <= side and top + TILE <= side:
        return patch[top : top + TILE, left : left + TILE]
    rows, columns = (np.arange(start, start + TILE) % side for start in (top, left))
    wrapped: NDArray[_Value] = patch[rows][:, columns]
    return wrapped


def _bilinear(fields: NDArray[np.float32], xs: NDArray[np.float32], ys: NDArray[np.float32]) -> NDArray[np.float32]:
    """Interpolate fields, N x H x W, at every (x, y) of two axes."""
    x0, y0 = np.minimum(xs.astype(int), fields.shape[2] - 2), np.minimum(ys.astype(int), fields.shape[1] - 2)
    x_share, y_share = (xs - x0)[None, None, :], (ys - y0)[None, :, None]
    across = fields[:, :, x0] * (1 - x_share) + fields[:, :, x0 + 1] * x_share
    enlarged: NDArray[np.float32] = across[:, y0] * (1 - y_share) + across[:, y0 + 1] * y_share
    return enlarged


def _encode(pixels: Pixels) -> bytes:
    encoded: bytes = imagecodecs.jpeg8_encode(pixels, level=_QUALITY, subsampling="420")
    return encoded
