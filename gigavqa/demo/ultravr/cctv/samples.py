"""Questions about the plaza, worded and checked as appendix F.1 says; boxes and counts are those that were drawn."""

from functools import partial

from gigavqa.benchmarks.ultravr.taxonomy import QUADRANTS
from gigavqa.benchmarks.ultravr.vocabulary import (
    CLAIM_FAMILIES,
    CLAIM_PATTERNS,
    DIRECTIONS,
    FRONT_BACK,
    LEFT_RIGHT,
    ORDERINGS,
    RELATIONS,
)
from gigavqa.demo.records import Record
from gigavqa.demo.ultravr.cctv.figures import KINDS
from gigavqa.demo.ultravr.cctv.questions import PlazaComparison, PlazaRelation, PlazaVerification, reduced
from gigavqa.demo.ultravr.cctv.scene import SIZE, Plaza, PlazaFigure, position
from gigavqa.demo.ultravr.records import quadrant_record, step

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
    group_a, group_b = (plaza.of(kind) for kind in case.kinds)
    a, b = (KINDS[kind].label for kind in case.kinds)
    steps = _comparison_steps(a, b, _boxes(group_a), _boxes(group_b), case.supported)
    return _record("comparison", number, IMAGE, case.question, steps, {figure.quadrant for figure in group_a + group_b})


def _comparison_steps(
    a: str, b: str, boxes_a: list[list[float]], boxes_b: list[list[float]], supported: str
) -> list[Record]:
    num_a, num_b = len(boxes_a), len(boxes_b)
    ordering = ORDERINGS[0] if num_a > num_b else ORDERINGS[1] if num_a < num_b else ORDERINGS[2]
    ratio = f"What is the reduced ratio of the count of {a} to the count of {b}?"
    family = "Which claim family is supported by the results from Steps 7 to 10?"
    return [
        step("S1", f"Are there any {a} in the image?", bool(boxes_a), "boolean"),
        step("S2", f"What are the coordinates of the {a}?", boxes_a, "bbox_coordinates_list"),
        step("S3", f"How many {a} are there?", num_a, "integer"),
        step("S4", f"Are there any {b} in the image?", bool(boxes_b), "boolean"),
        step("S5", f"What are the coordinates of the {b}?", boxes_b, "bbox_coordinates_list"),
        step("S6", f"How many {b} are there?", num_b, "integer"),
        step("S7", "What is the total count of the two groups together?", num_a + num_b, "integer"),
        step(
            "S8", "What is the absolute difference between the counts of the two groups?", abs(num_a - num_b), "integer"
        ),
        step("S9", ratio, reduced(num_a, num_b), "multiple_choice"),
        step(
            "S10", "Which ordering relation holds between the two group counts?", ordering, "multiple_choice", ORDERINGS
        ),
        step("S11", family, supported, "multiple_choice", CLAIM_FAMILIES),
    ]


def _verification(plaza: Plaza, number: int, case: PlazaVerification) -> Record:
    label, extremum, region = KINDS[case.kind].label, case.extremum, case.region
    counts = {quadrant: len(plaza.of(case.kind, quadrant)) for quadrant in QUADRANTS}
    extreme = (max if extremum == "most" else min)(QUADRANTS, key=lambda quadrant: counts[quadrant])
    total = f"What is the total number of {label} in the whole image?"
    which = f"Which region has the {extremum} {label}, or is there a tie?"
    equal = f"Does the total number from Step 9 equal {case.claimed}?"
    match = f"Does the result from Step 10 match the statement that the {region} region has the {extremum} {label}?"
    patterns = [name for name, _ in CLAIM_PATTERNS.values()]
    pattern = CLAIM_PATTERNS[case.true][0]
    steps = [
        *_region_steps(plaza, case.kind, label),
        step("S9", total, sum(counts.values()), "integer"),
        step("S10", which, extreme, "multiple_choice", [*QUADRANTS, "tie"]),
        step("S11", equal, sum(counts.values()) == case.claimed, "boolean"),
        step("S12", match, extreme == region, "boolean"),
        step("S13", "Which evidence pattern is supported by the image?", pattern, "multiple_choice", patterns),
    ]
    return _record("logical_verification", number, IMAGE, case.question, steps, QUADRANTS)


def _region_steps(plaza: Plaza, kind: str, label: str) -> list[Record]:
    steps: list[Record] = []
    for index, quadrant in enumerate(QUADRANTS):
        boxes = _boxes(plaza.of(kind, quadrant))
        where = f"What are the coordinates of the {label} in the {quadrant} region?"
        how_many = f"How many {label} are there in the {quadrant} region?"
        steps.append(step(f"S{2 * index + 1}", where, boxes, "bbox_coordinates_list"))
        steps.append(step(f"S{2 * index + 2}", how_many, len(boxes), "integer"))
    return steps


def _relation(plaza: Plaza, number: int, case: PlazaRelation) -> Record:
    a, b = (next(f for f in plaza.figures if f.clothing == clothing) for clothing in case.clothing)
    steps = _relation_steps(a, b, position(a.box, b.box) or "")
    return _record("relational_inference", number, IMAGE, case.question, steps, {a.quadrant, b.quadrant})


def _relation_steps(person_a: PlazaFigure, person_b: PlazaFigure, stands: str) -> list[Record]:
    depth, side = list(FRONT_BACK), list(LEFT_RIGHT)
    combined = (
        "Combining the front/behind result from Step 5 and the left/right result from Step 6, "
        "what is the final relative position label for Person A relative to Person B?"
    )
    box_a, box_b = person_a.box.normalized(SIZE), person_b.box.normalized(SIZE)
    in_front, left = stands.startswith("front"), stands.endswith("left")
    return [
        step("S1", "What are the normalized coordinates of Person A?", box_a, "bbox_coordinates_normalized"),
        step("S2", "What are the normalized coordinates of Person B?", box_b, "bbox_coordinates_normalized"),
        step("S3", "What is the facing direction of Person A?", person_a.facing, "multiple_choice", DIRECTIONS),
        step("S4", "What is the facing direction of Person B?", person_b.facing, "multiple_choice", DIRECTIONS),
        step(
            "S5",
            "Which person is in front, Person A or Person B?",
            depth[0 if in_front else 1],
            "multiple_choice",
            depth,
        ),
        step("S6", "Which side is Person A on relative to Person B?", side[0 if left else 1], "multiple_choice", side),
        step("S7", combined, stands, "multiple_choice", RELATIONS),
    ]
