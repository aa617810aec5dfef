"""The land seen from the air: what lies where, such that the questions' answers hold. In full-size pixels."""

from functools import partial
from typing import NamedTuple

import numpy as np

from gigavqa.benchmarks.ultravr.taxonomy import QUADRANTS, Quadrant
from gigavqa.demo.draws import stream
from gigavqa.demo.errors import LayoutError
from gigavqa.demo.sprites import Color
from gigavqa.demo.ultravr.placing import PixelBox, find_place, first_layout
from gigavqa.demo.ultravr.rs.objects import KINDS, LANDMARKS
from gigavqa.demo.ultravr.rs.questions import Extreme, LandQuestions, LandRelation, draw_questions
from gigavqa.tiling.geometry import Size

SIZE = Size(12000, 12000)
RIVER = ((-200, 3300), (2500, 3900), (5000, 3350), (8000, 3950), (12200, 3300))
RIVER_WIDTH = 1100
LAKE = PixelBox(9450, 6500, 11650, 8850)
APRONS = (PixelBox(420, 9680, 5560, 10800), PixelBox(6250, 9500, 8950, 10850))
RUNWAY = PixelBox(300, 11050, 5700, 11400)
ROADS_ACROSS, ROADS_DOWN = (2500, 9200), (3450, 9150)
ROAD_ENDS = (ROADS_ACROSS[1], SIZE.height)
"""Where each road from the top ends; the first stops short of the airfield."""
ROAD_WIDTH = 130
NEAR, FAR = 260, 900
"""A small vehicle either touches the landmark's box grown by NEAR pixels, or stays out of the box grown by FAR."""

_SITES: dict[Quadrant, PixelBox] = {
    "upper-left": PixelBox(1300, 650, 2700, 1650),
    "upper-right": PixelBox(6900, 700, 8350, 1800),
    "lower-left": PixelBox(1200, 6900, 2500, 8200),
    "lower-right": PixelBox(7000, 6950, 8300, 8250),
}
_AREAS: dict[tuple[str, Quadrant], PixelBox] = {
    ("pool", "upper-left"): PixelBox(450, 4700, 3000, 5600),
    ("pool", "lower-left"): PixelBox(3800, 6300, 5600, 7400),
    ("pool", "upper-right"): PixelBox(6400, 4700, 8700, 5600),
    ("pool", "lower-right"): PixelBox(6300, 10950, 8900, 11750),
    ("court", "upper-left"): PixelBox(3700, 4650, 5700, 5700),
    ("court", "lower-left"): PixelBox(3700, 7500, 5700, 8950),
    ("court", "upper-right"): PixelBox(9400, 4650, 11700, 5700),
    ("court", "lower-right"): PixelBox(9450, 10650, 11750, 11800),
    ("tank", "upper-left"): PixelBox(3800, 500, 5600, 2100),
    ("tank", "upper-right"): PixelBox(9700, 500, 11600, 2000),
    ("plane", "lower-left"): APRONS[0].grown(-40),
    ("plane", "lower-right"): APRONS[1].grown(-40),
    ("ship", "lower-right"): LAKE.grown(-480),
}
"""Where objects of a kind lie in a quadrant, but for vehicles, and ships on the river."""
_ROADSIDES: dict[tuple[Quadrant, bool], PixelBox] = {
    ("upper-left", False): PixelBox(400, ROADS_ACROSS[0] - 50, 5600, ROADS_ACROSS[0] + 50),
    ("upper-left", True): PixelBox(ROADS_DOWN[0] - 50, 400, ROADS_DOWN[0] + 50, 5600),
    ("upper-right", True): PixelBox(ROADS_DOWN[1] - 50, 400, ROADS_DOWN[1] + 50, 5600),
    ("lower-left", False): PixelBox(400, ROADS_ACROSS[1] - 50, 5600, ROADS_ACROSS[1] + 50),
    ("lower-left", True): PixelBox(ROADS_DOWN[0] - 50, 6400, ROADS_DOWN[0] + 50, 8900),
    ("lower-right", False): PixelBox(6400, ROADS_ACROSS[1] - 50, 11600, ROADS_ACROSS[1] + 50),
    ("lower-right", True): PixelBox(ROADS_DOWN[1] - 50, 6400, ROADS_DOWN[1] + 50, 11600),
}
"""Where vehicles drive in a quadrant, by whether they point up and down."""
_STRETCHES = (900, 2300, 3900, 5200, 7000, 8700, 10600)
"""Middles of the stretches of the river that hold one ship each."""
_ATTEMPTS = 100
_LEAD = 60
"""Pixels by which an extreme object leads the next one, and by which a relation must hold."""


class Thing(NamedTuple):
    """One object; `parked` when it stands by its quadrant's landmark."""

    kind: str
    box: PixelBox
    quadrant: Quadrant
    vertical: bool
    color: Color
    parked: bool


class Land(NamedTuple):
    """All objects, what is asked about them, the landmark of each quadrant and plain houses."""

    seed: int
    asked: LandQuestions
    things: tuple[Thing, ...]
    landmarks: dict[Quadrant, PixelBox]
    houses: tuple[PixelBox, ...]

    def of(self, kind: str, quadrant: Quadrant) -> list[Thing]:
        """Return the objects of one kind in one quadrant."""
        return [thing for thing in self.things if thing.kind == kind and thing.quadrant == quadrant]


def plan_land(seed: int) -> Land:
    """Draw the land of a seed: landmarks and objects, as many and as oriented as the questions need.

    Raises LayoutError when no attempt finds a place for everything.
    """
    asked = draw_questions(seed)
    return first_layout(partial(_plan, seed, asked))


def _plan(seed: int, asked: LandQuestions, attempt: int) -> Land:
    rng = stream(seed, "rs", "land", str(attempt))
    landmarks = {quadrant: _landmark_place(quadrant, rng) for quadrant in QUADRANTS}
    things: list[Thing] = []
    for quadrant, count in asked.parked.items():
        directions = _orientations(asked, "vehicle", quadrant)
        for number in range(count):
            things.append(_parked(directions[number % len(directions)], landmarks[quadrant], things, rng))
    for verification in asked.verifications:
        if verification.kind in {"court", "pool"}:
            for quadrant in verification.regions:
                _scatter(verification.kind, quadrant, _orientations(asked, verification.kind, quadrant), things, rng)
    for relation in asked.relations:
        things.extend(_related(relation, things, rng))
    _drive(asked, landmarks, things, rng)
    _scatter("ship", "lower-right", _orientations(asked, "ship", "lower-right"), things, rng)
    _sail(asked, things, rng)
    return Land(seed, asked, tuple(things), landmarks, _houses(things, rng))


def _orientations(asked: LandQuestions, kind: str, quadrant: Quadrant) -> tuple[bool, ...]:
    """Return whether objects are vertical: both occur, but for an orientation that a question shall find absent."""
    for case in asked.verifications:
        if case.kind == kind and quadrant in case.regions and not case.present[case.regions.index(quadrant)]:
            return (not case.vertical,)
    return (False, True)


def _landmark_place(quadrant: Quadrant, rng: np.random.Generator) -> PixelBox:
    return find_place(*LANDMARKS[quadrant].size, _SITES[quadrant], [], rng)


def _thing(kind: str, box: PixelBox, vertical: bool, rng: np.random.Generator, *, parked: bool = False) -> Thing:
    colors = KINDS[kind].colors
    return Thing(kind, box, box.quadrant(SIZE), vertical, colors[int(rng.integers(len(colors)))], parked)


def _extent(kind: str, *, vertical: bool) -> Size:
    width, height = KINDS[kind].size
    return Size(height, width) if vertical else Size(width, height)


def _parked(vertical: bool, landmark: PixelBox, others: list[Thing], rng: np.random.Generator) -> Thing:
    """Park a small vehicle close to the landmark."""
    taken = [landmark.grown(40), *(other.box.grown(30) for other in others)]
    box = find_place(*_extent("vehicle", vertical=vertical), landmark.grown(NEAR - 20), taken, rng)
    return _thing("vehicle", box, vertical, rng, parked=True)


def _scatter(
    kind: str, quadrant: Quadrant, directions: tuple[bool, ...], things: list[Thing], rng: np.random.Generator
) -> None:
    """Set one or two objects of each direction into the kind's area of the quadrant."""
    for vertical in directions:
        for _ in range(int(rng.integers(1, 3))):
            things.append(_placed(kind, vertical, _AREAS[kind, quadrant], things, rng))


def _placed(
    kind: str,
    vertical: bool,
    area: PixelBox,
    things: list[Thing],
    rng: np.random.Generator,
    blocked: tuple[PixelBox, ...] = (),
) -> Thing:
    taken = [*blocked, *(thing.box.grown(90) for thing in things)]
    return _thing(kind, find_place(*_extent(kind, vertical=vertical), area, taken, rng), vertical, rng)


def _related(relation: LandRelation, things: list[Thing], rng: np.random.Generator) -> list[Thing]:
    """Set a kind's objects into the two quadrants until their extremes lie as the answer says."""
    for _ in range(_ATTEMPTS):
        sides: list[list[Thing]] = []
        for lacking, extreme in zip("CD", relation.sides, strict=True):
            side: list[Thing] = []
            for _ in range(0 if relation.question.answer == lacking else int(rng.integers(2, 5))):
                vertical = bool(rng.integers(2)) and relation.kind in {"pool", "court"}
                area = _AREAS[relation.kind, extreme.quadrant]
                side.append(_placed(relation.kind, vertical, area, [*things, *side], rng))
            sides.append(side)
        if _answers(relation, sides):
            return [*sides[0], *sides[1]]
    raise LayoutError(f"no {relation.kind}s lie as the answer {relation.question.answer} says")


def _answers(relation: LandRelation, sides: list[list[Thing]]) -> bool:
    """Return whether the extremes are clear and lie as the answer says."""
    a, b = (select(things, extreme) for things, extreme in zip(sides, relation.sides, strict=True))
    for things, extreme, found in zip(sides, relation.sides, (a, b), strict=True):
        axis = _axis(extreme)
        if any(abs(t.box.center[axis] - found.box.center[axis]) < _LEAD for t in things if found and t is not found):
            return False
    if a is None or b is None:
        return True
    clear = abs(a.box.center[relation.axis] - b.box.center[relation.axis]) >= _LEAD
    return clear and holds(a, b, relation.axis) == (relation.question.answer == "A")


def select(things: list[Thing], extreme: Extreme) -> Thing | None:
    """Return the extreme object; None where there is no object."""
    sign = 1 if extreme.selector in {"leftmost", "topmost"} else -1
    return min(things, key=lambda thing: sign * thing.box.center[_axis(extreme)], default=None)


def _axis(extreme: Extreme) -> int:
    return 0 if extreme.selector in {"leftmost", "rightmost"} else 1


def holds(a: Thing | None, b: Thing | None, axis: int) -> bool | None:
    """Return whether A comes first along the axis (north, or west); None where one of them does not exist."""
    return None if a is None or b is None else a.box.center[axis] < b.box.center[axis]


def _drive(
    asked: LandQuestions, landmarks: dict[Quadrant, PixelBox], things: list[Thing], rng: np.random.Generator
) -> None:
    """Set vehicles on the roads, away from landmarks and crossings, where their direction is wanted."""
    surroundings = [box.grown(FAR) for box in landmarks.values()]
    crossings = [PixelBox(x, y, x, y).grown(220) for x in ROADS_DOWN for y in ROADS_ACROSS]
    blocked = (*surroundings, *crossings)
    for (quadrant, vertical), roadside in _ROADSIDES.items():
        if vertical in _orientations(asked, "vehicle", quadrant):
            for _ in range(int(rng.integers(2, 5))):
                things.append(_placed("vehicle", vertical, roadside, things, rng, blocked))


def _sail(asked: LandQuestions, things: list[Thing], rng: np.random.Generator) -> None:
    """Set ships on the river, each on its own stretch, in the directions that are wanted of its quadrant in turn."""
    for number, center in enumerate(_STRETCHES):
        directions = _orientations(asked, "ship", "upper-left" if center < SIZE.width / 2 else "upper-right")
        vertical = directions[number % len(directions)]
        x = center + float(rng.uniform(-220, 220))
        y = river_middle(x) + float(rng.uniform(-260, 260))
        width, height = _extent("ship", vertical=vertical)
        left, top = round(x - width / 2), round(y - height / 2)
        things.append(_thing("ship", PixelBox(left, top, left + width, top + height), vertical, rng))


def river_middle(x: float) -> float:
    """Height of the middle of the river at `x`, in pixels."""
    return float(np.interp(x, [point[0] for point in RIVER], [point[1] for point in RIVER]))


def _houses(things: list[Thing], rng: np.random.Generator) -> tuple[PixelBox, ...]:
    """Set plain houses where swimming pools may lie, whether or not there are any."""
    houses: list[PixelBox] = []
    for area in (area for (kind, _), area in _AREAS.items() if kind == "pool"):
        for _ in range(7):
            taken = [*(thing.box.grown(60) for thing in things), *(house.grown(60) for house in houses)]
            houses.append(find_place(240, 170, area, taken, rng))
    return tuple(houses)
