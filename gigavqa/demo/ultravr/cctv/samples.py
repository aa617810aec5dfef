"""Records of the plaza in the words of appendix F.1; boxes and counts are those that were drawn."""

from functools import partial
from typing import Any

from gigavqa.benchmarks.ultravr.taxonomy import QUADRANTS
from gigavqa.benchmarks.ultravr.vocabulary import CLAIM_PATTERNS, FRONT_BACK, LEFT_RIGHT, ORDERINGS
from gigavqa.benchmarks.ultravr.wording import task_steps
from gigavqa.demo.records import Record
from gigavqa.demo.ultravr.cctv.figures import KINDS
from gigavqa.demo.ultravr.cctv.questions import PlazaComparison, PlazaRelation, PlazaVerification, reduced
from gigavqa.demo.ultravr.cctv.scene import SIZE, Plaza, PlazaFigure, position
from gigavqa.demo.ultravr.records import quadrant_record

IMAGE = "images/plaza.jpg"


def plaza_records(plaza: Plaza) -> list[Record]:
    """Return every record about the plaza: comparison, logical verification and relational inference."""
    asked = plaza.asked
    return [
        *(_comparison(plaza, number, case) for number, case in enumerate(asked.comparisons, start=1)),
        *(_verification(plaza, number, case) for number, case in enumerate(asked.verifications, start=1)),
        *(_relation(plaza, number, case) for number, case in enumerate(asked.relations, start=1)),
    ]


_record = partial(quadrant_record, "cctv")


def _boxes(figures: list[PlazaFigure]) -> list[list[float]]:
    return [figure.box.normalized(SIZE) for figure in figures]


def _comparison(plaza: Plaza, number: int, case: PlazaComparison) -> Record:
    groups = [plaza.of(kind) for kind in case.kinds]
    boxes_a, boxes_b = map(_boxes, groups)
    a, b = len(boxes_a), len(boxes_b)
    truths: dict[str, Any] = {"S1": bool(a), "S2": boxes_a, "S3": a, "S4": bool(b), "S5": boxes_b, "S6": b}
    truths |= {"S7": a + b, "S8": abs(a - b), "S9": reduced(a, b)}
    truths |= {"S10": ORDERINGS[0 if a > b else 1 if a < b else 2], "S11": case.supported}
    slots = {name: KINDS[kind].label for name, kind in zip("ab", case.kinds, strict=True)}
    steps = task_steps("cctv", "comparison", slots, truths)
    return _record(
        "comparison", number, IMAGE, case.question, steps, {one.quadrant for group in groups for one in group}
    )


def _verification(plaza: Plaza, number: int, case: PlazaVerification) -> Record:
    boxes = {quadrant: _boxes(plaza.of(case.kind, quadrant)) for quadrant in QUADRANTS}
    truths: dict[str, Any] = {}
    for index, quadrant in enumerate(QUADRANTS):
        truths |= {f"S{2 * index + 1}": boxes[quadrant], f"S{2 * index + 2}": len(boxes[quadrant])}
    extreme = (max if case.extremum == "most" else min)(QUADRANTS, key=lambda quadrant: len(boxes[quadrant]))
    total = sum(map(len, boxes.values()))
    truths |= {"S9": total, "S10": extreme, "S11": total == case.claimed, "S12": extreme == case.region}
    truths["S13"] = CLAIM_PATTERNS[case.true][0]
    steps = task_steps("cctv", "logical_verification", case.slots, truths)
    return _record("logical_verification", number, IMAGE, case.question, steps, QUADRANTS)


def _relation(plaza: Plaza, number: int, case: PlazaRelation) -> Record:
    a, b = (next(f for f in plaza.figures if f.clothing == clothing) for clothing in case.clothing)
    stands = position(a.box, b.box) or ""
    truths = {
        "S1": a.box.normalized(SIZE),
        "S2": b.box.normalized(SIZE),
        "S3": a.facing,
        "S4": b.facing,
        "S5": list(FRONT_BACK)[0 if stands.startswith("front") else 1],
        "S6": list(LEFT_RIGHT)[0 if stands.endswith("left") else 1],
        "S7": stands,
    }
    steps = task_steps("cctv", "relational_inference", {}, truths)
    return _record("relational_inference", number, IMAGE, case.question, steps, {a.quadrant, b.quadrant})
