"""The plaza: who stands where. Drawn from the seed alone, in pixels of the full-size image."""

from typing import NamedTuple

import numpy as np
from PIL import Image

from demo.cctv.figures import KINDS, Look
from demo.draws import stream
from demo.placing import Box, find_place, quadrant_box
from demo.sprites import Color
from evaluation.ultravr.taxonomy import QUADRANTS, Quadrant
from tiling.geometry import Size

SIZE = Size(26753, 15052)
HORIZON = 1500
FOUNTAIN = Box(11300, 6400, 15500, 8700)
_NEAR, _FAR = 225, 72  # height in pixels of a standing adult at the lower edge and at the horizon
_CLEARANCE = 50
_BOUNDARY = 320

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


class Figure(NamedTuple):
    """One person of the plaza; `clothing` names the color of the upper clothing where it is unique."""

    kind: str
    box: Box
    quadrant: Quadrant
    facing: str
    look: Look
    clothing: str | None


class Plaza(NamedTuple):
    """Everybody on the plaza, and the seed of the ground's texture."""

    seed: int
    figures: tuple[Figure, ...]

    def of(self, kind: str, quadrant: Quadrant | None = None) -> list[Figure]:
        """The figures of one kind, in the whole image or in one quadrant."""
        return [f for f in self.figures if f.kind == kind and quadrant in {None, f.quadrant}]


def sprite_of(figure: Figure) -> Image.Image:
    """Draw a figure, larger than it is pasted."""
    return KINDS[figure.kind].draw(figure.look, figure.facing)


def plan_plaza(seed: int) -> Plaza:
    """Draw the plaza of a seed: how many of each kind a quadrant holds, where they stand, what they wear."""
    rng = stream(seed, "cctv", "plaza")
    wanted = [(kind, quadrant) for kind in KINDS for quadrant, n in _counts(kind, rng).items() for _ in range(n)]
    bright = _bright_wearers(wanted, rng)
    figures: list[Figure] = []
    for index, (kind, quadrant) in enumerate(wanted):
        figures.append(_place(kind, quadrant, bright.get(index), figures, rng))
    return Plaza(seed, tuple(sorted(figures, key=lambda figure: figure.box.y2)))


def _counts(kind: str, rng: np.random.Generator) -> dict[Quadrant, int]:
    *others, most = KINDS[kind].counts
    order = [QUADRANTS[int(index)] for index in rng.permutation(len(QUADRANTS))]
    return dict(zip(order, [*others, most + int(rng.integers(0, 3))], strict=True))


def _bright_wearers(wanted: list[tuple[str, Quadrant]], rng: np.random.Generator) -> dict[int, str]:
    """Choose standing adults for the bright colors, going round the quadrants."""
    chosen: dict[int, str] = {}
    for number, color in enumerate(BRIGHT):
        quadrant = QUADRANTS[number % 4]
        free = [i for i, pair in enumerate(wanted) if pair == ("standing", quadrant) and i not in chosen]
        chosen[int(rng.choice(free))] = color
    return chosen


def _place(
    kind: str, quadrant: Quadrant, clothing: str | None, others: list[Figure], rng: np.random.Generator
) -> Figure:
    facing = str(rng.choice(KINDS[kind].facings))
    look = _look(clothing, rng)
    sheet = KINDS[kind].draw(look, facing)
    area = quadrant_box(quadrant, SIZE, _BOUNDARY)
    taken = [FOUNTAIN, *(other.box.grown(_CLEARANCE) for other in others)]
    feet = rng.uniform(max(area.y1, HORIZON) + 300, area.y2)
    height = KINDS[kind].height * (_FAR + (_NEAR - _FAR) * (feet - HORIZON) / (SIZE.height - HORIZON))
    row = Box(area.x1, feet - height - 200, area.x2, feet)
    box = find_place(height * sheet.width / sheet.height, height, row, taken, rng)
    return Figure(kind, box, quadrant, facing, look, clothing)


def _look(clothing: str | None, rng: np.random.Generator) -> Look:
    def pick(colors: tuple[Color, ...]) -> Color:
        return colors[int(rng.integers(len(colors)))]

    upper = pick(_MUTED)
    return Look(BRIGHT[clothing] if clothing else upper, pick(_TROUSERS), pick(_SKIN), pick(_HAIR), pick(_ACCENTS))
