"""Paints pictures of flat shapes tile by tile, and reduces them to pyramids, with no level ever in memory as a whole.

A tile of one colour alone is painted and encoded once, wherever it stands.
"""

import zlib
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import tifffile
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from demo.canvas import Canvas, replacing
from demo.sprites import Color
from tiling.geometry import Size

TILE = 256
"""Smaller tiles have more of one colour, and fewer pixels to paint."""
INK: Color = (24, 26, 38)
BOARD: Color = (246, 242, 228)
_SMALLEST = 2048
_QUALITY = 92


class Shape(NamedTuple):
    """A filled shape in pixels of the whole picture; of boxes and ellipses the points are two corners."""

    kind: Literal["box", "ellipse", "polygon"]
    color: Color
    points: tuple[float, ...]


def box(x1: float, y1: float, x2: float, y2: float, color: Color) -> Shape:
    """A filled rectangle."""
    return Shape("box", color, (x1, y1, x2, y2))


class Lettering:
    """A text of capitals whose ink is `height` pixels high, with the top left corner of its ink at (x, y)."""

    def __init__(self, text: str, height: int, x: int, y: int) -> None:
        self.text, self.mask = text, _ink(text, height)
        self.x, self.y = x, y

    @property
    def extent(self) -> tuple[int, int, int, int]:
        """Left, top, right and bottom of the ink, in pixels of the whole picture."""
        return self.x, self.y, self.x + self.mask.width, self.y + self.mask.height

    def difference(self, shown: Image.Image) -> float:
        """Mean difference of 255 between grey pixels of its extent and what is painted there."""
        size = self.mask.size
        painted = Image.composite(Image.new("RGB", size, INK), Image.new("RGB", size, BOARD), self.mask).convert("L")
        return float(np.abs(np.asarray(painted, np.int16) - np.asarray(shown, np.int16)).mean())


def _ink(text: str, height: int) -> Image.Image:
    """Coverage of a text's ink, cut to the ink, reduced from a larger drawing to the height."""
    font = ImageFont.load_default(200)
    drawn = Image.new("L", (220 * len(text), 400))
    ImageDraw.Draw(drawn).text((40, 60), text, fill=255, font=font)
    cut = drawn.crop(drawn.getbbox())
    return cut.resize((max(1, round(cut.width * height / cut.height)), height), Image.Resampling.BOX)


class Scene(NamedTuple):
    """All that a picture shows, from the back to the front, with its letterings in front of everything."""

    size: Size
    shapes: Sequence[Shape]
    letterings: Sequence[Lettering]


class _Tile(NamedTuple):
    """A tile, and its colour where it has but one."""

    pixels: Image.Image
    only: Color | None


class Painter:
    """Paints any part of a scene."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene

    @cached_property
    def _extents(self) -> NDArray[np.float64]:
        """Left, top, right and bottom of each shape."""
        rows = [
            (min(one.points[::2]), min(one.points[1::2]), max(one.points[::2]), max(one.points[1::2]))
            for one in self._scene.shapes
        ]
        return np.array(rows, dtype=np.float64).T

    def part(self, left: int, top: int, size: Size, scale: float = 1.0) -> Image.Image:
        """The part of `size` pixels at (left, top), both counted in the scene times `scale`."""
        shapes, texts = self._within(left, top, size, scale)
        image = Image.new("RGB", size)
        pen = ImageDraw.Draw(image)
        for shape in shapes:
            _draw(pen, shape, left, top, scale)
        for text in texts:
            mask = text.mask if scale == 1 else text.mask.resize(_scaled(text.mask, scale), Image.Resampling.BOX)
            image.paste(INK, (round(text.x * scale) - left, round(text.y * scale) - top), mask)
        return image

    def tile(self, left: int, top: int) -> _Tile:
        """A tile of the full size."""
        shapes, texts = self._within(left, top, Size(TILE, TILE), 1.0)
        if len(shapes) == 1 and not texts:  # the one below is a box that covers all of it
            return _plain(shapes[0].color)
        image = self.part(left, top, Size(TILE, TILE))
        ((_, only),) = image.getcolors(1) or [(0, None)]
        return _Tile(image, None) if only is None else _plain(only)

    def _within(self, left: int, top: int, size: Size, scale: float) -> tuple[list[Shape], list[Lettering]]:
        """What may be seen there: shapes from the last box on that covers all of it, and letterings."""
        edges = np.array([left, top, left + size.width, top + size.height]) / scale
        x1, y1, x2, y2 = self._extents
        touching = np.flatnonzero((x1 < edges[2]) & (x2 > edges[0]) & (y1 < edges[3]) & (y2 > edges[1])).tolist()
        covering = (x1 <= edges[0]) & (x2 >= edges[2]) & (y1 <= edges[1]) & (y2 >= edges[3])
        shapes = self._scene.shapes
        last = max((at for at in touching if covering[at] and shapes[at].kind == "box"), default=0)
        texts = [one for one in self._scene.letterings if _touches(one.extent, edges)]
        return [shapes[at] for at in touching if at >= last], texts


@cache
def _plain(color: Color) -> _Tile:
    return _Tile(Image.new("RGB", (TILE, TILE), color), color)


def _scaled(image: Image.Image, scale: float) -> Size:
    return Size(max(1, round(image.width * scale)), max(1, round(image.height * scale)))


def _touches(extent: tuple[int, int, int, int], edges: NDArray[np.float64]) -> bool:
    x1, y1, x2, y2 = extent
    return bool(x1 < edges[2] and x2 > edges[0] and y1 < edges[3] and y2 > edges[1])


def _draw(pen: ImageDraw.ImageDraw, shape: Shape, left: int, top: int, scale: float) -> None:
    points = [(x * scale - left, y * scale - top) for x, y in zip(shape.points[::2], shape.points[1::2], strict=True)]
    if shape.kind == "polygon":
        pen.polygon(points, fill=shape.color)
        return
    (x1, y1), (x2, y2) = points
    corners = (x1, y1, max(x1, x2 - 1), max(y1, y2 - 1))  # Pillow's corners belong to the shape
    if shape.kind == "box":
        pen.rectangle(corners, fill=shape.color)
    else:
        pen.ellipse(corners, fill=shape.color)


def write_jpeg(scene: Scene, path: Path) -> None:
    """Write a scene as a JPEG file."""
    whole = Painter(scene).part(0, 0, scene.size)
    Canvas(np.asarray(whole)).write_jpeg(path, _QUALITY)


def write_pyramid(scene: Scene, path: Path) -> None:
    """Write a scene as a tiled BigTIFF with levels of half the size each; its sides are multiples of 2 to the levels.

    What is kept in memory are the encoded tiles, and the pixels of a few.
    """
    pyramid = _Pyramid(Painter(scene), scene.size)
    with replacing(path) as temporary, tifffile.TiffWriter(temporary, bigtiff=True) as file:
        for level, (size, tiles) in enumerate(pyramid.levels()):
            file.write(
                tiles,
                shape=(size.height, size.width, 3),
                dtype=np.uint8,
                tile=(TILE, TILE),
                photometric="rgb",
                compression="zlib",
                subfiletype=1 if level else 0,
                software="gigavqa",
                metadata=None,
            )


class _Pyramid:
    """Paints the tiles of level 0, and makes each other one of the four below it, depth first."""

    def __init__(self, painter: Painter, size: Size) -> None:
        self._painter = painter
        self._sizes = [size]
        while max(self._sizes[-1]) > _SMALLEST:
            self._sizes.append(Size(*(side // 2 for side in self._sizes[-1])))
        self._encoded: list[dict[tuple[int, int], bytes]] = [{} for _ in self._sizes]
        self._of_colors: dict[Color, bytes] = {}

    def levels(self) -> Iterator[tuple[Size, Iterator[bytes]]]:
        """Each level's size and its encoded tiles, row by row."""
        top = len(self._sizes) - 1
        for row, column in self._places(top):
            self._make(top, row, column)
        for level, size in enumerate(self._sizes):
            yield size, (self._encoded[level][place] for place in self._places(level))

    def _places(self, level: int) -> list[tuple[int, int]]:
        width, height = self._sizes[level]
        return [(row, column) for row in range(-(-height // TILE)) for column in range(-(-width // TILE))]

    def _make(self, level: int, row: int, column: int) -> _Tile:
        width, height = self._sizes[level]
        if row * TILE >= height or column * TILE >= width:
            return _plain(INK)
        if level == 0:
            made = self._painter.tile(column * TILE, row * TILE)
        else:
            below = [(2 * row + down, 2 * column + across) for down in (0, 1) for across in (0, 1)]
            made = _reduced([self._make(level - 1, *place) for place in below])
        self._encoded[level][row, column] = self._encode(made)
        return made

    def _encode(self, tile: _Tile) -> bytes:
        if tile.only is None:
            return zlib.compress(tile.pixels.tobytes(), 1)
        if tile.only not in self._of_colors:
            self._of_colors[tile.only] = zlib.compress(tile.pixels.tobytes(), 9)
        return self._of_colors[tile.only]


def _reduced(four: Sequence[_Tile]) -> _Tile:
    colors = {tile.only for tile in four}
    if len(colors) == 1 and None not in colors:
        return four[0]
    joined = Image.new("RGB", (TILE, TILE))
    for number, tile in enumerate(four):
        small = tile.pixels.reduce(2)
        joined.paste(small, (number % 2 * (TILE // 2), number // 2 * (TILE // 2)))
    return _Tile(joined, None)
