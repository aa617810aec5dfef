"""Paints any part of a picture of flat shapes at any scale, so that none is ever in memory as a whole."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from gigavqa.demo.canvas import Canvas
from gigavqa.demo.sprites import Color
from gigavqa.tiling.geometry import Size

INK: Color = (24, 26, 38)
BOARD: Color = (246, 242, 228)
_QUALITY = 92


class FlatShape(NamedTuple):
    """A filled shape in pixels of the whole picture; of boxes and ellipses the points are two corners."""

    kind: Literal["box", "ellipse", "polygon"]
    color: Color
    points: tuple[float, ...]


def box(x1: float, y1: float, x2: float, y2: float, color: Color) -> FlatShape:
    """Return a filled rectangle."""
    return FlatShape("box", color, (x1, y1, x2, y2))


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


class DrawnScene(NamedTuple):
    """All that a picture shows, from the back to the front, with its letterings in front of everything."""

    size: Size
    shapes: Sequence[FlatShape]
    letterings: Sequence[Lettering]


Edges = tuple[float, float, float, float]
"""Left, top, right and bottom of a rectangle, in pixels of the whole picture."""


class ShapeBounds(NamedTuple):
    """A shape, and the left, top, right and bottom of the box around it."""

    shape: FlatShape
    x1: float
    y1: float
    x2: float
    y2: float


class ScenePainter:
    """Paints any part of a scene."""

    def __init__(self, scene: DrawnScene) -> None:
        self._scene = scene

    @cached_property
    def placed(self) -> Sequence[ShapeBounds]:
        """All shapes, from the back to the front."""
        return [
            ShapeBounds(one, min(one.points[::2]), min(one.points[1::2]), max(one.points[::2]), max(one.points[1::2]))
            for one in self._scene.shapes
        ]

    def part(self, left: int, top: int, size: Size, scale: float = 1.0, zoom: int = 1) -> Image.Image:
        """Return the part of `size` pixels at (left, top), both counted in the scene times `scale`.

        Every pixel is the mean of `zoom` x `zoom` that are painted.
        """
        if zoom > 1:
            larger = Size(size.width * zoom, size.height * zoom)
            return self.part(left * zoom, top * zoom, larger, scale * zoom).reduce(zoom)
        edges = (left / scale, top / scale, (left + size.width) / scale, (top + size.height) / scale)
        image = Image.new("RGB", size)
        pen = ImageDraw.Draw(image)
        for one in seen(self.placed, edges, 2 / scale):
            _draw(pen, one.shape, left, top, scale)
        for text in self.read(edges):
            mask = text.mask if scale == 1 else text.mask.resize(_scaled(text.mask, scale), Image.Resampling.BOX)
            image.paste(INK, (round(text.x * scale) - left, round(text.y * scale) - top), mask)
        return image

    def read(self, edges: Edges) -> list[Lettering]:
        """Return the letterings that may be seen there."""
        x1, y1, x2, y2 = edges
        extents = ((one, one.extent) for one in self._scene.letterings)
        return [one for one, of in extents if of[0] < x2 and of[2] > x1 and of[1] < y2 and of[3] > y1]


def seen(placed: Iterable[ShapeBounds], edges: Edges, margin: float) -> list[ShapeBounds]:
    """Return the shapes that may be seen there, from the last one on that covers all of it.

    `margin` is by how much the painted edge of an ellipse may differ from the true one.
    """
    x1, y1, x2, y2 = edges
    found: list[ShapeBounds] = []
    for one in placed:
        if one.x1 >= x2 or one.x2 <= x1 or one.y1 >= y2 or one.y2 <= y1:
            continue
        if one.shape.kind == "ellipse":
            across, down = (one.x2 - one.x1) / 2, (one.y2 - one.y1) / 2
            x, y = one.x1 + across, one.y1 + down
            if _reaches(max(x1 - x, x - x2, 0), max(y1 - y, y - y2, 0), across + margin, down + margin) > 1:
                continue
            covers = min(across, down) > margin and (
                _reaches(max(x - x1, x2 - x), max(y - y1, y2 - y), across - margin, down - margin) <= 1
            )
        else:
            covers = one.shape.kind == "box" and one.x1 <= x1 and one.x2 >= x2 and one.y1 <= y1 and one.y2 >= y2
        if covers:
            found.clear()
        found.append(one)
    return found


def _reaches(x: float, y: float, across: float, down: float) -> float:
    """Return how far a point lies from the middle of an ellipse; 1 is on its edge, and more is outside."""
    return (x / across) ** 2 + (y / down) ** 2


def _scaled(image: Image.Image, scale: float) -> Size:
    return Size(max(1, round(image.width * scale)), max(1, round(image.height * scale)))


def _draw(pen: ImageDraw.ImageDraw, shape: FlatShape, left: int, top: int, scale: float) -> None:
    placed = zip(shape.points[::2], shape.points[1::2], strict=True)
    points = [(round(x * scale) - left, round(y * scale) - top) for x, y in placed]  # alike in every part
    if shape.kind == "polygon":
        pen.polygon(points, fill=shape.color)
        return
    (x1, y1), (x2, y2) = points
    corners = (x1, y1, max(x1, x2 - 1), max(y1, y2 - 1))  # Pillow's corners belong to the shape
    if shape.kind == "box":
        pen.rectangle(corners, fill=shape.color)
    else:
        pen.ellipse(corners, fill=shape.color)


def write_jpeg(scene: DrawnScene, path: Path) -> None:
    """Write a scene as a JPEG file."""
    whole = ScenePainter(scene).part(0, 0, scene.size)
    Canvas(np.asarray(whole)).write_jpeg(path, _QUALITY)
