"""Questions about the land, worded and checked as appendix F.2 says; boxes and counts are those that were drawn."""

from typing import NamedTuple

import numpy as np

from demo.draws import stream
from demo.errors import LayoutError
from demo.records import Record, letter_of, lettered, shuffled, step, supervision
from demo.rs.objects import KINDS, LANDMARKS
from demo.rs.scene import SIZE, Land, Thing, plan_land
from evaluation.ultravr.taxonomy import QUADRANTS, SUBCATEGORIES, Category, Quadrant

IMAGE = "images/land.png"

_PAIRS: tuple[tuple[Quadrant, Quadrant], ...] = (
    ("upper-left", "upper-right"),
    ("lower-left", "lower-right"),
    ("upper-left", "lower-left"),
)
_ORIENTATIONS: tuple[tuple[str, str, Quadrant, Quadrant], ...] = (
    ("horizontal", "vehicle", "upper-left", "lower-left"),
    ("vertical", "court", "lower-left", "upper-right"),
    ("horizontal", "ship", "lower-right", "upper-right"),
    ("vertical", "pool", "upper-left", "lower-left"),
)


class _Extreme(NamedTuple):
    """Which object of a quadrant a relational question selects."""

    selector: str
    quadrant: Quadrant


_RELATIONS = (
    ("ship", _Extreme("leftmost", "upper-left"), _Extreme("rightmost", "upper-right")),
    ("court", _Extreme("topmost", "upper-right"), _Extreme("bottommost", "lower-right")),
    ("plane", _Extreme("topmost", "lower-left"), _Extreme("topmost", "lower-right")),
    ("tank", _Extreme("leftmost", "upper-left"), _Extreme("leftmost", "upper-right")),
)
_ATTEMPTS = 100
_MIN_LEAD = 60
"""Pixels by which an extreme object leads the next one, and by which a relation must hold."""


def land_and_records(seed: int) -> tuple[Land, list[Record]]:
    """Draw lands of a seed until one gives every question one clear answer; raises LayoutError when none does."""
    for attempt in range(_ATTEMPTS - 1):
        land = plan_land(seed, attempt)
        try:
            return land, land_records(land)
        except LayoutError:
            continue
    land = plan_land(seed, _ATTEMPTS - 1)
    return land, land_records(land)


def land_records(land: Land) -> list[Record]:
    """Return every record about the land: comparison, logical verification and relational inference.

    Raises LayoutError where the land does not give a question one clear answer.
    """
    rng = stream(land.seed, "rs", "samples")
    return [
        *(_comparison(land, number, *pair, rng) for number, pair in enumerate(_PAIRS, start=1)),
        *(_verification(land, number, *case) for number, case in enumerate(_ORIENTATIONS, start=1)),
        *(_relation(land, number, *case) for number, case in enumerate(_RELATIONS, start=1)),
    ]


def _record(category: Category, number: int, fields: Record, steps: list[Record], regions: set[str]) -> Record:
    return {
        "id": f"rs-{category.replace('_', '-')}-{number}",
        "domain": "rs",
        "category": category,
        "subcategory": SUBCATEGORIES["rs", category],
        "image": IMAGE,
        **fields,
        "reasoning_supervision": supervision(steps),
        "evidence": {"quadrants": [quadrant for quadrant in QUADRANTS if quadrant in regions]},
    }


def _boxes(things: list[Thing]) -> list[list[float]]:
    return [thing.box.normalized(SIZE) for thing in things]


def _the(quadrant: str) -> str:
    return f"the {quadrant} quadrant"


def _comparison(land: Land, number: int, region_a: Quadrant, region_b: Quadrant, rng: np.random.Generator) -> Record:
    """Compare the small vehicles that stand by the landmarks of two quadrants."""
    label = KINDS["vehicle"].label
    halves: list[Record] = []
    counts: list[int] = []
    for first, region in ((1, region_a), (5, region_b)):
        boxes = _boxes([thing for thing in land.of("vehicle", region) if thing.parked])
        halves.extend(_half(first, region, land.landmarks[region].normalized(SIZE), boxes))
        counts.append(len(boxes))
    difference = abs(counts[0] - counts[1])
    options, answer = shuffled(_nearby(difference, rng), str(difference), rng)
    fields = {
        "question": (
            f"What is the absolute difference between the counts of {label} in {_the(region_a)} "
            f"satisfying {_condition(region_a)} and {label} in {_the(region_b)} satisfying {_condition(region_b)}?"
        ),
        "options": options,
        "answer": answer,
    }
    last = step("S9", "Compute the absolute difference |Step 4 count - Step 8 count|.", difference, "integer")
    return _record("comparison", number, fields, [*halves, last], {region_a, region_b})


def _condition(region: Quadrant) -> str:
    return f'"{LANDMARKS[region].condition}"'


def _nearby(value: int, rng: np.random.Generator) -> list[str]:
    """Four consecutive non-negative integers with `value` among them."""
    lowest = max(0, value - int(rng.integers(0, 4)))
    return [str(number) for number in range(lowest, lowest + 4)]


def _half(first: int, region: Quadrant, landmark: list[float], boxes: list[list[float]]) -> list[Record]:
    """The four steps that ground a landmark and count the small vehicles by it."""
    label, where = KINDS["vehicle"].label, _the(region)
    condition = _condition(region)
    ids = [f"S{first + offset}" for offset in range(4)]
    landmark_question = f"Locate the landmark that defines {condition} in {where}. Report its bbox coordinates."
    locate = f"Locate every {label} in {where} that satisfy {condition}. Report bbox coordinates."
    return [
        step(ids[0], landmark_question, landmark, "bbox_coordinates"),
        step(ids[1], f"Does {where} contain any {label} satisfying {condition}?", bool(boxes), "boolean"),
        step(ids[2], locate, boxes, "bbox_coordinates_list"),
        step(ids[3], f"How many such {label} are in {where} that satisfy {condition}?", len(boxes), "integer"),
    ]


def _verification(
    land: Land, number: int, orientation: str, kind: str, region_a: Quadrant, region_b: Quadrant
) -> Record:
    """Ask in which of two quadrants a kind of object lies with the given orientation."""
    label = f"{orientation} {KINDS[kind].label}"
    found = [
        [thing for thing in land.of(kind, region) if thing.vertical == (orientation == "vertical")]
        for region in (region_a, region_b)
    ]
    a, b = _the(region_a), _the(region_b)
    presence = {
        (True, True): f"{label} are present in both {a} and {b}",
        (True, False): f"{label} are present in {a} but not in {b}",
        (False, True): f"{label} are present in {b} but not in {a}",
        (False, False): f"{label} are absent from both {a} and {b}",
    }
    options = lettered(list(presence.values()))
    fields = {
        "question": f"Which statement correctly describes the presence of {label} in {a} and {b}?",
        "options": options,
        "answer": letter_of(options, presence[bool(found[0]), bool(found[1])]),
    }
    steps = _verification_steps(label, (a, b), found)
    return _record("logical_verification", number, fields, steps, {region_a, region_b})


def _verification_steps(label: str, regions: tuple[str, str], found: list[list[Thing]]) -> list[Record]:
    steps: list[Record] = []
    for first, region, things in zip((1, 3), regions, found, strict=True):
        locate = f"Locate every {label}(s) in {region}. Report bbox coordinates."
        steps.append(step(f"S{first}", locate, _boxes(things), "bbox_coordinates_list"))
        steps.append(step(f"S{first + 1}", f"How many {label} are in {region}?", len(things), "integer"))
    both = (
        f"Based on the counts from Step 2 and Step 4, do both {regions[0]} and {regions[1]} "
        f"contain at least one {label}?"
    )
    return [*steps, step("S5", both, all(found), "boolean")]


def _relation(land: Land, number: int, kind: str, a: _Extreme, b: _Extreme) -> Record:
    """Ask how the extreme objects of two adjacent quadrants lie to each other, across the axis that parts them."""
    singular, plural = KINDS[kind].singular, KINDS[kind].label
    side_by_side = a.quadrant.split("-")[0] == b.quadrant.split("-")[0]
    first, opposite = ("north of", "south of") if side_by_side else ("west of", "east of")
    object_a, object_b = (_select(land.of(kind, extreme.quadrant), extreme) for extreme in (a, b))
    holds = _holds(object_a, object_b, axis=1 if side_by_side else 0)
    name_a, name_b = (f"{extreme.selector} {singular} in {_the(extreme.quadrant)}" for extreme in (a, b))
    options = lettered(
        [
            f"The {name_a} is {first} the {name_b}",
            f"The {name_a} is {opposite} the {name_b}",
            f"The {a.quadrant} quadrant does not contain any {plural}",
            f"The {b.quadrant} quadrant does not contain any {plural}",
        ]
    )
    answer = "C" if object_a is None else "D" if object_b is None else "A" if holds else "B"
    question = f"What is the positional relationship between the {name_a} and the {name_b}?"
    fields = {"question": question, "options": options, "answer": answer}
    steps = _relation_steps(plural, ((a, object_a, name_a), (b, object_b, name_b)), first, holds)
    return _record("relational_inference", number, fields, steps, {a.quadrant, b.quadrant})


def _select(things: list[Thing], extreme: _Extreme) -> Thing | None:
    """The extreme object, which must lead the next one clearly; None where there is no object."""
    axis = 0 if extreme.selector in {"leftmost", "rightmost"} else 1
    sign = 1 if extreme.selector in {"leftmost", "topmost"} else -1
    ordered = sorted(things, key=lambda thing: sign * thing.box.center[axis])
    if len(ordered) > 1:
        _require_lead(ordered[0].box.center[axis], ordered[1].box.center[axis], f"{extreme.selector} {things[0].kind}")
    return ordered[0] if ordered else None


def _holds(a: Thing | None, b: Thing | None, axis: int) -> bool | None:
    """Whether A comes first along the axis (north, or west); None where one of them does not exist."""
    if a is None or b is None:
        return None
    position_a, position_b = a.box.center[axis], b.box.center[axis]
    _require_lead(position_a, position_b, f"relation of two {a.kind}s")
    return position_a < position_b


def _require_lead(first: float, second: float, what: str) -> None:
    if abs(first - second) < _MIN_LEAD:
        raise LayoutError(f"the {what} is not clear: {abs(first - second):.0f} pixels of {_MIN_LEAD}")


def _relation_steps(
    plural: str, sides: tuple[tuple[_Extreme, Thing | None, str], ...], relation: str, holds: bool | None
) -> list[Record]:
    steps: list[Record] = []
    for first, (extreme, thing, name) in zip((1, 3), sides, strict=True):
        box = thing.box.normalized(SIZE) if thing else None
        exists = f"Does {_the(extreme.quadrant)} contain any {plural}?"
        steps.append(step(f"S{first}", exists, thing is not None, "boolean"))
        steps.append(step(f"S{first + 1}", f"Locate the {name}. Report bbox coordinates.", box, "bbox_coordinates"))
    compare = (
        "Comparing the center coordinates of the bounding box from Step 2 and the bounding box from Step 4, "
        f"is the object from Step 2 {relation} the object from Step 4?"
    )
    return [*steps, step("S5", compare, holds, "boolean")]
