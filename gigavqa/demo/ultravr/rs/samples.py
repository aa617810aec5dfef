"""Questions about the land, worded and checked as appendix F.2 says; boxes and counts are those that were drawn."""

from functools import partial

from gigavqa.benchmarks.ultravr.taxonomy import Quadrant
from gigavqa.demo.records import Record
from gigavqa.demo.ultravr.records import quadrant_record, step
from gigavqa.demo.ultravr.rs.objects import KINDS
from gigavqa.demo.ultravr.rs.questions import (
    LandComparison,
    LandRelation,
    LandVerification,
    condition,
    name_of,
    oriented,
    the,
)
from gigavqa.demo.ultravr.rs.scene import SIZE, Land, Thing, holds, select

IMAGE = "images/land.png"


def land_records(land: Land) -> list[Record]:
    """Return every record about the land: comparison, logical verification and relational inference."""
    asked = land.asked
    return [
        *(_comparison(land, number, case) for number, case in enumerate(asked.comparisons, start=1)),
        *(_verification(land, number, case) for number, case in enumerate(asked.verifications, start=1)),
        *(_relation(land, number, case) for number, case in enumerate(asked.relations, start=1)),
    ]


_record = partial(quadrant_record, "rs")


def _boxes(things: list[Thing]) -> list[list[float]]:
    return [thing.box.normalized(SIZE) for thing in things]


def _comparison(land: Land, number: int, case: LandComparison) -> Record:
    """Compare the small vehicles that stand by the landmarks of two quadrants."""
    halves: list[Record] = []
    for first, region in zip((1, 5), case.regions, strict=True):
        boxes = _boxes([thing for thing in land.of("vehicle", region) if thing.parked])
        halves.extend(_half(first, region, land.landmarks[region].normalized(SIZE), boxes))
    last = step("S9", "Compute the absolute difference |Step 4 count - Step 8 count|.", case.difference, "integer")
    return _record("comparison", number, IMAGE, case.question, [*halves, last], case.regions)


def _half(first: int, region: Quadrant, landmark: list[float], boxes: list[list[float]]) -> list[Record]:
    """Return the four steps that ground a landmark and count the small vehicles by it."""
    label, where = KINDS["vehicle"].label, the(region)
    by_it = condition(region)
    ids = [f"S{first + offset}" for offset in range(4)]
    landmark_question = f"Locate the landmark that defines {by_it} in {where}. Report its bbox coordinates."
    locate = f"Locate every {label} in {where} that satisfy {by_it}. Report bbox coordinates."
    return [
        step(ids[0], landmark_question, landmark, "bbox_coordinates"),
        step(ids[1], f"Does {where} contain any {label} satisfying {by_it}?", bool(boxes), "boolean"),
        step(ids[2], locate, boxes, "bbox_coordinates_list"),
        step(ids[3], f"How many such {label} are in {where} that satisfy {by_it}?", len(boxes), "integer"),
    ]


def _verification(land: Land, number: int, case: LandVerification) -> Record:
    """Ask in which of two quadrants a kind of object lies with the given orientation."""
    found = [
        [thing for thing in land.of(case.kind, region) if thing.vertical == case.vertical] for region in case.regions
    ]
    a, b = (the(region) for region in case.regions)
    steps = _verification_steps(oriented(case.kind, vertical=case.vertical), (a, b), found)
    return _record("logical_verification", number, IMAGE, case.question, steps, case.regions)


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


def _relation(land: Land, number: int, case: LandRelation) -> Record:
    """Ask how the extreme objects of two adjacent quadrants lie to each other, across the axis that parts them."""
    a, b = (select(land.of(case.kind, extreme.quadrant), extreme) for extreme in case.sides)
    steps: list[Record] = []
    for first, extreme, thing in zip((1, 3), case.sides, (a, b), strict=True):
        box = thing.box.normalized(SIZE) if thing else None
        exists = f"Does {the(extreme.quadrant)} contain any {KINDS[case.kind].label}?"
        locate = f"Locate the {name_of(case.kind, extreme)}. Report bbox coordinates."
        steps.append(step(f"S{first}", exists, thing is not None, "boolean"))
        steps.append(step(f"S{first + 1}", locate, box, "bbox_coordinates"))
    compare = (
        "Comparing the center coordinates of the bounding box from Step 2 and the bounding box from Step 4, "
        f"is the object from Step 2 {case.first} the object from Step 4?"
    )
    steps.append(step("S5", compare, holds(a, b, case.axis), "boolean"))
    return _record("relational_inference", number, IMAGE, case.question, steps, {side.quadrant for side in case.sides})
