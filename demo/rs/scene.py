"""The land seen from the air: what lies where. Drawn from the seed alone, in pixels of the full-size image."""

from typing import NamedTuple

import numpy as np

from demo.draws import stream
from demo.placing import Box, find_place
from demo.rs.objects import KINDS, LANDMARKS
from demo.sprites import Color
from evaluation.ultravr.taxonomy import QUADRANTS, Quadrant
from tiling.geometry import Size

SIZE = Size(12000, 12000)
RIVER = ((-200, 3300), (2500, 3900), (5000, 3350), (8000, 3950), (12200, 3300))
RIVER_WIDTH = 1100
LAKE = Box(9450, 6500, 11650, 8850)
APRON = Box(420, 9680, 5560, 10800)
RUNWAY = Box(300, 11050, 5700, 11400)
ROADS_ACROSS, ROADS_DOWN = (2500, 9200), (3450, 9150)
ROAD_ENDS = (ROADS_ACROSS[1], SIZE.height)
"""Where each road from the top ends; the first stops short of the airfield."""
ROAD_WIDTH = 130
NEAR, FAR = 260, 900
"""A small vehicle either touches the landmark's box grown by NEAR pixels, or stays out of the box grown by FAR."""

_SITES: dict[Quadrant, Box] = {
    "upper-left": Box(1300, 650, 2700, 1650),
    "upper-right": Box(6900, 700, 8350, 1800),
    "lower-left": Box(1200, 6900, 2500, 8200),
    "lower-right": Box(7000, 6950, 8300, 8250),
}
_PARKED = (4, 5, 7, 8)


class Patch(NamedTuple):
    """So many objects of one kind and orientation within an area."""

    kind: str
    amount: int
    vertical: bool
    area: Box


_PATCHES = (
    Patch("pool", 2, False, Box(3850, 500, 5600, 2100)),
    Patch("pool", 1, True, Box(6500, 4700, 8500, 5600)),
    Patch("pool", 2, True, Box(6500, 9600, 8200, 11500)),
    Patch("court", 2, False, Box(9500, 4700, 11600, 5600)),
    Patch("court", 3, True, Box(3800, 6500, 5600, 8700)),
    Patch("court", 1, False, Box(8300, 9600, 9010, 10400)),
    Patch("court", 1, True, Box(8300, 10600, 9010, 11700)),
    Patch("tank", 4, False, Box(9700, 500, 11600, 2000)),
    Patch("tank", 5, False, Box(10200, 9700, 11600, 11500)),
    Patch("plane", 4, False, APRON.grown(-40)),
    Patch("ship", 2, True, LAKE.grown(-480)),
)
_ROAD_VEHICLES = (
    # Which way the vehicles of a quadrant point is what the verification questions ask.
    Patch("vehicle", 3, False, Box(400, ROADS_ACROSS[0] - 50, 5600, ROADS_ACROSS[0] + 50)),
    Patch("vehicle", 2, True, Box(ROADS_DOWN[0] - 50, 400, ROADS_DOWN[0] + 50, 5600)),
    Patch("vehicle", 4, True, Box(ROADS_DOWN[1] - 50, 400, ROADS_DOWN[1] + 50, 5600)),
    Patch("vehicle", 4, False, Box(400, ROADS_ACROSS[1] - 50, 5600, ROADS_ACROSS[1] + 50)),
    Patch("vehicle", 3, False, Box(6400, ROADS_ACROSS[1] - 50, 11600, ROADS_ACROSS[1] + 50)),
    Patch("vehicle", 2, True, Box(ROADS_DOWN[1] - 50, 6400, ROADS_DOWN[1] + 50, 11600)),
)
_PARKING_DIRECTIONS: dict[Quadrant, tuple[bool, bool]] = {
    "upper-left": (False, True),
    "upper-right": (True, True),
    "lower-left": (False, False),
    "lower-right": (False, True),
}


class Thing(NamedTuple):
    """One object; `parked` when it stands by its quadrant's landmark."""

    kind: str
    box: Box
    quadrant: Quadrant
    vertical: bool
    color: Color
    parked: bool


class Land(NamedTuple):
    """All objects, the landmark of each quadrant and plain houses."""

    seed: int
    things: tuple[Thing, ...]
    landmarks: dict[Quadrant, Box]
    houses: tuple[Box, ...]

    def of(self, kind: str, quadrant: Quadrant) -> list[Thing]:
        """The objects of one kind in one quadrant."""
        return [thing for thing in self.things if thing.kind == kind and thing.quadrant == quadrant]


def plan_land(seed: int, attempt: int = 0) -> Land:
    """Draw the land of a seed: where the landmarks stand, and every object with its place and orientation."""
    rng = stream(seed, "rs", "land", str(attempt))
    landmarks = {quadrant: _landmark_place(quadrant, rng) for quadrant in QUADRANTS}
    things: list[Thing] = []
    for quadrant, count in zip(QUADRANTS, rng.permutation(_PARKED).tolist(), strict=True):
        for number in range(count):
            things.append(_parked(quadrant, number, landmarks[quadrant], things, rng))
    surroundings = [box.grown(FAR) for box in landmarks.values()]
    crossings = [Box(x, y, x, y).grown(220) for x in ROADS_DOWN for y in ROADS_ACROSS]
    for patch in (*_PATCHES, *_ROAD_VEHICLES):
        blocked = [*surroundings, *crossings] if patch.kind == "vehicle" else [*landmarks.values()]
        _fill(patch, blocked, things, rng)
    _sail(things, rng)
    return Land(seed, tuple(things), landmarks, _houses(things, rng))


def _landmark_place(quadrant: Quadrant, rng: np.random.Generator) -> Box:
    return find_place(*LANDMARKS[quadrant].size, _SITES[quadrant], [], rng)


def _thing(kind: str, box: Box, vertical: bool, rng: np.random.Generator, *, parked: bool = False) -> Thing:
    colors = KINDS[kind].colors
    return Thing(kind, box, box.quadrant(SIZE), vertical, colors[int(rng.integers(len(colors)))], parked)


def _extent(kind: str, *, vertical: bool) -> Size:
    width, height = KINDS[kind].size
    return Size(height, width) if vertical else Size(width, height)


def _parked(quadrant: Quadrant, number: int, landmark: Box, others: list[Thing], rng: np.random.Generator) -> Thing:
    """Park a small vehicle close to the landmark, alternating the directions of its quadrant."""
    vertical = _PARKING_DIRECTIONS[quadrant][number % 2]
    taken = [landmark.grown(40), *(other.box.grown(30) for other in others)]
    box = find_place(*_extent("vehicle", vertical=vertical), landmark.grown(NEAR - 20), taken, rng)
    return _thing("vehicle", box, vertical, rng, parked=True)


def _fill(patch: Patch, blocked: list[Box], things: list[Thing], rng: np.random.Generator) -> None:
    width, height = _extent(patch.kind, vertical=patch.vertical)
    for _ in range(patch.amount):
        taken = [*blocked, *(thing.box.grown(90) for thing in things)]
        things.append(_thing(patch.kind, find_place(width, height, patch.area, taken, rng), patch.vertical, rng))


def _sail(things: list[Thing], rng: np.random.Generator) -> None:
    """Set ships on the river, each on its own stretch; all point along it, from left to right."""
    for center in (900, 2300, 3900, 5200, 7000, 8700, 10600):
        x = center + float(rng.uniform(-220, 220))
        y = river_middle(x) + float(rng.uniform(-260, 260))
        width, height = KINDS["ship"].size
        left, top = round(x - width / 2), round(y - height / 2)
        things.append(_thing("ship", Box(left, top, left + width, top + height), False, rng))


def river_middle(x: float) -> float:
    """Height of the middle of the river at `x`, in pixels."""
    return float(np.interp(x, [point[0] for point in RIVER], [point[1] for point in RIVER]))


def _houses(things: list[Thing], rng: np.random.Generator) -> tuple[Box, ...]:
    """Set a plain house near every swimming pool, and some more around them."""
    houses: list[Box] = []
    for area in (patch.area for patch in _PATCHES if patch.kind == "pool"):
        for _ in range(7):
            taken = [*(thing.box.grown(60) for thing in things), *(house.grown(60) for house in houses)]
            houses.append(find_place(240, 170, area, taken, rng))
    return tuple(houses)
