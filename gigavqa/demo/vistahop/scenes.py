"""The six pictures' scenes: a harbour, a street, a fair, a hall of plants, a yard and a market, all flat shapes.

Each has a row of ten things, with a board on each; where a board's letters stand is where an anchor is.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from gigavqa.demo.draws import stream
from gigavqa.demo.painting import BOARD, DrawnScene, FlatShape, Lettering, box
from gigavqa.demo.sprites import Color, shaded
from gigavqa.demo.vistahop.plan import PICTURES, SIGNS, World
from gigavqa.tiling.geometry import Size
from gigavqa.tiling.views import fit_area

SHOWN = (32, 65_536, 8_294_400)
"""The rule by which a picture's first raster has its size: factor, least and largest area."""
_INK = (2.6, 5.4)
"""How high letters are in that raster, in pixels."""
_FLAT_INK = (22, 30)
"""How high they are in a picture of nine megapixels."""
_PAINTS: tuple[Color, ...] = (
    (176, 74, 62), (62, 110, 158), (206, 164, 62), (84, 136, 92), (142, 96, 150), (196, 122, 70), (88, 152, 160),
)  # fmt: skip
_SKY: Color = (198, 216, 230)
_STONE: Color = (156, 152, 144)

Spots = list[tuple[float, float]]
"""The middle of each board, in parts of the picture's sides."""


class _Pen:
    """Collects shapes that are told in parts of a picture's sides."""

    def __init__(self, size: Size, rng: np.random.Generator) -> None:
        self.size, self.rng = size, rng
        self.shapes: list[FlatShape] = []

    def box(self, x1: float, y1: float, x2: float, y2: float, color: Color) -> None:
        """Draw a rectangle."""
        width, height = self.size
        self.shapes.append(box(round(x1 * width), round(y1 * height), round(x2 * width), round(y2 * height), color))

    def ellipse(self, x: float, y: float, across: float, down: float, color: Color) -> None:
        """An ellipse about a middle."""
        width, height = self.size
        edges = ((x - across) * width, (y - down) * height, (x + across) * width, (y + down) * height)
        self.shapes.append(FlatShape("ellipse", color, tuple(map(round, edges))))

    def polygon(self, points: Sequence[tuple[float, float]], color: Color) -> None:
        flat = (round(part * side) for point in points for part, side in zip(point, self.size, strict=True))
        self.shapes.append(FlatShape("polygon", color, tuple(flat)))

    def paint(self) -> Color:
        """Return a colour for something bright."""
        return shaded(_PAINTS[int(self.rng.integers(len(_PAINTS)))], float(self.rng.uniform(0.85, 1.1)))

    def vary(self, low: float, high: float) -> float:
        """Return a number between two."""
        return float(self.rng.uniform(low, high))


def draw_scene(world: World, name: str, scale: float = 1.0) -> DrawnScene:
    """Return the scene of a picture, with every sign of the world on its thing."""
    size = PICTURES[name].scaled(scale)
    pen = _Pen(size, stream(world.seed, "vistahop", name))
    spots = _PAINTERS[name](pen)
    low, high = _FLAT_INK if PICTURES[name].is_flat else (pixels / _shrink(size) for pixels in _INK)
    letterings = []
    for sign in world.signs[name]:
        x, y = (part * side for part, side in zip(spots[sign.position], size, strict=True))
        lettering = Lettering(sign.text, round(pen.vary(low, high)), 0, 0)
        _, _, across, down = lettering.extent
        lettering.x, lettering.y = round(x - across / 2), round(y - down / 2)
        x1, y1, x2, y2 = lettering.extent
        pen.shapes.append(box(x1 - down, y1 - down // 2, x2 + down, y2 + down // 2, BOARD))
        letterings.append(lettering)
    return DrawnScene(size, pen.shapes, letterings)


def _shrink(size: Size) -> float:
    """Return how much smaller a picture's first raster is than the picture."""
    return fit_area(size, *SHOWN).height / size.height


def _columns() -> Iterator[tuple[float, float]]:
    """Left and right edge of each thing of the row."""
    for number in range(SIGNS):
        yield (number + 0.08) / SIGNS, (number + 0.92) / SIGNS


def _harbour(pen: _Pen) -> Spots:
    pen.box(0, 0, 1, 0.5, _SKY)
    for number in range(9):
        x, high = number / 9 + pen.vary(-0.03, 0.03), pen.vary(0.06, 0.16)
        pen.polygon([(x - 0.1, 0.5), (x, 0.5 - high), (x + 0.1, 0.5)], shaded((132, 150, 148), pen.vary(0.9, 1.1)))
    pen.box(0, 0.5, 1, 0.66, _STONE)
    pen.box(0, 0.66, 1, 1, (70, 112, 144))
    for number in range(14):
        x, y = pen.vary(0, 0.9), 0.7 + number * 0.021
        pen.box(x, y, x + pen.vary(0.04, 0.14), y + 0.0015, (96, 136, 164))
    for number in range(24):
        x, y = (number % 12) / 12 + 0.01, 0.56 + number // 12 * 0.04
        pen.box(x, y, x + 0.06, y + 0.036, pen.paint())
    for x in (0.08, 0.42, 0.74):
        hull = pen.paint()
        pen.polygon([(x, 0.78), (x + 0.2, 0.78), (x + 0.17, 0.86), (x + 0.03, 0.86)], hull)
        pen.box(x + 0.03, 0.72, x + 0.09, 0.78, (226, 224, 214))
    return [_crane(pen, left, right) for left, right in _columns()]


def _crane(pen: _Pen, left: float, right: float) -> tuple[float, float]:
    """Return a crane, with a board on its cab."""
    color, top, middle = pen.paint(), pen.vary(0.12, 0.24), (left + right) / 2
    pen.box(middle - 0.006, top, middle + 0.006, 0.6, color)
    pen.polygon([(left, top + 0.03), (right, top), (right, top + 0.012), (left, top + 0.045)], shaded(color, 0.85))
    pen.box(middle - 0.024, 0.36, middle + 0.024, 0.43, shaded(color, 1.08))
    pen.box(middle - 0.03, 0.6, middle + 0.03, 0.62, shaded(color, 0.7))
    return middle, pen.vary(0.38, 0.41)


def _street(pen: _Pen) -> Spots:
    pen.box(0, 0, 1, 0.72, _SKY)
    pen.box(0, 0.72, 1, 0.8, (190, 184, 174))
    pen.box(0, 0.8, 1, 1, (112, 112, 116))
    for number in range(12):
        pen.box(number / 12 + 0.01, 0.895, number / 12 + 0.05, 0.901, (228, 226, 216))
    spots = [_house(pen, left, right) for left, right in _columns()]
    for number in range(16):
        x, y = (number + 0.5) / 16 + pen.vary(-0.02, 0.02), pen.vary(0.74, 0.79)
        pen.polygon([(x - 0.006, y), (x, y - 0.035), (x + 0.006, y)], pen.paint())
        pen.ellipse(x, y - 0.04, 0.003, 0.006, (206, 160, 128))
    return spots


def _house(pen: _Pen, left: float, right: float) -> tuple[float, float]:
    """Return a house with a shop, and a board above its window."""
    left, right = left - 0.008, right + 0.008
    wall, top = shaded(pen.paint(), 1.15), pen.vary(0.16, 0.34)
    pen.box(left, top, right, 0.72, wall)
    pen.polygon([(left, top), ((left + right) / 2, top - 0.08), (right, top)], (128, 74, 60))
    for row in range(3):
        for column in range(3):
            x, y = left + 0.014 + column * 0.026, top + 0.03 + row * 0.08
            if y < 0.5:
                pen.box(x, y, x + 0.014, y + 0.045, (92, 112, 130))
    pen.box(left + 0.006, 0.61, right - 0.03, 0.7, (150, 190, 204))
    pen.box(right - 0.024, 0.63, right - 0.006, 0.72, shaded(wall, 0.5))
    pen.box(left + 0.004, 0.555, right - 0.004, 0.6, shaded(wall, 0.72))
    return (left + right) / 2, 0.5775


def _fair(pen: _Pen) -> Spots:
    pen.box(0, 0, 1, 0.62, (216, 216, 220))
    for number in range(12):
        x = number / 12
        pen.polygon([(x, 0.1), (x + 1 / 24, 0.02), (x + 1 / 12, 0.1), (x + 1 / 24, 0.05)], (150, 154, 162))
        pen.ellipse(x + 1 / 24, 0.14, 0.008, 0.012, (250, 246, 214))
    pen.box(0, 0.62, 1, 1, (170, 158, 142))
    return [_stand(pen, left, right) for left, right in _columns()]


def _stand(pen: _Pen, left: float, right: float) -> tuple[float, float]:
    """Return a stand with a counter, something on it, and a board at its back."""
    color = pen.paint()
    pen.box(left, 0.32, right, 0.7, color)
    pen.box(left, 0.3, right, 0.33, shaded(color, 0.75))
    pen.box(left + 0.006, 0.58, right - 0.006, 0.72, shaded(color, 1.2))
    pen.ellipse((left + right) / 2, 0.55, 0.016, 0.03, shaded(pen.paint(), 0.8))
    pen.polygon([(left, 0.3), (left + 0.03, 0.24), (left + 0.03, 0.3)], pen.paint())
    return (left + right) / 2, pen.vary(0.4, 0.48)


def _hall(pen: _Pen) -> Spots:
    pen.box(0, 0, 1, 0.66, (206, 226, 216))
    for number in range(9):
        pen.box(number / 8 - 0.002, 0, number / 8 + 0.002, 0.66, (232, 238, 234))
    for y in (0.2, 0.42):
        pen.box(0, y, 1, y + 0.004, (232, 238, 234))
    pen.box(0, 0.66, 1, 1, (128, 110, 86))
    pen.box(0, 0.86, 1, 0.93, (200, 188, 164))
    for number in range(14):
        x = (number + 0.5) / 14
        pen.ellipse(x, 0.8 + pen.vary(-0.03, 0.03), 0.026, 0.03, shaded((92, 140, 80), pen.vary(0.8, 1.15)))
    return [_tree(pen, left, right) for left, right in _columns()]


def _tree(pen: _Pen, left: float, right: float) -> tuple[float, float]:
    """Return a tree with a board before its trunk."""
    middle, top, leaf = (left + right) / 2, pen.vary(0.2, 0.34), shaded((84, 132, 76), pen.vary(0.85, 1.2))
    pen.box(middle - 0.007, top, middle + 0.007, 0.72, (112, 88, 66))
    for across, down in ((0, 0), (-0.02, 0.04), (0.02, 0.05)):
        pen.ellipse(middle + across, top + down, 0.024, 0.06, shaded(leaf, pen.vary(0.9, 1.1)))
    pen.box(middle - 0.003, 0.68, middle + 0.003, 0.74, (90, 90, 92))
    return middle, 0.68


_PAINTERS: dict[str, Callable[[_Pen], Spots]] = {
    "harbour": _harbour,
    "street": _street,
    "fair": _fair,
    "hall": _hall,
    "yard": _harbour,
    "market": _fair,
}
"""What paints each picture."""
