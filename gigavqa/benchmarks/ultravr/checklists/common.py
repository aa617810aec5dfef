"""Rules that every record keeps, and the pieces that the checklists of the domains are made of."""

import re
from collections.abc import Iterator
from typing import Any

from gigavqa.answers.numerals import is_number
from gigavqa.benchmarks.ultravr.samples import ReasoningStep, UltraVRSample
from gigavqa.benchmarks.ultravr.schemas import NULLABLE, SCHEMAS
from gigavqa.benchmarks.ultravr.taxonomy import LETTERS, QUADRANTS, SUBCATEGORIES

BoxList = list[float]
_SCHEMA_LABEL = re.compile(r"\b[a-z0-9]+_[a-z0-9_]+\b", re.IGNORECASE)


def check_record(sample: UltraVRSample) -> Iterator[str]:
    """Rules of the main prompts: subcategory, options, wording."""
    fixed = SUBCATEGORIES.get((sample.domain, sample.category))
    if fixed and sample.subcategory != fixed:
        yield f"subcategory must be '{fixed}', not '{sample.subcategory}'"
    if sample.options is not None:
        if list(sample.options) != list(LETTERS):
            yield "there must be exactly four options, A to D"
        if len(set(sample.options.values())) != len(sample.options):
            yield "two options have the same text"
    if not sample.answer and sample.domain != "wsi":
        yield "the answer is empty, which only WSI samples may be"
    yield from _check_wording(sample)


def _check_wording(sample: UltraVRSample) -> Iterator[str]:
    texts = {"question": sample.question, **{f"option {key}": text for key, text in (sample.options or {}).items()}}
    texts |= {f"question of step {step.step_id}": step.question for step in sample.steps}
    for name, text in texts.items():
        if label := _SCHEMA_LABEL.search(text):
            yield f"the {name} shows the schema label '{label[0]}'"
    if sample.steps and sample.steps[-1].question.strip().lower() == sample.question.strip().lower():
        yield "the last reasoning question repeats the final question"


def check_steps(sample: UltraVRSample) -> Iterator[str]:
    """Fixed step ids and answer formats, and ground truths of the right kind; AD is free but for the count."""
    schema = SCHEMAS.get((sample.domain, sample.category))
    if schema is None:
        return
    ids = [step.step_id for step in sample.steps]
    if ids != list(schema):
        yield f"steps must be {', '.join(schema)}, not {', '.join(ids) or 'none'}"
        return
    nullable = NULLABLE.get((sample.domain, sample.category), frozenset())
    for step in sample.steps:
        if step.answer_format != schema[step.step_id]:
            yield f"step {step.step_id} must have the format {schema[step.step_id]}, not {step.answer_format}"
        elif sample.domain != "wsi" and not (step.ground_truth is None and step.step_id in nullable):
            yield from _check_truth(step)


def _check_truth(step: ReasoningStep) -> Iterator[str]:
    truth = step.ground_truth
    if step.answer_format == "boolean" and not isinstance(truth, bool):
        yield f"step {step.step_id} must be true or false, not {truth!r}"
    elif step.answer_format == "integer" and (type(truth) is not int or truth < 0):
        yield f"step {step.step_id} must be a count, not {truth!r}"
    elif step.answer_format == "multiple_choice" and not isinstance(truth, str):
        yield f"step {step.step_id} must be a text, not {truth!r}"
    elif step.answer_format in ("bbox_coordinates", "bbox_coordinates_normalized") and not is_box(truth):
        yield f"step {step.step_id} must be a box [x1, y1, x2, y2] within 0 to 1, not {truth!r}"
    elif step.answer_format == "bbox_coordinates_list":
        yield from _check_boxes(step.step_id, truth)


def _check_boxes(step_id: str, boxes: Any) -> Iterator[str]:
    if not isinstance(boxes, list) or not all(map(is_box, boxes)):
        yield f"step {step_id} must be a list of boxes [x1, y1, x2, y2] within 0 to 1"
    elif len(set(map(tuple, boxes))) != len(boxes):
        yield f"step {step_id} lists a box twice"


def is_box(value: Any) -> bool:
    """Return whether a value is one box [x1, y1, x2, y2], normalized, with an area."""
    if not isinstance(value, list) or len(value) != 4:
        return False
    if not all(is_number(side) for side in value):
        return False
    x1, y1, x2, y2 = value
    return bool(0 <= x1 < x2 <= 1 and 0 <= y1 < y2 <= 1)


def truths(sample: UltraVRSample) -> dict[str, Any]:
    """Ground truths by step id."""
    return {step.step_id: step.ground_truth for step in sample.steps}


def questions(sample: UltraVRSample) -> dict[str, str]:
    """Questions of the steps by step id."""
    return {step.step_id: step.question for step in sample.steps}


def check_counts(truth: dict[str, Any], *pairs: tuple[str, str]) -> Iterator[str]:
    """For each (boxes step, count step): the count is the number of boxes."""
    for boxes, count in pairs:
        if len(truth[boxes]) != truth[count]:
            yield f"{count} is {truth[count]}, but {boxes} lists {len(truth[boxes])} boxes"


def check_existence(truth: dict[str, Any], *pairs: tuple[str, str]) -> Iterator[str]:
    """For each (existence step, boxes step): it is true exactly when boxes are listed."""
    for existence, boxes in pairs:
        if truth[existence] != bool(truth[boxes]):
            yield f"{existence} is {truth[existence]}, but {boxes} lists {len(truth[boxes])} boxes"


def check_equal(step_id: str, found: Any, expected: Any, why: str) -> Iterator[str]:
    """Yield a step must equal what follows from the others."""
    if found != expected:
        yield f"{step_id} is {found!r}, but must be {expected!r}: {why}"


def check_disjoint(truth: dict[str, Any], first: str, second: str) -> Iterator[str]:
    """No box belongs to two groups or regions."""
    if shared := set(map(tuple, truth[first])) & set(map(tuple, truth[second])):
        yield f"{first} and {second} share the box {list(min(shared))}"


def check_answer(sample: UltraVRSample, letter: str | None, why: str) -> Iterator[str]:
    """Yield the answer's letter must be the one that follows from the steps."""
    if letter is not None and sample.answer != letter:
        yield f"the answer is {sample.answer}, but must be {letter}: {why}"


def center(box: BoxList) -> tuple[float, float]:
    """Center of a box."""
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2


def quadrant_of(box: BoxList) -> str:
    """Quadrant that the center of a box lies in; a center on the middle line belongs to the right or lower one."""
    x, y = center(box)
    return QUADRANTS[(2 if y >= 0.5 else 0) + (1 if x >= 0.5 else 0)]


def check_quadrant(step_id: str, boxes: list[BoxList], quadrant: str | None) -> Iterator[str]:
    """Boxes must have their centers in the quadrant."""
    for box in boxes:
        if quadrant and quadrant_of(box) != quadrant:
            yield f"{step_id} lists the box {box}, which lies in the {quadrant_of(box)}, not the {quadrant} quadrant"


def named_quadrants(text: str) -> list[str]:
    """Quadrants that a text names, in order."""
    return re.findall("|".join(QUADRANTS), text.lower())
