"""Truths of candidates by brute force, from annotations alone: arithmetic of its own, one object at a time."""

from math import cos, hypot, radians, sin
from typing import Any

from gigavqa.construction.annotations import AnnotatedImage, Annotation
from gigavqa.construction.candidates import Candidate

_PLACES = ("upper-left", "upper-right", "lower-left", "lower-right")


def true_answer(candidate: Candidate, image: AnnotatedImage) -> Any:
    """Return the answer to a candidate's program on an image without zones."""
    return globals()[f"_{candidate.recipe}"](candidate.program, image)


def _of(image: AnnotatedImage, category: str) -> list[Annotation]:
    return [one for one in image.annotations if one.category == category]


def _x(one: Annotation) -> float:
    return (one.box.x1 + one.box.x2) / 2


def _y(one: Annotation) -> float:
    return (one.box.y1 + one.box.y2) / 2


def _area(one: Annotation) -> float:
    return (one.box.x2 - one.box.x1) * (one.box.y2 - one.box.y1)


def _quarter(one: Annotation, image: AnnotatedImage) -> str:
    down = "upper" if 2 * _y(one) < image.height else "lower"
    return f"{down}-{'left' if 2 * _x(one) < image.width else 'right'}"


def _off(one: Annotation, corner: str, image: AnnotatedImage) -> float:
    x = 0 if corner.endswith("left") else image.width
    y = 0 if corner.startswith("upper") else image.height
    return hypot(_x(one) - x, _y(one) - y)


def _single(how: str, image: AnnotatedImage, category: str) -> Annotation:
    found = _of(image, category)
    north = radians(float(image.labels.get("north", 0.0)))
    keys: dict[str, Any] = {
        "only": lambda one: 0,
        "largest": lambda one: -_area(one),
        "smallest": _area,
        "leftmost": _x,
        "rightmost": lambda one: -_x(one),
        "topmost": _y,
        "bottommost": lambda one: -_y(one),
        "northernmost": lambda one: _y(one) * cos(north) - _x(one) * sin(north),
        "southernmost": lambda one: _x(one) * sin(north) - _y(one) * cos(north),
        "easternmost": lambda one: -_x(one) * cos(north) - _y(one) * sin(north),
        "westernmost": lambda one: _x(one) * cos(north) + _y(one) * sin(north),
    }
    key = keys.get(how) or (lambda one: _off(one, how.removeprefix("nearest-"), image))
    best = [one for one in found if all(key(one) <= key(other) for other in found)]
    assert len(best) == 1, f"{how} {category}: {len(best)} objects"
    return best[0]


def _presence(program: Any, image: AnnotatedImage) -> str:
    return "yes" if _of(image, program["category"]) else "no"


def _count(program: Any, image: AnnotatedImage) -> int:
    return len(_of(image, program["category"]))


def _more_or_fewer(program: Any, image: AnnotatedImage) -> str:
    choose = max if program["ask"] == "more" else min
    return str(choose(program["categories"], key=lambda category: len(_of(image, category))))


def _extreme(program: Any, image: AnnotatedImage) -> str:
    if program["ask"] == "nearest":
        objects = [one for one in image.annotations if one.category in program["options"]]
        return min(objects, key=lambda one: _off(one, program["corner"], image)).category
    one = _single(program["how"], image, program["category"])
    if program["ask"] == "quarter":
        return _quarter(one, image)
    if program["ask"] == "columns":
        return f"column-{1 + int(_x(one) // (image.width / 4))}"
    return f"row-{1 + int(_y(one) // (image.height / 4))}"


def _odd_one_out(program: Any, image: AnnotatedImage) -> str:
    found = _of(image, program["category"])
    if program["ask"] == "empty":
        (place,) = set(_PLACES) - {_quarter(one, image) for one in found}
        return place
    values = [one.attributes[program["attribute"]] for one in found]
    (odd,) = [one for one in found if values.count(one.attributes[program["attribute"]]) == 1]
    return _quarter(odd, image)


def _relation(program: Any, image: AnnotatedImage) -> str:
    a, b = (_single(how, image, category) for category, how in zip(program["categories"], program["hows"], strict=True))
    return f"{'above' if _y(a) < _y(b) else 'below'}-{'left' if _x(a) < _x(b) else 'right'}"


def _part_whole(program: Any, image: AnnotatedImage) -> str:
    places = [_quarter(one, image) for one in _of(image, program["category"])]
    if program["ask"] == "share":
        return "yes" if 4 * places.count(program["place"]) > len(places) else "no"
    return max(_PLACES, key=places.count)


def _attribute(program: Any, image: AnnotatedImage) -> str:
    value = _single(program["how"], image, program["category"]).attributes[program["attribute"]]
    return ("yes" if value else "no") if program["ask"] == "holds" else str(value)


def _region(program: Any, image: AnnotatedImage) -> Any:
    within = [one for one in image.annotations if _cell(one, image, program["grid"]) == program["cell"]]
    if program["ask"] in ("more", "fewer"):
        choose = max if program["ask"] == "more" else min
        return choose(program["categories"], key=lambda category: sum(one.category == category for one in within))
    number = sum(one.category == program["category"] for one in within)
    return number if program["ask"] == "count" else "yes" if number else "no"


def _cell(one: Annotation, image: AnnotatedImage, number: int) -> str:
    if number == 2:
        return _quarter(one, image)
    return f"{1 + int(_x(one) // (image.width / number))},{1 + int(_y(one) // (image.height / number))}"
