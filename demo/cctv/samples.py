"""Questions about the plaza, worded and checked as appendix F.1 says; boxes and counts are those that were drawn."""

from math import gcd

import numpy as np

from demo.cctv.figures import KINDS
from demo.cctv.scene import SIZE, Figure, Plaza
from demo.draws import stream
from demo.records import Record, letter_of, lettered, shuffled, step, supervision
from evaluation.ultravr.taxonomy import QUADRANTS, SUBCATEGORIES, Category
from evaluation.ultravr.vocabulary import (
    CLAIM_FAMILIES,
    CLAIM_PATTERNS,
    DIRECTIONS,
    FRONT_BACK,
    LEFT_RIGHT,
    ORDERINGS,
    RELATIONS,
)

IMAGE = "images/plaza.jpg"

_PAIRS = (
    ("bicycle", "motorcycle", "difference_claim"),
    ("standing", "umbrella", "total_claim"),
    ("child", "bicycle", "ratio_claim"),
    ("umbrella", "motorcycle", "ordering_claim"),
)
_CLAIMS = (
    ("standing", True, True, "most"),
    ("bicycle", True, False, "most"),
    ("child", False, True, "fewest"),
    ("umbrella", False, False, "most"),
)
_COUPLES = (("pink", "turquoise"), ("orange", "yellow"), ("white", "bright green"))


def plaza_records(plaza: Plaza) -> list[Record]:
    """Return every record about the plaza: comparison, logical verification and relational inference."""
    rng = stream(plaza.seed, "cctv", "samples")
    return [
        *(_comparison(plaza, number, *pair, rng) for number, pair in enumerate(_PAIRS, start=1)),
        *(_verification(plaza, number, *claim, rng) for number, claim in enumerate(_CLAIMS, start=1)),
        *(_relation(plaza, number, *couple) for number, couple in enumerate(_COUPLES, start=1)),
    ]


def _record(category: Category, number: int, fields: Record, steps: list[Record], quadrants: list[str]) -> Record:
    return {
        "id": f"cctv-{category.replace('_', '-')}-{number}",
        "domain": "cctv",
        "category": category,
        "subcategory": SUBCATEGORIES["cctv", category],
        "image": IMAGE,
        **fields,
        "reasoning_supervision": supervision(steps),
        "evidence": {"quadrants": quadrants},
    }


def _boxes(figures: list[Figure]) -> list[list[float]]:
    return [figure.box.normalized(SIZE) for figure in figures]


def _quadrants(figures: list[Figure]) -> list[str]:
    return [quadrant for quadrant in QUADRANTS if any(figure.quadrant == quadrant for figure in figures)]


def _comparison(
    plaza: Plaza, number: int, kind_a: str, kind_b: str, supported: str, rng: np.random.Generator
) -> Record:
    group_a, group_b = plaza.of(kind_a), plaza.of(kind_b)
    a, b = KINDS[kind_a].label, KINDS[kind_b].label
    claims = _claims(a, b, len(group_a), len(group_b), supported, rng)
    options, answer = shuffled(list(claims.values()), claims[supported], rng)
    fields = {
        "question": f"Comparing {a} and {b}, which option states a correct relationship between their counts?",
        "options": options,
        "answer": answer,
    }
    steps = _comparison_steps(a, b, _boxes(group_a), _boxes(group_b), supported)
    return _record("comparison", number, fields, steps, _quadrants(group_a + group_b))


def _claims(a: str, b: str, num_a: int, num_b: int, supported: str, rng: np.random.Generator) -> dict[str, str]:
    """The four claims, of which only `supported` is true; the false values lie near the true ones."""

    def off(family: str) -> int:
        return 0 if family == supported else int(rng.integers(1, 3))

    more_a = (num_a > num_b) == (supported == "ordering_claim")
    more, fewer = (a, b) if more_a else (b, a)
    ratio = _ratio(num_a, num_b) if supported == "ratio_claim" else _ratio(num_b, num_a)
    return {
        "difference_claim": (
            f"The absolute difference between the counts of {a} and {b} "
            f"is {abs(num_a - num_b) + off('difference_claim')}."
        ),
        "total_claim": f"The total count of {a} and {b} is {num_a + num_b + off('total_claim')}.",
        "ratio_claim": f"The ratio of the count of {a} to the count of {b} is {ratio}.",
        "ordering_claim": f"{more.capitalize()} are more numerous than {fewer}.",
    }


def _ratio(num_a: int, num_b: int) -> str:
    divisor = gcd(num_a, num_b)
    return f"{num_a // divisor}:{num_b // divisor}"


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
        step("S9", ratio, _ratio(num_a, num_b), "multiple_choice"),
        step(
            "S10", "Which ordering relation holds between the two group counts?", ordering, "multiple_choice", ORDERINGS
        ),
        step("S11", family, supported, "multiple_choice", CLAIM_FAMILIES),
    ]


def _verification(
    plaza: Plaza, number: int, kind: str, count_match: bool, region_match: bool, extremum: str, rng: np.random.Generator
) -> Record:
    label, actual = KINDS[kind].label, len(plaza.of(kind))
    counts = {quadrant: len(plaza.of(kind, quadrant)) for quadrant in QUADRANTS}
    extreme = (max if extremum == "most" else min)(QUADRANTS, key=lambda quadrant: counts[quadrant])
    claimed = actual if count_match else actual + int(rng.choice([-2, -1, 1, 2]))
    others = [quadrant for quadrant in QUADRANTS if quadrant != extreme]
    region = extreme if region_match else str(rng.choice(others))
    texts = [text for _, text in CLAIM_PATTERNS.values()]
    options = lettered(texts)
    pattern, answer = CLAIM_PATTERNS[count_match, region_match]
    fields = {
        "question": (
            "Which option correctly evaluates the following claims? "
            f"Claim A: there are exactly {claimed} {label} in the image. "
            f"Claim B: the {region} region contains the {extremum} {label}."
        ),
        "options": options,
        "answer": letter_of(options, answer),
    }
    steps = [
        *_region_steps(plaza, kind, label),
        step("S9", f"What is the total number of {label} in the whole image?", actual, "integer"),
        step(
            "S10",
            f"Which region has the {extremum} {label}, or is there a tie?",
            extreme,
            "multiple_choice",
            [*QUADRANTS, "tie"],
        ),
        step("S11", f"Does the total number from Step 9 equal {claimed}?", count_match, "boolean"),
        step(
            "S12",
            f"Does the result from Step 10 match the statement that the {region} region has the {extremum} {label}?",
            region_match,
            "boolean",
        ),
        step(
            "S13",
            "Which evidence pattern is supported by the image?",
            pattern,
            "multiple_choice",
            [name for name, _ in CLAIM_PATTERNS.values()],
        ),
    ]
    return _record("logical_verification", number, fields, steps, list(QUADRANTS))


def _region_steps(plaza: Plaza, kind: str, label: str) -> list[Record]:
    steps: list[Record] = []
    for index, quadrant in enumerate(QUADRANTS):
        boxes = _boxes(plaza.of(kind, quadrant))
        where = f"What are the coordinates of the {label} in the {quadrant} region?"
        how_many = f"How many {label} are there in the {quadrant} region?"
        steps.append(step(f"S{2 * index + 1}", where, boxes, "bbox_coordinates_list"))
        steps.append(step(f"S{2 * index + 2}", how_many, len(boxes), "integer"))
    return steps


def _relation(plaza: Plaza, number: int, clothing_a: str, clothing_b: str) -> Record:
    """Ask where one person is relative to another: in front is nearer to the camera, left is the image's left."""
    person_a, person_b = (
        next(f for f in plaza.figures if f.clothing == clothing) for clothing in (clothing_a, clothing_b)
    )
    (x_a, y_a), (x_b, y_b) = person_a.box.center, person_b.box.center
    position = f"{'front' if y_a > y_b else 'back'}-{'left' if x_a < x_b else 'right'}"
    options = lettered(RELATIONS)
    fields = {
        "question": (
            f"Person A is {_description(person_a)}, and Person B is {_description(person_b)}. "
            "Which option best describes the position of Person A relative to Person B?"
        ),
        "options": options,
        "answer": letter_of(options, position),
    }
    steps = _relation_steps(person_a, person_b, position)
    return _record("relational_inference", number, fields, steps, _quadrants([person_a, person_b]))


def _description(person: Figure) -> str:
    return f"the adult standing in the {person.quadrant} quadrant, wearing {person.clothing} upper clothing"


def _relation_steps(person_a: Figure, person_b: Figure, position: str) -> list[Record]:
    depth, side = list(FRONT_BACK), list(LEFT_RIGHT)
    combined = (
        "Combining the front/behind result from Step 5 and the left/right result from Step 6, "
        "what is the final relative position label for Person A relative to Person B?"
    )
    box_a, box_b = person_a.box.normalized(SIZE), person_b.box.normalized(SIZE)
    in_front, left = position.startswith("front"), position.endswith("left")
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
        step("S7", combined, position, "multiple_choice", RELATIONS),
    ]
