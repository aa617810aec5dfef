"""Records of the land in the words of appendix F.2; boxes and counts are those that were drawn."""

from functools import partial
from typing import Any

from gigavqa.benchmarks.ultravr.wording import task_steps
from gigavqa.demo.records import Record
from gigavqa.demo.ultravr.records import quadrant_record
from gigavqa.demo.ultravr.rs.questions import (
    LandComparison,
    LandRelation,
    LandVerification,
    compared_slots,
    verified_slots,
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
    truths: dict[str, Any] = {"S9": case.difference}
    for first, region in zip((1, 5), case.regions, strict=True):
        boxes = _boxes([thing for thing in land.of("vehicle", region) if thing.parked])
        half = (land.landmarks[region].normalized(SIZE), bool(boxes), boxes, len(boxes))
        truths |= {f"S{first + offset}": truth for offset, truth in enumerate(half)}
    steps = task_steps("rs", "comparison", compared_slots(case.regions), truths)
    return _record("comparison", number, IMAGE, case.question, steps, case.regions)


def _verification(land: Land, number: int, case: LandVerification) -> Record:
    """Ask in which of two quadrants a kind of object lies with the given orientation."""
    a, b = (
        _boxes([thing for thing in land.of(case.kind, region) if thing.vertical == case.vertical])
        for region in case.regions
    )
    truths = {"S1": a, "S2": len(a), "S3": b, "S4": len(b), "S5": bool(a and b)}
    slots = verified_slots(case.kind, case.regions, vertical=case.vertical)
    steps = task_steps("rs", "logical_verification", slots, truths)
    return _record("logical_verification", number, IMAGE, case.question, steps, case.regions)


def _relation(land: Land, number: int, case: LandRelation) -> Record:
    """Ask how the extreme objects of two adjacent quadrants lie to each other, across the axis that parts them."""
    found = [select(land.of(case.kind, extreme.quadrant), extreme) for extreme in case.sides]
    a, b = (thing.box.normalized(SIZE) if thing else None for thing in found)
    truths = {"S1": a is not None, "S2": a, "S3": b is not None, "S4": b, "S5": holds(found[0], found[1], case.axis)}
    steps = task_steps("rs", "relational_inference", case.slots, truths)
    return _record("relational_inference", number, IMAGE, case.question, steps, {side.quadrant for side in case.sides})
