"""Paints scenes as pyramids: equal tiles are painted, encoded and stored once, wherever they stand."""

import zlib
from collections.abc import Hashable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from gigavqa.demo.painting import INK, DrawnScene, Lettering, ScenePainter, ShapeBounds, seen
from gigavqa.demo.pyramid_file import PyramidFile, new_pyramid
from gigavqa.demo.sprites import Color
from gigavqa.tiling.geometry import Size

TILE = 256
"""Smaller tiles have more of one colour, and fewer pixels to paint."""
_FINE = 64
"""Round shapes of fewer pixels are painted smoothly: their form is in the shades of single pixels."""
_ZOOM = 8
_KEPT = 512
"""Tiles that are kept as pixels, too."""


def write_pyramid(scene: DrawnScene, path: Path, step: int = 2, smallest: int = 2048) -> None:
    """Write a scene as a tiled BigTIFF whose levels are each smaller than the last by `step`, which divides the sides.

    The last one has at most `smallest` pixels a side. What is kept in memory are the pixels of a few tiles.
    """
    with new_pyramid(path, scene.size, TILE, step, smallest) as file:
        _Pyramid(ScenePainter(scene), file, step).paint()
        file.finish(lambda _: ((259, "short", [8]), (262, "short", [2])))


class _Pyramid:
    """Paints the tiles of level 0, and makes each other one of those below it, depth first."""

    def __init__(self, painter: ScenePainter, file: PyramidFile, step: int) -> None:
        self._painter, self._file, self._step = painter, file, step
        self._known: dict[Hashable, int] = {}
        self._plain: dict[int, Color] = {}
        self._recent: dict[int, Image.Image] = {}

    def paint(self) -> None:
        """Paint every tile of every level."""
        top = len(self._file.levels) - 1
        for row, column in np.ndindex(*self._file.levels[top].numbers.shape):
            self._make(top, row, column, self._painter.placed)

    def _make(self, level: int, row: int, column: int, among: Sequence[ShapeBounds]) -> int:
        """Return the number of the tile at a place, which shows some of the shapes `among`.

        All below it are made, too.
        """
        size, numbers = self._file.levels[level]
        if row * TILE >= size.height or column * TILE >= size.width:
            return self._plain_one(INK)
        step, side = self._step, TILE * self._step**level
        edges = (column * side, row * side, (column + 1) * side, (row + 1) * side)
        shapes, texts = seen(among, edges, 2), self._painter.read(edges)
        if len(shapes) == 1 and not texts:  # the one below covers all of it
            number = self._plain_one(shapes[0].shape.color)
            for down in range(level + 1):
                rows, columns = (slice(at * step**down, (at + 1) * step**down) for at in (row, column))
                self._file.levels[level - down].numbers[rows, columns] = number
        elif level:
            below = ((step * row + down, step * column + across) for down in range(step) for across in range(step))
            number = self._reduced(tuple(self._make(level - 1, *place, shapes) for place in below))
        else:
            number = self._painted(shapes, texts, edges)
        numbers[row, column] = number
        return number

    def _painted(
        self, shapes: Sequence[ShapeBounds], texts: Sequence[Lettering], edges: tuple[int, int, int, int]
    ) -> int:
        """Return the tile of level 0 that shows shapes and letterings."""
        left, top = edges[:2]
        key = (*_clipped(shapes, left, top), *((one.text, one.mask.size, one.x - left, one.y - top) for one in texts))
        if key in self._known:
            return self._known[key]
        fine = any(one.shape.kind != "box" and max(one.x2 - one.x1, one.y2 - one.y1) < _FINE for one in shapes)
        return self._keep(key, self._painter.part(left, top, Size(TILE, TILE), zoom=_ZOOM if fine else 1))

    def _reduced(self, parts: tuple[int, ...]) -> int:
        """Return the tile that shows others, row by row, each smaller by the step."""
        if parts[0] in self._plain and len(set(parts)) == 1:
            return parts[0]
        if parts in self._known:
            return self._known[parts]
        joined, side = Image.new("RGB", (TILE, TILE)), TILE // self._step
        for place, number in enumerate(parts):
            left, top = place % self._step * side, place // self._step * side
            smaller = self._plain.get(number) or self._pixels(number).reduce(self._step)
            joined.paste(smaller, (left, top, left + side, top + side))
        return self._keep(parts, joined)

    def _plain_one(self, color: Color) -> int:
        """Return the tile of one colour alone."""
        if color not in self._known:
            self._plain[self._add(color, Image.new("RGB", (TILE, TILE), color))] = color
        return self._known[color]

    def _keep(self, key: Hashable, tile: Image.Image) -> int:
        """Note a tile that was made for a key."""
        colors: Any = tile.getcolors(1)
        if colors is None:
            return self._add(key, tile)
        self._known[key] = self._plain_one(colors[0][1])
        return self._known[key]

    def _add(self, key: Hashable, tile: Image.Image) -> int:
        number = self._known[key] = self._file.add(zlib.compress(tile.tobytes(), 6))
        self._recent[number] = tile
        if len(self._recent) > _KEPT:
            del self._recent[next(iter(self._recent))]
        return number

    def _pixels(self, number: int) -> Image.Image:
        if number in self._recent:
            return self._recent[number]
        return Image.frombytes("RGB", (TILE, TILE), zlib.decompress(self._file.read(number)))


def _clipped(shapes: Iterable[ShapeBounds], left: int, top: int) -> Iterator[Hashable]:
    """Yield what tells a tile from others that show other things: boxes alone may be cut at its border."""
    for one in shapes:
        kind, color, points = one.shape
        if kind == "box":
            near = (max(at - start, -1) for at, start in zip(points[:2], (left, top), strict=True))
            far = (min(at - start, TILE + 1) for at, start in zip(points[2:], (left, top), strict=True))
            inner: tuple[float, ...] = (*near, *far)
        else:
            inner = tuple(at - (top if number % 2 else left) for number, at in enumerate(points))
        yield kind, color, inner
