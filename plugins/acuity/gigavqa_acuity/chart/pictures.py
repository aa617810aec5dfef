"""Plans of the chart's pictures: one ring of a size at a place, and the region that is evidence of it."""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar

import numpy as np

from gigavqa.tiling.geometry import Region, Size
from gigavqa_acuity.samples import Optotype
from gigavqa_acuity.taxonomy import (
    COLOURS,
    DIRECTIONS,
    PLACES,
    SCENES,
    Colour,
    Direction,
    RingPlace,
    SceneKind,
)

SIDE = 32768
"""Both sides of a picture, in pixels."""
SEAMS = 8
"""Tiles of several levels meet at the multiples of this part of a side."""
TINY = (2, 3, 4, 5)
"""Diameters that only a region can show; one picture of 16 has one of them."""
SHARE_OF_TINY = 1 / 16
SMALLEST = 16
"""All other diameters are log-uniform between this and half a side."""
LEAST_REGION = 32
MARGIN = 0.3
"""How far the ground reaches beyond a ring's box, at least, in diameters."""

Draws = np.random.Generator
_Word = TypeVar("_Word", bound=str)


class ChartImage(NamedTuple):
    """The plan of a picture, and its size."""

    kind: SceneKind
    place: RingPlace
    optotype: Optotype
    size: Size


def draw_picture(
    rng: Draws,
    diameter: int | None = None,
    *,
    kind: SceneKind | None = None,
    place: RingPlace | None = None,
    colour: Colour | None = None,
    direction: Direction | None = None,
    side: int = SIDE,
) -> ChartImage:
    """Return a picture as the chart has them, at random in all that is not given; `diameter` is at most half a side."""
    diameter = diameter or _diameter(rng, side)
    kind, place = kind or one_of(rng, SCENES), place or one_of(rng, PLACES)
    colour, direction = colour or one_of(rng, COLOURS), direction or one_of(rng, DIRECTIONS)
    x, y = _PLACING[place](rng, diameter, side)
    optotype = Optotype(x=x, y=y, diameter=diameter, colour=colour, direction=direction)
    return ChartImage(kind, place, optotype, Size(side, side))


def one_of(rng: Draws, words: tuple[_Word, ...]) -> _Word:
    """One word, each as likely as another."""
    return words[int(rng.integers(len(words)))]


def _diameter(rng: Draws, side: int) -> int:
    if rng.random() < SHARE_OF_TINY:
        return TINY[int(rng.integers(len(TINY)))]
    return diameter_at(rng.random(), side)


def diameter_at(part: float, side: int = SIDE) -> int:
    """Return the diameter that this part of all but the tiny ones stays below."""
    return round(SMALLEST * math.pow(side / 2 / SMALLEST, part))


def _inside(rng: Draws, diameter: int, side: int) -> int:
    """Left or top of a ring far from the border, that crosses no seam where it is small enough to do so."""
    seam = side // SEAMS
    if diameter > seam // 2:
        least = max(side // 16, diameter // 4)
        return int(rng.integers(least, side - least - diameter + 1))
    return seam * int(rng.integers(1, SEAMS - 1)) + int(rng.integers(diameter // 4, seam - diameter + 1))


def _across(rng: Draws, diameter: int, side: int) -> int:
    """Left or top of a ring that crosses a seam, with a part of it on either side."""
    seam = side // SEAMS
    least = math.ceil(diameter / seam)
    crossed = seam * int(rng.integers(least, SEAMS - least + 1))
    return crossed - int(rng.integers(max(1, diameter // 4), max(1, 3 * diameter // 4) + 1))


def _border(rng: Draws, diameter: int, side: int) -> int:
    """Left or top of a ring beside a border, near enough for its evidence to touch it."""
    least = math.ceil(MARGIN * diameter)
    gap = int(rng.integers(least, min(diameter, side - diameter - least) + 1))
    return gap if rng.random() < 0.5 else side - diameter - gap


def _shuffled(rng: Draws, x: int, y: int) -> tuple[int, int]:
    return (x, y) if rng.random() < 0.5 else (y, x)


_PLACING: Mapping[RingPlace, Callable[[Draws, int, int], tuple[int, int]]] = {
    "centre": lambda rng, *sizes: (_inside(rng, *sizes), _inside(rng, *sizes)),
    "edge": lambda rng, *sizes: _shuffled(rng, _border(rng, *sizes), _inside(rng, *sizes)),
    "corner": lambda rng, *sizes: (_border(rng, *sizes), _border(rng, *sizes)),
    "seam": lambda rng, *sizes: _shuffled(rng, _across(rng, *sizes), _inside(rng, *sizes)),
}


def evidence_of(rng: Draws, picture: ChartImage) -> Region:
    """A square of two to four diameters that holds the ring at a random place, and touches the borders it stands at."""
    one = picture.optotype
    diameter, within = int(one.diameter), picture.size.width
    side = min(within, max(LEAST_REGION, round(diameter * rng.uniform(2, 4))))
    at_border = picture.place in ("edge", "corner")
    x, y = (_start(rng, int(at), diameter, side, within, at_border=at_border) for at in (one.x, one.y))
    return Region(x, y, side, side)


def _start(rng: Draws, at: int, diameter: int, side: int, within: int, *, at_border: bool) -> int:
    """Left or top of a region that holds a ring."""
    if at_border and at <= diameter:
        return 0
    if at_border and at + diameter >= within - diameter:
        return within - side
    return min(max(0, at - int(rng.integers(side - diameter + 1))), within - side)
