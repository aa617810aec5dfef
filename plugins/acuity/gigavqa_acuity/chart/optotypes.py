"""Draws the chart's optotypes: Landolt rings, whose stroke and gap are a fifth of the diameter. Source: ISO 8596."""

from collections.abc import Mapping

from gigavqa.demo.painting import FlatShape, box
from gigavqa.demo.sprites import Color
from gigavqa_acuity.samples import Optotype
from gigavqa_acuity.taxonomy import Colour

PIGMENTS: Mapping[Colour, Color] = {
    "red": (204, 28, 32),
    "green": (18, 138, 52),
    "blue": (28, 62, 204),
    "yellow": (240, 200, 16),
}


def ring(optotype: Optotype, ground: Color) -> tuple[FlatShape, ...]:
    """The shapes of a ring on a ground of one colour, in pixels of the whole picture, from the back to the front."""
    x, y, side = optotype.x, optotype.y, optotype.diameter
    stroke, middle = side / 5, 2 * side / 5
    left, right, top, bottom = x + middle, x + middle + stroke, y + middle, y + middle + stroke
    gap = {
        "up": box(left, y, right, y + middle, ground),
        "right": box(x + side - middle, top, x + side, bottom, ground),
        "down": box(left, y + side - middle, right, y + side, ground),
        "left": box(x, top, x + middle, bottom, ground),
    }[optotype.direction]
    outer = FlatShape("ellipse", PIGMENTS[optotype.colour], (x, y, x + side, y + side))
    inner = FlatShape("ellipse", ground, (x + stroke, y + stroke, x + side - stroke, y + side - stroke))
    return outer, inner, gap
