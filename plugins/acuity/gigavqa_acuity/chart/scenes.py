"""Scenes of the chart: a ring on a board, a plate, a wall or a field, and flat grey things around it.

Nothing but the ring has a colour, and nothing but the ring depends on its colour and gap.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from gigavqa.demo.painting import DrawnScene, FlatShape, box
from gigavqa.demo.sprites import Color, shaded
from gigavqa_acuity.chart.optotypes import ring
from gigavqa_acuity.chart.pictures import MARGIN, ChartImage, Draws, one_of
from gigavqa_acuity.samples import Optotype
from gigavqa_acuity.taxonomy import SceneKind

_GROUNDS: Mapping[SceneKind, tuple[int, int]] = {
    "board": (150, 185),
    "plate": (125, 175),
    "wall": (105, 150),
    "field": (75, 125),
}
"""How bright the ground is: never so bright that yellow, nor so dark that blue is lost on it."""
_TINT = 7
_SEGMENTS = {
    "1": "cf", "2": "acdeg", "3": "acdfg", "4": "bcdf", "5": "abdfg", "6": "abdefg", "7": "acf", "9": "abcdfg",
}  # fmt: skip
"""Which of seven strokes make a numeral: a top, b and c above, d middle, e and f below, g bottom."""


def draw_scene(picture: ChartImage, seed: int) -> DrawnScene:
    """Return the shapes of a picture; another seed gives other things around the same ring."""
    rng = np.random.default_rng(seed)
    ground = _grey(rng, *_GROUNDS[picture.kind])
    around = _AROUND[picture.kind](rng, picture, ground)
    return DrawnScene(picture.size, [*around, *ring(picture.optotype, ground)], ())


def _grey(rng: Draws, low: int, high: int) -> Color:
    """Return a grey with a slight tint."""
    red, green, blue = (rng.integers(low, high + 1) + rng.integers(-_TINT, _TINT + 1, 3)).tolist()
    return red, green, blue


class _Spot(NamedTuple):
    """The place of a thing: the middle of a square, and half its side."""

    x: float
    y: float
    half: float

    def box(self, color: Color, flat: float = 1.0) -> FlatShape:
        """Return a rectangle as wide as the square."""
        return _box(self.x - self.half, self.y - self.half * flat, self.x + self.half, self.y + self.half * flat, color)


def _spots(rng: Draws, picture: ChartImage, near: int, far: int) -> Iterator[_Spot]:
    """Spots near the ring and about as large as it is, and others anywhere and of any size."""
    one, side = picture.optotype, picture.size.width
    x, y = one.x + one.diameter / 2, one.y + one.diameter / 2
    for _ in range(near):
        angle, away = rng.uniform(0, 2 * math.pi), one.diameter * rng.uniform(1.2, 4)
        half = one.diameter * math.exp(rng.uniform(math.log(0.1), math.log(0.7)))
        yield _Spot(x + away * math.cos(angle), y + away * math.sin(angle), half)
    for _ in range(far):
        half = side * math.exp(rng.uniform(math.log(1 / 512), math.log(1 / 16)))
        yield _Spot(rng.uniform(0, side), rng.uniform(0, side), half)


def _box(x1: float, y1: float, x2: float, y2: float, color: Color) -> FlatShape:
    """Return a rectangle on whole pixels, and on a grid the coarser the larger it is.

    Tiles that it cuts alike are one.
    """
    grid = _grid(min(x2 - x1, y2 - y1) / 2)
    left, top = grid * round(x1 / grid), grid * round(y1 / grid)
    return box(left, top, max(left + grid, grid * round(x2 / grid)), max(top + grid, grid * round(y2 / grid)), color)


def _grid(most: float) -> int:
    """Return the greatest power of two up to a number of pixels, at least one."""
    return 1 << max(0, math.floor(math.log2(max(1, most))))


def _panel(rng: Draws, picture: ChartImage, ground: Color, frame: Color | None) -> list[FlatShape]:
    """Return a rectangle of the ground that the ring stands on, in a frame where it has one."""
    one = picture.optotype
    grid = _grid(one.diameter / 8)
    x1, y1, x2, y2 = (rng.uniform(MARGIN, 1) * one.diameter for _ in range(4))
    left, top = (grid * math.floor(at / grid) for at in (one.x - x1, one.y - y1))
    right, bottom = (grid * math.ceil((at + one.diameter) / grid) for at in (one.x + x2, one.y + y2))
    panel = box(left, top, right, bottom, ground)
    return [panel] if frame is None else [box(left - grid, top - grid, right + grid, bottom + grid, frame), panel]


def _board(rng: Draws, picture: ChartImage, ground: Color) -> list[FlatShape]:
    """Return a framed board on posts before blocks of houses under a sky."""
    side = picture.size.width
    shapes = [_box(0, 0, side, side, _grey(rng, 195, 225)), _box(0, 0.8 * side, side, side, _grey(rng, 90, 130))]
    step = side / 16
    for number in range(16):
        wall = _grey(rng, 80, 185)
        left, top = number * step, rng.uniform(0.15, 0.7) * side
        right, bottom = left + rng.uniform(0.7, 1.5) * step, rng.uniform(0.8, 0.88) * side
        shapes.append(_box(left, top, right, bottom, wall))
        band = shaded(wall, rng.uniform(0.6, 0.9))
        shapes.append(_box(left, top + 0.4 * step, left + step / 2, top + 0.7 * step, band))
    shapes += [spot.box(_grey(rng, 60, 215), rng.uniform(0.4, 2)) for spot in _spots(rng, picture, 12, 6)]
    frame, panel = _panel(rng, picture, ground, shaded(ground, rng.uniform(0.4, 0.75)))
    left, _, right, bottom = frame.points
    wide = picture.optotype.diameter * 0.12
    for at in (left + wide, right - 2 * wide):
        shapes.append(_box(at, bottom - wide, at + wide, bottom + 3 * picture.optotype.diameter, frame.color))
    return [*shapes, frame, panel]


def _plate(rng: Draws, picture: ChartImage, ground: Color) -> list[FlatShape]:
    """Return a small plate on the side of a vehicle before a wall of courses."""
    one, side = picture.optotype, picture.size.width
    wall = _grey(rng, 110, 190)
    shapes = [_box(0, 0, side, side, wall)]
    for number in range(8):
        course = shaded(wall, rng.uniform(0.9, 1.1))
        shapes.append(_box(0, number * side / 8, side, (number + 1) * side / 8, course))
    shapes += [spot.box(_grey(rng, 60, 215), rng.uniform(0.3, 1.5)) for spot in _spots(rng, picture, 10, 8)]
    middle, body = one.x + one.diameter * rng.uniform(-1, 2), _grey(rng, 50, 215)
    half, top = one.diameter * rng.uniform(2, 5), one.y - one.diameter * rng.uniform(0.8, 2)
    bottom = one.y + one.diameter * rng.uniform(1.7, 2.5)
    shapes += [
        _box(middle - half, top, middle + half, bottom, body),
        _box(middle - half, bottom - one.diameter * 0.3, middle + half, bottom, shaded(body, 0.7)),
    ]
    for at in (middle - 0.6 * half, middle + 0.6 * half):
        wheel = one.diameter * 0.4
        shapes.append(
            FlatShape("ellipse", _grey(rng, 25, 60), (at - wheel, bottom - wheel, at + wheel, bottom + wheel))
        )
    shapes += _panel(rng, picture, ground, shaded(body, 0.8))
    return shapes


def _wall(rng: Draws, picture: ChartImage, ground: Color) -> list[FlatShape]:
    """Return a wall of grey numerals around a plain field."""
    side, paint = picture.size.width, _grey(rng, 150, 215)
    shapes = [_box(0, 0, side, side, paint)]
    for number in range(4):
        tint = shaded(paint, rng.uniform(0.88, 1.05))
        shapes.append(_box(number * side / 4, 0, (number + 1) * side / 4, side, tint))
    for spot in _spots(rng, picture, 12, 12):
        shapes += _numeral(one_of(rng, tuple(_SEGMENTS)), spot, _grey(rng, 40, 130))
    return [*shapes, *_panel(rng, picture, ground, None)]


def _numeral(digit: str, spot: _Spot, color: Color) -> Iterator[FlatShape]:
    """Yield a numeral of straight strokes, twice as high as wide."""
    thick = _grid(spot.half / 4)
    x, y = (thick * round(at / thick) for at in (spot.x - spot.half / 2, spot.y - spot.half))
    wide = 4 * thick
    low = wide - thick / 2
    strokes: dict[str, tuple[float, float, float, float]] = {
        "a": (0, 0, wide, thick),
        "b": (0, 0, thick, wide),
        "c": (wide - thick, 0, wide, wide),
        "d": (0, low, wide, low + thick),
        "e": (0, wide, thick, 2 * wide),
        "f": (wide - thick, wide, wide, 2 * wide),
        "g": (0, 2 * wide - thick, wide, 2 * wide),
    }
    for stroke in _SEGMENTS[digit]:
        x1, y1, x2, y2 = strokes[stroke]
        yield box(x + x1, y + y1, x + x2, y + y2, color)


def _field(rng: Draws, picture: ChartImage, ground: Color) -> list[FlatShape]:
    """Return a dull field with stones and grass, all of which keep off the ring."""
    plain = box(0, 0, *picture.size, ground)
    shapes: list[FlatShape] = []
    for spot in _spots(rng, picture, 6, 6):
        shade = shaded(ground, rng.choice((rng.uniform(0.5, 0.85), rng.uniform(1.15, 1.6))))
        across, down = spot.half, spot.half * rng.uniform(0.5, 1)
        shapes.append(FlatShape("ellipse", shade, (spot.x - across, spot.y - down, spot.x + across, spot.y + down)))
    for spot in _spots(rng, picture, 8, 8):
        lean, thin = rng.uniform(-0.5, 0.5) * spot.half, 0.12 * spot.half
        tips = (spot.x - thin, spot.y + spot.half, spot.x + lean, spot.y - spot.half, spot.x + thin, spot.y + spot.half)
        shapes.append(FlatShape("polygon", shaded(ground, rng.uniform(0.6, 0.9)), tips))
    return [plain, *(shape for shape in shapes if not _meets(shape, picture.optotype))]


def _meets(shape: FlatShape, one: Optotype) -> bool:
    """Return whether a shape comes nearer to a ring than the margin."""
    margin = MARGIN * one.diameter
    across, down = shape.points[::2], shape.points[1::2]
    return (
        min(across) < one.x + one.diameter + margin
        and max(across) > one.x - margin
        and min(down) < one.y + one.diameter + margin
        and max(down) > one.y - margin
    )


_AROUND: Mapping[SceneKind, Callable[[Draws, ChartImage, Color], list[FlatShape]]] = {
    "board": _board,
    "plate": _plate,
    "wall": _wall,
    "field": _field,
}
"""What each kind of scene has behind the ring."""
