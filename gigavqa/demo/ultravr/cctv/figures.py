"""The people of the plaza, drawn from a few shapes each; units are hundredths of a standing adult's height."""

from collections.abc import Callable
from typing import NamedTuple

from PIL import Image, ImageOps

from gigavqa.benchmarks.ultravr.vocabulary import DIRECTIONS
from gigavqa.demo.sprites import Color, Pen, draw, shaded

_SHOE: Color = (34, 30, 30)
_METAL: Color = (70, 74, 80)
_TYRE: Color = (28, 28, 30)


class FigureClothing(NamedTuple):
    """The clothing of a figure; `accent` is the umbrella, the bicycle's frame or the motorcycle's body."""

    upper: Color
    lower: Color
    skin: Color
    hair: Color
    accent: Color


def standing_adult(look: FigureClothing, facing: str) -> Image.Image:
    """Draw an adult standing upright, feet together, seen from the front, the back or a side."""
    if facing in {"left", "right"}:
        return _turned(draw(60, 102, lambda pen: _standing_profile(pen, look)), facing)
    return draw(60, 102, lambda pen: _standing_front(pen, look, back=facing == "backward"))


def _standing_front(pen: Pen, look: FigureClothing, *, back: bool) -> None:
    pen.line([(26, 52), (26, 95)], 8.5, look.lower)
    pen.line([(34, 52), (34, 95)], 8.5, look.lower)
    pen.ellipse(20.5, 94, 30, 100, _SHOE)
    pen.ellipse(30, 94, 39.5, 100, _SHOE)
    for x, hand in ((19.5, 17), (40.5, 43)):
        pen.line([(x, 24), (hand, 50)], 5.5, shaded(look.upper, 0.85))
        pen.ellipse(hand - 3, 49, hand + 3, 55, look.skin)
    pen.box(19, 19, 41, 56, look.upper, 6)
    pen.box(27, 14, 33, 22, look.skin)
    pen.ellipse(23, 1, 37, 18, look.skin)
    pen.half_ellipse(22.5, 0, 37.5, 15, look.hair)
    if back:
        pen.ellipse(22.5, 0, 37.5, 16.5, look.hair)
        pen.box(22, 23, 38, 47, shaded(look.lower, 0.7), 5)  # a backpack is what tells a back at this size
        return
    pen.ellipse(26, 9, 28, 11.5, _SHOE)
    pen.ellipse(32, 9, 34, 11.5, _SHOE)


def _standing_profile(pen: Pen, look: FigureClothing) -> None:
    pen.line([(30, 52), (30, 95)], 10, look.lower)
    pen.polygon([(25, 95), (36, 94), (43, 100), (25, 100)], _SHOE)
    pen.box(23, 19, 37, 56, look.upper, 6)
    pen.line([(30, 25), (31, 40), (34, 52)], 5.5, shaded(look.upper, 0.8))
    pen.ellipse(31, 50, 37, 56, look.skin)
    pen.box(27, 14, 33, 22, look.skin)
    pen.ellipse(23, 1, 37, 18, look.skin)
    pen.polygon([(36, 8), (40, 12), (36, 13)], look.skin)
    pen.half_ellipse(22, 0, 36.5, 16, look.hair)
    pen.ellipse(22, 3, 29, 16, look.hair)


def umbrella_walker(look: FigureClothing, facing: str) -> Image.Image:
    """Draw an adult in mid-stride under an open umbrella, seen from a side."""
    return _turned(draw(80, 132, lambda pen: _umbrella_walker(pen, look)), facing)


def _umbrella_walker(pen: Pen, look: FigureClothing) -> None:
    pen.line([(38, 82), (28, 104), (22, 124)], 9, look.lower)
    pen.line([(40, 82), (50, 103), (54, 124)], 9, shaded(look.lower, 1.15))
    pen.polygon([(18, 122), (27, 122), (31, 129), (18, 129)], _SHOE)
    pen.polygon([(50, 122), (59, 122), (64, 129), (50, 129)], _SHOE)
    pen.line([(52, 10), (52, 62)], 2.2, _METAL)
    pen.box(32, 49, 46, 86, look.upper, 6)
    pen.line([(40, 54), (46, 64), (52, 60)], 5.5, shaded(look.upper, 0.8))
    pen.ellipse(49, 57, 55, 63, look.skin)
    pen.ellipse(32, 31, 46, 48, look.skin)
    pen.half_ellipse(31, 30, 45, 46, look.hair)
    pen.half_ellipse(8, 3, 78, 47, look.accent)
    for x1, x2 in ((8, 28), (46, 60)):
        pen.polygon([(x1, 25), (x2, 25), (46, 4)], shaded(look.accent, 0.78))
    pen.line([(46, 2), (46, 5)], 2, _METAL)


def sitting_child(look: FigureClothing, facing: str) -> Image.Image:
    """Draw a child sitting on the ground, legs stretched out, seen from a side."""
    return _turned(draw(70, 60, lambda pen: _sitting_child(pen, look)), facing)


def _sitting_child(pen: Pen, look: FigureClothing) -> None:
    pen.line([(22, 50), (46, 50)], 9, look.lower)
    pen.line([(22, 46), (38, 41), (50, 50)], 8, shaded(look.lower, 1.15))
    pen.polygon([(48, 40), (54, 41), (55, 54), (47, 54)], _SHOE)
    pen.box(14, 22, 30, 54, look.upper, 6)
    pen.line([(24, 28), (34, 40)], 5, shaded(look.upper, 0.8))
    pen.ellipse(13, 1, 33, 24, look.skin)
    pen.half_ellipse(12, 0, 32, 22, look.hair)


def bicycle_rider(look: FigureClothing, facing: str) -> Image.Image:
    """Draw an adult riding a bicycle: thin open wheels, an upright rider without a helmet."""
    return _turned(draw(110, 112, lambda pen: _bicycle_rider(pen, look)), facing)


def _bicycle_rider(pen: Pen, look: FigureClothing) -> None:
    for x in (22, 84):
        pen.ring(x, 88, 21, 3, _TYRE)
        pen.ring(x, 88, 3, 3, _METAL)
    crank, saddle, bar = (48, 88), (42, 62), (76, 56)
    for points in ([(22, 88), crank, saddle, (22, 88)], [crank, (73, 63), saddle], [(84, 88), bar]):
        pen.line(points, 3.4, look.accent)
    pen.line([bar, (70, 54)], 3, _METAL)
    pen.line([(42, 58), (60, 70), (50, 92)], 8.5, look.lower)
    pen.ellipse(46, 90, 60, 97, _SHOE)
    pen.line([(43, 56), (54, 26)], 15, look.upper)
    pen.line([(56, 30), (62, 45), (73, 52)], 5.5, shaded(look.upper, 0.8))
    pen.ellipse(51, 1, 67, 20, look.skin)
    pen.half_ellipse(50, 0, 66, 17, look.hair)


def motorcycle_rider(look: FigureClothing, facing: str) -> Image.Image:
    """Draw an adult riding a motorcycle: thick wheels, a solid body, a helmet."""
    return _turned(draw(124, 106, lambda pen: _motorcycle_rider(pen, look)), facing)


def _motorcycle_rider(pen: Pen, look: FigureClothing) -> None:
    for x in (24, 98):
        pen.ellipse(x - 20, 66, x + 20, 106, _TYRE)
        pen.ellipse(x - 9, 77, x + 9, 95, (150, 152, 156))
    pen.polygon([(8, 62), (30, 54), (58, 58), (76, 46), (92, 58), (84, 84), (44, 88)], look.accent)
    pen.polygon([(14, 56), (56, 54), (54, 62), (12, 62)], _SHOE)
    pen.line([(98, 86), (84, 46), (76, 42)], 4.5, _METAL)
    pen.ellipse(86, 50, 96, 60, (236, 226, 160))
    pen.line([(46, 52), (66, 62), (60, 84)], 10, look.lower)
    pen.ellipse(55, 82, 72, 90, _SHOE)
    pen.line([(46, 50), (58, 26)], 17, look.upper)
    pen.line([(60, 30), (68, 42), (78, 44)], 6.5, shaded(look.upper, 0.8))
    pen.ellipse(53, 0, 73, 21, shaded(look.accent, 0.7))
    pen.box(64, 8, 73, 14, (190, 214, 224), 2)


def _turned(right: Image.Image, facing: str) -> Image.Image:
    return ImageOps.mirror(right) if facing == "left" else right


class FigureKind(NamedTuple):
    """One kind of figure: its bundle label, how tall it is beside a standing adult, how it is drawn, where it faces."""

    label: str
    height: float
    draw: Callable[[FigureClothing, str], Image.Image]
    facings: tuple[str, ...]


KINDS = {
    "standing": FigureKind("standing adults", 1.0, standing_adult, DIRECTIONS),
    "umbrella": FigureKind("adults walking with umbrellas", 1.29, umbrella_walker, ("left", "right")),
    "bicycle": FigureKind("adults riding bicycles", 1.08, bicycle_rider, ("left", "right")),
    "child": FigureKind("sitting children", 0.55, sitting_child, ("left", "right")),
    "motorcycle": FigureKind("adults riding motorcycles", 1.06, motorcycle_rider, ("left", "right")),
}
