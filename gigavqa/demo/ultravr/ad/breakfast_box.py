"""Draws a breakfast box, 1600 x 1280 units: fruit on the left, cereals above banana chips and almonds on the right."""

import math

import numpy as np

from gigavqa.demo.sprites import Color, Pen, Point, shaded

TANGERINE: Color = (226, 132, 34)
NECTARINE: Color = (176, 44, 40)
_TRAY: Color = (226, 226, 222)
_WELL: Color = (204, 204, 200)
_CEREAL: Color = (170, 124, 70)
_BANANA: Color = (228, 204, 132)
_ALMOND: Color = (134, 82, 46)
_RADIUS = 172
_SEATS = ((300, 300), (470, 640), (300, 980))


def draw_breakfast_box(pen: Pen, rng: np.random.Generator, anomalous: bool) -> None:
    """Draw one box; in an anomalous one a nectarine lies where the second tangerine belongs."""
    pen.box(50, 50, 1550, 1230, _TRAY, 70)
    pen.box(95, 95, 745, 1185, _WELL, 50)
    pen.box(805, 95, 1505, 1185, _WELL, 50)
    fruit = [TANGERINE, NECTARINE if anomalous else TANGERINE, NECTARINE]
    for seat, kind in zip(_SEATS, rng.permutation(len(fruit)), strict=True):
        x, y = (position + rng.uniform(-18, 18) for position in seat)
        _draw_fruit(pen, x + rng.uniform(-20, 60), y, fruit[int(kind)], rng)
    _draw_cereals(pen, rng)
    _draw_mix(pen, rng)


def _draw_fruit(pen: Pen, x: float, y: float, color: Color, rng: np.random.Generator) -> None:
    pen.ellipse(x - _RADIUS + 14, y - _RADIUS + 22, x + _RADIUS + 14, y + _RADIUS + 22, shaded(_WELL, 0.8))
    pen.ellipse(x - _RADIUS, y - _RADIUS, x + _RADIUS, y + _RADIUS, shaded(color, 0.88))
    pen.ellipse(x - _RADIUS + 8, y - _RADIUS + 6, x + _RADIUS - 14, y + _RADIUS - 18, color)
    if color == NECTARINE:
        pen.ellipse(x - 120, y - 60, x + 10, y + 110, (206, 110, 52))
    angle = rng.uniform(0, 2 * math.pi)
    stem_x, stem_y = x + 46 * math.cos(angle), y + 46 * math.sin(angle)
    pen.ellipse(stem_x - 20, stem_y - 20, stem_x + 20, stem_y + 20, shaded(color, 0.68))
    pen.ellipse(stem_x - 9, stem_y - 9, stem_x + 9, stem_y + 9, (96, 112, 56))
    pen.ellipse(x - 92, y - 112, x - 44, y - 72, shaded(color, 1.22))


def _draw_cereals(pen: Pen, rng: np.random.Generator) -> None:
    pen.box(815, 105, 1495, 640, shaded(_CEREAL, 0.8), 44)
    for x, y in _scatter(rng, (845, 135, 1465, 612), 34):
        size = rng.uniform(14, 25)
        pen.ellipse(x - size, y - size * 0.7, x + size, y + size * 0.7, shaded(_CEREAL, rng.uniform(0.82, 1.25)))


def _draw_mix(pen: Pen, rng: np.random.Generator) -> None:
    for x, y in _scatter(rng, (870, 710, 1440, 1120), 88):
        if rng.random() < 0.62:
            radius = rng.uniform(46, 56)
            pen.ellipse(x - radius + 6, y - radius + 9, x + radius + 6, y + radius + 9, shaded(_WELL, 0.84))
            pen.ellipse(x - radius, y - radius, x + radius, y + radius, shaded(_BANANA, rng.uniform(0.95, 1.04)))
            pen.ellipse(x - 16, y - 16, x + 16, y + 16, shaded(_BANANA, 0.82))
        else:
            _draw_almond(pen, x, y, rng.uniform(0, math.pi), shaded(_ALMOND, rng.uniform(0.88, 1.15)))


def _draw_almond(pen: Pen, x: float, y: float, angle: float, color: Color) -> None:
    outline: list[Point] = []
    for turn in np.linspace(0, 2 * math.pi, 28, endpoint=False):
        along, across = 58 * math.cos(turn), 27 * math.sin(turn) * (1 - 0.35 * math.cos(turn))
        cos, sin = math.cos(angle), math.sin(angle)
        outline.append((x + along * cos - across * sin, y + along * sin + across * cos))
    pen.polygon(outline, color)
    ends = [(x + reach * math.cos(angle), y + reach * math.sin(angle)) for reach in (-40, 40)]
    pen.line(ends, 4, shaded(color, 0.75))


def _scatter(rng: np.random.Generator, area: tuple[int, int, int, int], pitch: float) -> list[Point]:
    """Points of a shaken grid in a drawn order: dense everywhere, regular nowhere."""
    xs, ys = np.arange(area[0], area[2], pitch), np.arange(area[1], area[3], pitch)
    points: list[Point] = [
        (float(x) + rng.uniform(-0.4, 0.4) * pitch, float(y) + rng.uniform(-0.4, 0.4) * pitch) for y in ys for x in xs
    ]
    return [points[int(index)] for index in rng.permutation(len(points))]
