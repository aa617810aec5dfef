"""Checklists of remote sensing (appendix F.2)."""

import re
from collections.abc import Iterator
from typing import Any

from gigavqa.benchmarks.ultravr.checklists.common import (
    center,
    check_answer,
    check_counts,
    check_disjoint,
    check_equal,
    check_existence,
    check_quadrant,
    named_quadrants,
    questions,
    truths,
)
from gigavqa.benchmarks.ultravr.samples import UltraVRSample
from gigavqa.benchmarks.ultravr.taxonomy import QUADRANTS

_BOUNDS: dict[str, tuple[float, float]] = {
    name: (0.5 * (index % 2), 0.5 * (index // 2)) for index, name in enumerate(QUADRANTS)
}
_SELECTOR = re.compile(r"\b(?:leftmost|rightmost|topmost|bottommost)\b", re.IGNORECASE)


def check_comparison(sample: UltraVRSample) -> Iterator[str]:
    """Landmarks and objects lie in their regions, and the difference of the counts is one option's number."""
    truth = truths(sample)
    yield from check_existence(truth, ("S2", "S3"), ("S6", "S7"))
    yield from check_counts(truth, ("S3", "S4"), ("S7", "S8"))
    yield from check_disjoint(truth, "S3", "S7")
    yield from check_equal("S9", truth["S9"], abs(truth["S4"] - truth["S8"]), "|S4 - S8|")
    regions = yield from _agreed_regions(sample, ("S1", "S2", "S3", "S4"), ("S5", "S6", "S7", "S8"))
    if regions:
        for landmark, boxes, region in (("S1", "S3", regions[0]), ("S5", "S7", regions[1])):
            yield from _check_inside(landmark, truth[landmark], region)
            yield from check_quadrant(boxes, truth[boxes], region)
    yield from _check_numbers(sample, truth["S9"])


def _check_inside(step_id: str, box: list[float], region: str) -> Iterator[str]:
    left, top = _BOUNDS[region]
    if not (left <= box[0] and box[2] <= left + 0.5 and top <= box[1] and box[3] <= top + 0.5):
        yield f"{step_id}, the landmark {box}, reaches outside the {region} quadrant"


def _check_numbers(sample: UltraVRSample, difference: int) -> Iterator[str]:
    options = sample.options or {}
    if not all(re.fullmatch(r"\d+", text) for text in options.values()):
        yield "the options must be non-negative integers"
        return
    right = [letter for letter, text in options.items() if int(text) == difference]
    if len(right) != 1:
        yield f"exactly one option must be S9 = {difference}, but {len(right)} are"
    else:
        yield from check_answer(sample, right[0], f"its number is S9 = {difference}")


def check_logical_verification(sample: UltraVRSample) -> Iterator[str]:
    """Counts follow from the boxes, and the pattern of presence fixes the answer's letter."""
    truth = truths(sample)
    yield from check_counts(truth, ("S1", "S2"), ("S3", "S4"))
    yield from check_disjoint(truth, "S1", "S3")
    yield from check_equal("S5", truth["S5"], truth["S2"] > 0 and truth["S4"] > 0, "S2 > 0 and S4 > 0")
    regions = yield from _agreed_regions(sample, ("S1", "S2"), ("S3", "S4"))
    if regions:
        yield from check_quadrant("S1", truth["S1"], regions[0])
        yield from check_quadrant("S3", truth["S3"], regions[1])
        yield from _check_options(sample, _presence_patterns(*regions))
    if not re.search(r"\b(?:horizontal|vertical)", sample.question, re.IGNORECASE):
        yield "the question must name the orientation, horizontal or vertical"
    letter = {(True, True): "A", (True, False): "B", (False, True): "C", (False, False): "D"}
    yield from check_answer(sample, letter[truth["S2"] > 0, truth["S4"] > 0], "S2 and S4 say where the objects are")


def _presence_patterns(a: str, b: str) -> dict[str, str]:
    return {
        "A": rf"present in both\b.*{a}.*{b}",
        "B": rf"present in\b.*{a}.*\bbut not in\b.*{b}",
        "C": rf"present in\b.*{b}.*\bbut not in\b.*{a}",
        "D": rf"absent from both\b.*{a}.*{b}",
    }


def check_relational_inference(sample: UltraVRSample) -> Iterator[str]:
    """Nulls stand exactly where an object is missing, and the cross-axis decides between A and B."""
    truth = truths(sample)
    both = truth["S1"] and truth["S3"]
    if not truth["S1"] and not truth["S3"]:
        yield "S1 and S3 are both false: the object must exist in one region at least"
    for exists, box in (("S1", "S2"), ("S3", "S4")):
        if truth[exists] == (truth[box] is None):
            yield f"{box} must be null exactly when {exists} is false"
    if both == (truth["S5"] is None):
        yield "S5 must be null exactly when S1 or S3 is false"
    if len(_SELECTOR.findall(sample.question)) != 2:
        yield "the question must select an extreme object, such as the leftmost, in each of two regions"
    regions = yield from _agreed_regions(sample, ("S1", "S2"), ("S3", "S4"))
    if regions:
        yield from _check_relation(sample, truth, regions)
    yield from check_answer(sample, _relation_letter(truth), "S1, S3 and S5 say so")


def _check_relation(sample: UltraVRSample, truth: dict[str, Any], regions: tuple[str, str]) -> Iterator[str]:
    for step_id, region in (("S2", regions[0]), ("S4", regions[1])):
        if truth[step_id] is not None:
            yield from check_quadrant(step_id, [truth[step_id]], region)
    axis = _cross_axis(*regions)
    if axis is None:
        yield f"{regions[0]} and {regions[1]} are not adjacent"
        return
    yield from _check_options(sample, _relation_patterns(*regions, axis))
    if truth["S2"] is None or truth["S4"] is None:
        return
    first, second = center(truth["S2"])[axis], center(truth["S4"])[axis]
    if first == second:
        yield "S2 and S4 have the same center on the compared axis"
    elif truth["S5"] is not None:
        yield from check_equal("S5", truth["S5"], first < second, "the centers of S2 and S4")


def _relation_patterns(a: str, b: str, axis: int) -> dict[str, str]:
    first, second = ("west", "east") if axis == 0 else ("north", "south")
    lacks = r"(?:does not|doesn't) contain"
    return {
        "A": rf"{a}.*\b{first} of\b.*{b}",
        "B": rf"{a}.*\b{second} of\b.*{b}",
        "C": rf"{a}.*\b{lacks}",
        "D": rf"{b}.*\b{lacks}",
    }


def _cross_axis(a: str, b: str) -> int | None:
    """Return 1, compare y, for left and right neighbours; 0, compare x, for upper and lower; None for others."""
    (a_row, a_column), (b_row, b_column) = a.split("-"), b.split("-")
    if a_row == b_row and a_column != b_column:
        return 1
    return 0 if a_column == b_column and a_row != b_row else None


def _relation_letter(truth: dict[str, Any]) -> str | None:
    if not truth["S1"]:
        return "C"
    if not truth["S3"]:
        return "D"
    return None if truth["S5"] is None else ("A" if truth["S5"] else "B")


def _check_options(sample: UltraVRSample, patterns: dict[str, str]) -> Iterator[str]:
    for letter, pattern in patterns.items():
        if not re.search(pattern, (sample.options or {}).get(letter, ""), re.IGNORECASE | re.DOTALL):
            yield f"option {letter} does not follow its fixed pattern"


def _agreed_regions(sample: UltraVRSample, first: tuple[str, ...], second: tuple[str, ...]) -> Any:
    """Return the regions A and B that the steps' questions agree on; yields a problem and returns None otherwise."""
    asked = questions(sample)
    a, b = ({name for step in steps for name in named_quadrants(asked[step])} for steps in (first, second))
    if len(a) != 1 or len(b) != 1 or a == b:
        yield f"steps {', '.join(first)} must ask about one quadrant and {', '.join(second)} about another"
        return None
    regions = (a.pop(), b.pop())
    if tuple(dict.fromkeys(named_quadrants(sample.question))) != regions:
        yield f"the question must name the {regions[0]} and then the {regions[1]} quadrant, as the steps do"
    return regions
