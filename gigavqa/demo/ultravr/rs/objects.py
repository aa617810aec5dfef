"""Objects seen from the air, drawn from a few shapes each; one unit is one pixel of the full-size image."""

from collections.abc import Callable
from typing import NamedTuple

from PIL import Image

from gigavqa.benchmarks.ultravr.taxonomy import Quadrant
from gigavqa.demo.sprites import Color, Pen, draw, shaded
from gigavqa.tiling.geometry import Size

_GLASS: Color = (44, 54, 64)
_WHITE: Color = (238, 238, 234)


class ObjectKind(NamedTuple):
    """One kind of object: its label (plural and singular), its size when horizontal, how it is drawn, its colors."""

    label: str
    singular: str
    size: Size
    paint: Callable[[Pen, Color], None]
    colors: tuple[Color, ...]


def _small_vehicle(pen: Pen, color: Color) -> None:
    pen.box(0, 1, 58, 27, color, 8)
    pen.box(15, 4, 22, 24, _GLASS, 3)
    pen.box(41, 5, 46, 23, _GLASS, 2)
    pen.box(23, 4, 40, 24, shaded(color, 1.12), 4)


def _ship(pen: Pen, color: Color) -> None:
    hull = [(0, 10), (14, 0), (205, 0), (260, 36), (205, 72), (14, 72), (0, 62)]
    pen.polygon(hull, shaded(color, 0.6))
    pen.polygon([(8, 14), (18, 7), (202, 7), (245, 36), (202, 65), (18, 65), (8, 58)], color)
    for x in (66, 104, 142):
        pen.box(x, 14, x + 32, 58, shaded(color, 0.8), 3)
    pen.box(16, 14, 50, 58, _WHITE, 5)
    pen.box(24, 24, 42, 48, (120, 132, 142), 3)


def _tennis_court(pen: Pen, color: Color) -> None:
    pen.box(0, 0, 480, 250, color)
    pen.box(54, 44, 426, 206, (70, 110, 150))
    for y in (44, 64, 186, 206):
        pen.line([(54, y), (426, y)], 5, _WHITE)
    for x in (54, 150, 330, 426):
        pen.line([(x, 44 if x in {54, 426} else 64), (x, 206 if x in {54, 426} else 186)], 5, _WHITE)
    pen.line([(150, 125), (330, 125)], 5, _WHITE)
    pen.line([(240, 30), (240, 220)], 6, (40, 44, 48))


def _swimming_pool(pen: Pen, color: Color) -> None:
    pen.box(0, 0, 170, 92, (222, 214, 200), 14)
    pen.box(12, 12, 158, 80, color, 10)
    pen.box(18, 18, 152, 40, shaded(color, 1.1), 8)


def _storage_tank(pen: Pen, color: Color) -> None:
    pen.ellipse(0, 0, 220, 220, shaded(color, 0.72))
    pen.ellipse(7, 7, 213, 213, color)
    pen.ellipse(46, 46, 174, 174, shaded(color, 0.95))
    pen.line([(110, 110), (194, 78)], 7, shaded(color, 0.7))


def _plane(pen: Pen, color: Color) -> None:
    pen.polygon([(170, 150), (235, 150), (110, 0), (80, 0)], shaded(color, 0.9))
    pen.polygon([(170, 190), (235, 190), (110, 340), (80, 340)], shaded(color, 0.9))
    pen.polygon([(10, 160), (60, 160), (20, 84), (0, 84)], shaded(color, 0.85))
    pen.polygon([(10, 180), (60, 180), (20, 256), (0, 256)], shaded(color, 0.85))
    pen.box(10, 148, 372, 192, color, 22)
    pen.box(340, 158, 356, 182, _GLASS, 4)
    for y in (84, 240):
        pen.box(118, y, 172, y + 20, (110, 116, 124), 8)


_VEHICLE_COLORS: tuple[Color, ...] = (
    (232, 232, 228), (196, 40, 36), (40, 82, 160), (30, 32, 36), (160, 164, 168), (226, 190, 60),
)  # fmt: skip

KINDS = {
    "vehicle": ObjectKind("small vehicles", "small vehicle", Size(58, 26), _small_vehicle, _VEHICLE_COLORS),
    "ship": ObjectKind("ships", "ship", Size(260, 72), _ship, ((176, 78, 62), (96, 120, 138), (190, 170, 120))),
    "court": ObjectKind(
        "tennis courts", "tennis court", Size(480, 250), _tennis_court, ((88, 140, 92), (176, 104, 74))
    ),
    "pool": ObjectKind("swimming pools", "swimming pool", Size(170, 92), _swimming_pool, ((64, 190, 220),)),
    "tank": ObjectKind("storage tanks", "storage tank", Size(220, 220), _storage_tank, ((226, 226, 220),)),
    "plane": ObjectKind("planes", "plane", Size(372, 340), _plane, ((236, 238, 240),)),
}


def sprite_of(kind: str, color: Color, *, vertical: bool) -> Image.Image:
    """Draw an object, larger than it is pasted, its long side from left to right or from top to bottom."""
    size = KINDS[kind].size
    horizontal = draw(size.width + 4, size.height + 4, lambda pen: KINDS[kind].paint(pen, color), zoom=3)
    return horizontal.transpose(Image.Transpose.ROTATE_90) if vertical else horizontal


def _red_roofed_building(pen: Pen) -> None:
    red: Color = (186, 62, 50)
    pen.polygon([(0, 0), (760, 0), (660, 230), (100, 230)], shaded(red, 1.08))
    pen.polygon([(0, 460), (760, 460), (660, 230), (100, 230)], shaded(red, 0.82))
    pen.polygon([(0, 0), (100, 230), (0, 460)], shaded(red, 0.95))
    pen.polygon([(760, 0), (660, 230), (760, 460)], shaded(red, 0.72))
    pen.line([(100, 230), (660, 230)], 9, shaded(red, 0.6))
    pen.box(520, 90, 570, 150, (140, 132, 124))


def _l_shaped_warehouse(pen: Pen) -> None:
    steel: Color = (150, 160, 172)
    pen.polygon([(0, 0), (300, 0), (300, 420), (860, 420), (860, 720), (0, 720)], steel)
    pen.polygon([(150, 0), (300, 0), (300, 420), (860, 420), (860, 570), (150, 570)], shaded(steel, 1.12))
    for y in range(50, 420, 74):
        pen.line([(4, y), (296, y)], 5, shaded(steel, 0.86))
    for x in range(330, 860, 74):
        pen.line([(x, 424), (x, 716)], 5, shaded(steel, 0.86))


def _round_hall(pen: Pen) -> None:
    blue: Color = (58, 104, 176)
    pen.ellipse(0, 0, 600, 600, shaded(blue, 0.7))
    for inset, factor in ((14, 0.9), (90, 1.0), (180, 1.12), (260, 1.3)):
        pen.ellipse(inset, inset, 600 - inset, 600 - inset, shaded(blue, factor))


def _cross_shaped_building(pen: Pen) -> None:
    stone: Color = (226, 222, 212)
    pen.box(240, 0, 480, 720, stone)
    pen.box(0, 240, 720, 480, stone)
    pen.box(280, 40, 440, 680, shaded(stone, 0.88))
    pen.box(40, 280, 680, 440, shaded(stone, 0.88))
    pen.ellipse(280, 280, 440, 440, (104, 148, 132))


class Landmark(NamedTuple):
    """A building that is unique in the image; `condition` says which objects a question means by it."""

    condition: str
    size: Size
    paint: Callable[[Pen], None]


LANDMARKS: dict[Quadrant, Landmark] = {
    "upper-left": Landmark("beside the red-roofed building", Size(760, 460), _red_roofed_building),
    "upper-right": Landmark("adjacent to the L-shaped warehouse", Size(860, 720), _l_shaped_warehouse),
    "lower-left": Landmark("around the round blue-roofed hall", Size(600, 600), _round_hall),
    "lower-right": Landmark("next to the cross-shaped building", Size(720, 720), _cross_shaped_building),
}


def landmark_sprite(landmark: Landmark) -> Image.Image:
    """Draw a landmark, larger than it is pasted."""
    return draw(landmark.size.width + 4, landmark.size.height + 4, landmark.paint, zoom=2)


def house_sprite(color: Color) -> Image.Image:
    """Draw a plain house with a roof of the given color."""

    def paint(pen: Pen) -> None:
        pen.box(0, 0, 240, 85, shaded(color, 1.1))
        pen.box(0, 85, 240, 170, shaded(color, 0.82))
        pen.line([(2, 85), (238, 85)], 5, shaded(color, 0.65))

    return draw(242, 172, paint, zoom=2)
