"""The plaza: who stands where, such that the questions' answers hold. In pixels of the full-size image."""

from functools import lru_cache, partial
from itertools import permutations
from typing import NamedTuple

import numpy as np
from PIL import Image

from gigavqa.benchmarks.ultravr.taxonomy import Quadrant
from gigavqa.demo.draws import stream
from gigavqa.demo.errors import LayoutError
from gigavqa.demo.sprites import Color
from gigavqa.demo.ultravr.cctv.figures import KINDS, FigureClothing
from gigavqa.demo.ultravr.cctv.questions import PlazaQuestions, PlazaRelation, draw_questions
from gigavqa.demo.ultravr.placing import PixelBox, find_place, first_layout, quadrant_box
from gigavqa.tiling.geometry import Size

SIZE = Size(26753, 15052)
HORIZON = 1500
FOUNTAIN = PixelBox(11300, 6400, 15500, 8700)
_NEAR, _FAR = 225, 72  # height in pixels of a standing adult at the lower edge and at the horizon
_CLEARANCE = 50
_BOUNDARY = 320
_LEAST_STANDING = 4  # in each quadrant, so that a couple can be chosen there
_CLEAR = 250
"""Pixels by which the persons of a couple differ in height and across."""

_MUTED: tuple[Color, ...] = (
    (52, 60, 78), (88, 92, 98), (40, 42, 46), (120, 112, 104), (74, 88, 80), (104, 82, 72), (150, 148, 142),
    (66, 56, 84),
)  # fmt: skip
_TROUSERS: tuple[Color, ...] = ((38, 44, 62), (58, 58, 62), (30, 30, 34), (92, 84, 72), (64, 78, 104))
_SKIN: tuple[Color, ...] = ((236, 200, 172), (214, 170, 134), (160, 112, 80), (112, 76, 54))
_HAIR: tuple[Color, ...] = ((36, 28, 24), (84, 56, 34), (22, 20, 22), (128, 96, 60), (150, 146, 142))
_ACCENTS: tuple[Color, ...] = ((196, 48, 44), (40, 92, 168), (226, 168, 40), (44, 132, 86), (140, 58, 140))

BRIGHT: dict[str, Color] = {
    "pink": (240, 120, 172),
    "orange": (244, 134, 30),
    "turquoise": (36, 190, 190),
    "yellow": (244, 214, 48),
    "bright green": (88, 206, 62),
    "white": (246, 246, 242),
}
"""Colors of upper clothing that one standing adult each wears, so that a description names one person."""


class PlazaFigure(NamedTuple):
    """One person of the plaza; `clothing` names the color of the upper clothing where it is unique."""

    kind: str
    box: PixelBox
    quadrant: Quadrant
    facing: str
    look: FigureClothing
    clothing: str | None


class Plaza(NamedTuple):
    """Everybody on the plaza, what is asked about them, and the seed of the ground's texture."""

    seed: int
    asked: PlazaQuestions
    figures: tuple[PlazaFigure, ...]

    def of(self, kind: str, quadrant: Quadrant | None = None) -> list[PlazaFigure]:
        """Return the figures of one kind, in the whole image or in one quadrant."""
        return [f for f in self.figures if f.kind == kind and quadrant in {None, f.quadrant}]


def sprite_of(figure: PlazaFigure) -> Image.Image:
    """Draw a figure, larger than it is pasted."""
    return KINDS[figure.kind].draw(figure.look, figure.facing)


def plan_plaza(seed: int) -> Plaza:
    """Draw the plaza of a seed: where as many of each kind as its questions need stand, and what they wear.

    Raises LayoutError when no attempt finds a place for everybody.
    """
    asked = draw_questions(seed)
    return first_layout(partial(_plan, seed, asked))


def _plan(seed: int, asked: PlazaQuestions, attempt: int) -> Plaza:
    rng = stream(seed, "cctv", "plaza", str(attempt))
    figures: list[PlazaFigure] = []
    for kind in KINDS:
        for quadrant, count in _shares(kind, asked, rng).items():
            for _ in range(count):
                figures.append(_place(kind, quadrant, figures, rng))
    for relation in asked.relations:
        _dress(relation, figures, rng)
    return Plaza(seed, asked, tuple(sorted(figures, key=lambda figure: figure.box.y2)))


def _shares(kind: str, asked: PlazaQuestions, rng: np.random.Generator) -> dict[Quadrant, int]:
    """Divide a kind's count among the quadrants: one alone has the fewest, and one alone the most."""
    while True:
        shares = sorted(rng.multinomial(asked.counts[kind].value, [1 / 4] * 4).tolist())
        enough = kind != "standing" or shares[0] >= _LEAST_STANDING
        if shares[0] < shares[1] and shares[2] < shares[3] and enough:
            return dict(zip(asked.quadrants[kind], shares, strict=True))


def _dress(relation: PlazaRelation, figures: list[PlazaFigure], rng: np.random.Generator) -> None:
    """Give the couple's clothing to two adults of its quadrant who stand as the relation says."""
    standing = [
        index
        for index, figure in enumerate(figures)
        if (figure.kind, figure.quadrant) == ("standing", relation.quadrant)
    ]
    fitting = [
        pair
        for pair in permutations(standing, 2)
        if position(*(figures[index].box for index in pair)) == relation.position
    ]
    if not fitting:
        raise LayoutError(f"nobody stands {relation.position} of another in the {relation.quadrant} quadrant")
    for index, clothing in zip(fitting[int(rng.integers(len(fitting)))], relation.clothing, strict=True):
        figure = figures[index]
        figures[index] = figure._replace(look=figure.look._replace(upper=BRIGHT[clothing]), clothing=clothing)


def position(a: PixelBox, b: PixelBox) -> str | None:
    """Return where A stands relative to B.

    In front is nearer to the camera, left is the image's left; None if unclear.
    """
    (x_a, y_a), (x_b, y_b) = a.center, b.center
    if min(abs(x_a - x_b), abs(y_a - y_b)) < _CLEAR:
        return None
    return f"{'front' if y_a > y_b else 'back'}-{'left' if x_a < x_b else 'right'}"


def _place(kind: str, quadrant: Quadrant, others: list[PlazaFigure], rng: np.random.Generator) -> PlazaFigure:
    facing = str(rng.choice(KINDS[kind].facings))
    area = quadrant_box(quadrant, SIZE, _BOUNDARY)
    taken = [FOUNTAIN, *(other.box.grown(_CLEARANCE) for other in others)]
    feet = rng.uniform(max(area.y1, HORIZON) + 300, area.y2)
    height = KINDS[kind].height * (_FAR + (_NEAR - _FAR) * (feet - HORIZON) / (SIZE.height - HORIZON))
    row = PixelBox(area.x1, feet - height - 200, area.x2, feet)
    box = find_place(height * _aspect(kind, facing), height, row, taken, rng)
    return PlazaFigure(kind, box, quadrant, facing, _look(rng), None)


@lru_cache
def _aspect(kind: str, facing: str) -> float:
    """Width over height of a figure, which its colors do not change."""
    sheet = KINDS[kind].draw(FigureClothing(*[_MUTED[0]] * len(FigureClothing._fields)), facing)
    return sheet.width / sheet.height


def _look(rng: np.random.Generator) -> FigureClothing:
    palettes = (_MUTED, _TROUSERS, _SKIN, _HAIR, _ACCENTS)
    return FigureClothing(*(palette[int(rng.integers(len(palette)))] for palette in palettes))
