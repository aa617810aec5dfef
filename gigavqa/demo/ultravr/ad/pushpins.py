"""Draws a box of pushpins, 1600 x 1280 units: three rows of five compartments, one yellow pushpin in each."""

import math

import numpy as np

from gigavqa.demo.sprites import Color, Pen, shaded

ROWS, COLUMNS = 3, 5
HEAD: Color = (228, 190, 40)
NEEDLE: Color = (116, 124, 134)
_PLASTIC: Color = (226, 230, 232)
_FLOOR: Color = (206, 212, 216)
_LEFT, _TOP, _WIDTH, _HEIGHT = 75, 95, 290, 363
_NEEDLE_LENGTH, _BROKEN_LENGTH = 118, 34


def draw_pushpins(pen: Pen, rng: np.random.Generator, anomalous: bool) -> None:
    """Draw one box; in an anomalous one the needle of one pushpin is broken off."""
    pen.box(45, 65, 1555, 1215, _PLASTIC, 36)
    broken = int(rng.integers(ROWS * COLUMNS)) if anomalous else -1
    for index in range(ROWS * COLUMNS):
        left, top = _LEFT + _WIDTH * (index % COLUMNS), _TOP + _HEIGHT * (index // COLUMNS)
        pen.box(left + 8, top + 8, left + _WIDTH - 8, top + _HEIGHT - 8, shaded(_FLOOR, 0.9), 18)
        pen.box(left + 14, top + 16, left + _WIDTH - 8, top + _HEIGHT - 8, _FLOOR, 16)
        x = left + _WIDTH / 2 + rng.uniform(-16, 16)
        y = top + _HEIGHT / 2 + rng.uniform(-34, 34)
        _draw_pin(pen, (x, y), rng.uniform(0, 2 * math.pi), _BROKEN_LENGTH if index == broken else _NEEDLE_LENGTH)


def _draw_pin(pen: Pen, middle: tuple[float, float], angle: float, needle: float) -> None:
    """Draw a pushpin lying on its side, its needle pointing along `angle`."""
    cos, sin = math.cos(angle), math.sin(angle)

    def at(along: float, across: float) -> tuple[float, float]:
        return middle[0] + along * cos - across * sin, middle[1] + along * sin + across * cos

    def bar(start: float, end: float, half_start: float, half_end: float, color: Color) -> None:
        pen.polygon([at(start, -half_start), at(end, -half_end), at(end, half_end), at(start, half_start)], color)

    bar(0, needle, 6, 6 if needle == _BROKEN_LENGTH else 2.5, NEEDLE)
    bar(-104, -82, 48, 48, shaded(HEAD, 0.86))
    bar(-84, -22, 27, 20, HEAD)
    bar(-84, -22, 10, 8, shaded(HEAD, 1.14))
    bar(-24, 2, 38, 38, shaded(HEAD, 0.94))
    bar(-24, -16, 38, 38, shaded(HEAD, 1.1))
