"""Marks: what a file says of an object, and the annotation that comes of it where it holds.

A mark that cannot hold is left out with a reason: `malformed` (no numbers, or too few), `not-finite`, `inverted`,
`empty` (no area), `outside` (by more than a pixel; less is clipped), `crossing` (a quadrilateral whose sides cross),
`disagrees` (an outline outside of its own box), `no-category`.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from operator import mul
from typing import Any, NamedTuple

from gigavqa.construction.annotations import Annotation, AttributeValue, Box, Flag, Ring
from gigavqa.construction.errors import MarkError
from gigavqa.construction.kept_ids import NAME

SLACK = 1.0
"""Pixels that coordinates may reach beyond the image, or an outline beyond its box: tools round."""
DIGITS = 9
"""Of a pixel's fraction that are kept where pixels are computed: what was written from pixels is read as these."""
_MOST_CHARACTERS = 200
_NUMBERS = frozenset({int, float})
_FLAGS: Mapping[str, Flag] = {
    "difficult": "difficult", "crowd": "crowd", "iscrowd": "crowd", "ignore": "ignore", "occluded": "occluded",
    "truncated": "truncated",
}  # fmt: skip


class Mark(NamedTuple):
    """What a file says of one object, in pixels of its image, nothing of it checked.

    `position` counts from 1 in the order of the file; `record` is how people find it there: "line 7". `box` are
    corners; without one it encloses the outlines. `kept` is the id that its file, or an export of ours, gave it,
    '' where none did.
    """

    position: int
    record: str
    category: str
    box: tuple[float, float, float, float] | None = None
    rings: tuple[Ring, ...] = ()
    quad: Ring | None = None
    attributes: Mapping[str, AttributeValue] = {}
    flags: tuple[Flag, ...] = ()
    kept: str = ""


def annotation_of(mark: Mark, id: str, width: int, height: int) -> Annotation:
    """Return a mark as an annotation of an image of this size, clipped to it. Raises MarkError."""
    if not mark.category.strip():
        raise MarkError("no-category", "category: is empty; give the object's category")
    box = _clipped_box(mark.box, width, height) if mark.box else None
    rings = tuple(_clipped_ring("outline", ring, width, height) for ring in mark.rings)
    if mark.quad and _crosses(mark.quad):
        raise MarkError("crossing", "corners: sides of the quadrilateral cross; give its corners in turn")
    if mark.quad and _is_cut(mark.quad, width, height):
        return _cut_annotation(mark, id, width, height)
    quad = _clipped_ring("corners", mark.quad, width, height) if mark.quad else None
    enclosed = _enclosing((*rings, *((quad,) if quad else ())))
    if box is None or enclosed is None:
        box = box or enclosed
    else:
        _require_enclosed(box, enclosed)
        box = Box(*map(min, box[:2], enclosed[:2]), *map(max, box[2:], enclosed[2:]))
    if box is None:
        raise MarkError("malformed", "has neither a box nor an outline; give one")
    return Annotation(id, mark.category.strip(), box, rings, quad, mark.attributes, frozenset(mark.flags))


def _is_cut(quad: Ring, width: int, height: int) -> bool:
    """Return whether an oriented box around a place in the image has corners beyond it, as tools draw at its edges."""
    if len(quad) != 8 or not math.isfinite(sum(map(abs, quad))):
        return False
    xs, ys = quad[::2], quad[1::2]
    reaches = min(xs) < -SLACK or min(ys) < -SLACK or max(xs) > width + SLACK or max(ys) > height + SLACK
    return reaches and 0 < sum(xs) / 4 < width and 0 < sum(ys) / 4 < height


def _cut_annotation(mark: Mark, id: str, width: int, height: int) -> Annotation:
    """Return an object that the image's edge cuts: the box of what is in it, truncated, without corners."""
    assert mark.quad
    xs, ys = mark.quad[::2], mark.quad[1::2]
    cut = max(0.0, min(xs)), max(0.0, min(ys)), min(float(width), max(xs)), min(float(height), max(ys))
    flags = frozenset((*mark.flags, "truncated"))
    return Annotation(id, mark.category.strip(), _clipped_box(cut, width, height), (), None, mark.attributes, flags)


def _clipped_box(corners: Sequence[float], width: int, height: int) -> Box:
    x1, y1, x2, y2 = corners
    if not math.isfinite(x1 + y1 + x2 + y2):
        raise MarkError("not-finite", f"box: {_shown(corners)} has a number that is none; give pixels")
    if x2 < x1 or y2 < y1:
        raise MarkError("inverted", f"box: {_shown(corners)} ends before it begins; give x1 < x2 and y1 < y2")
    if x1 < -SLACK or y1 < -SLACK or x2 > width + SLACK or y2 > height + SLACK:
        raise _outside("box", corners, width, height)
    box = Box(max(0.0, x1), max(0.0, y1), min(float(width), x2), min(float(height), y2))
    if not (box.x1 < box.x2 and box.y1 < box.y2):
        raise MarkError("empty", f"box: {_shown(corners)} has no area in the image; mark an area")
    return box


def _clipped_ring(field: str, ring: Ring, width: int, height: int) -> Ring:
    if len(ring) < 6 or len(ring) % 2:
        raise MarkError("malformed", f"{field}: has {len(ring)} numbers; give three points or more, x and y of each")
    xs, ys = ring[::2], ring[1::2]
    if not math.isfinite(sum(map(abs, ring))):
        raise MarkError("not-finite", f"{field}: {_shown(ring)} has a number that is none; give pixels")
    if min(xs) < -SLACK or min(ys) < -SLACK or max(xs) > width + SLACK or max(ys) > height + SLACK:
        raise _outside(field, (min(xs), min(ys), max(xs), max(ys)), width, height)
    clipped_x, clipped_y = _clipped_sides(xs, width), _clipped_sides(ys, height)
    if len(clipped_x) > 3 and (clipped_x[0], clipped_y[0]) == (clipped_x[-1], clipped_y[-1]):
        del clipped_x[-1], clipped_y[-1]
    if min(clipped_x) == max(clipped_x) or min(clipped_y) == max(clipped_y) or not _area(clipped_x, clipped_y):
        raise MarkError("empty", f"{field}: {_shown(ring)} has no area in the image; mark an area")
    return tuple(side for point in zip(clipped_x, clipped_y, strict=True) for side in point)


def _clipped_sides(sides: Sequence[float], extent: int) -> list[float]:
    if min(sides) >= 0 and max(sides) <= extent:
        return list(sides)
    return [min(max(side, 0.0), float(extent)) for side in sides]


def _area(xs: Sequence[float], ys: Sequence[float]) -> float:
    """Return the area within a closed outline, signed; of a figure of eight what is left of both."""
    across, down = [x - xs[0] for x in xs], [y - ys[0] for y in ys]  # so that large coordinates cost no digits
    ahead_x, ahead_y = [*across[1:], 0.0], [*down[1:], 0.0]
    return float(0.5 * (sum(map(mul, across, ahead_y)) - sum(map(mul, ahead_x, down))))


def _crosses(quad: Ring) -> bool:
    """Return whether two opposite sides of a quadrilateral meet."""
    if len(quad) != 8:
        return False
    a, b, c, d = (quad[at : at + 2] for at in (0, 2, 4, 6))
    return _meet(a, b, c, d) or _meet(b, c, d, a)


def _meet(a: Ring, b: Ring, c: Ring, d: Ring) -> bool:
    return _side(a, b, c) * _side(a, b, d) < 0 and _side(c, d, a) * _side(c, d, b) < 0


def _side(a: Ring, b: Ring, point: Ring) -> float:
    return (b[0] - a[0]) * (point[1] - a[1]) - (b[1] - a[1]) * (point[0] - a[0])


def _enclosing(rings: Sequence[Ring]) -> Box | None:
    if not rings:
        return None
    return Box(
        min(min(ring[::2]) for ring in rings), min(min(ring[1::2]) for ring in rings),
        max(max(ring[::2]) for ring in rings), max(max(ring[1::2]) for ring in rings),
    )  # fmt: skip


def _require_enclosed(box: Box, inner: Box) -> None:
    beyond = max(box.x1 - inner.x1, box.y1 - inner.y1, inner.x2 - box.x2, inner.y2 - box.y2)
    if beyond > SLACK:
        raise MarkError(
            "disagrees",
            f"box: {_shown(box)} does not hold its own outline, which spans {_shown(inner)}; export both anew",
        )


def _outside(field: str, corners: Sequence[float], width: int, height: int) -> MarkError:
    told = f"{field}: {_shown(corners)} reaches outside the image of {width} x {height} pixels"
    if min(corners) < -SLACK and max(map(abs, corners)) <= 180:
        told += " (are these degrees on the ground?)"
    return MarkError("outside", f"{told}; give pixels of the full image, from its top left")


def _shown(numbers: Iterable[float]) -> str:
    told = ", ".join(f"{number:g}" for number in numbers)
    return told if len(told) <= 60 else f"{told[:60]}..."


def number_of(value: Any, field: str) -> float:
    """Return a number of a file. Raises MarkError for what is none: texts, too, as JSON's numbers are none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise MarkError("malformed", f"{field}: is {describe_value(value)}, and must be a number")
    try:
        return float(value)
    except OverflowError:
        raise MarkError("not-finite", f"{field}: is too large a number; give pixels") from None


def numbers_of(value: Any, field: str, count: int | None = None) -> tuple[float, ...]:
    """Return a list of numbers, of `count` where one is told. Raises MarkError."""
    if not isinstance(value, list | tuple):
        raise MarkError("malformed", f"{field}: is {describe_value(value)}, and must be a list of numbers")
    if count is not None and len(value) != count:
        raise MarkError("malformed", f"{field}: has {len(value)} numbers, and must have {count}")
    if _NUMBERS.issuperset(map(type, value)):
        with suppress(OverflowError):
            return tuple(map(float, value))
    return tuple(number_of(one, field) for one in value)


def size_of(width: Any, height: Any) -> tuple[float, float] | None:
    """Return what a file says of an image's size; None where it says nothing. Raises MarkError."""
    if width is None and height is None:
        return None
    return number_of(width, "width"), number_of(height, "height")


def text_number(text: str, field: str) -> float:
    """Return a number that a file holds as text. Raises MarkError."""
    try:
        if "_" in text:  # Python's own sign between digits
            raise ValueError
        return float(text)
    except ValueError:
        raise MarkError("malformed", f"{field}: is '{text[:40]}', and must be a number") from None


def attributes_of(raw: Any) -> tuple[dict[str, AttributeValue], tuple[Flag, ...]]:
    """Return attributes and flags: texts, numbers and truths of an object, of which the flags' names are flags.

    Null says nothing, and neither do names of ours (`kept_ids`). What else there is (lists, objects, long texts) is no
    attribute of one value, and is left.
    """
    attributes: dict[str, AttributeValue] = {}
    flags: list[Flag] = []
    for name, value in raw.items() if isinstance(raw, Mapping) else ():
        if str(name).startswith(NAME):
            continue
        if (flag := _FLAGS.get(str(name).lower())) and value in (0, 1, "0", "1"):
            flags += [flag] if int(value) else []
        elif isinstance(value, bool) or (isinstance(value, str) and 0 < len(value) <= _MOST_CHARACTERS):
            attributes[str(name)] = value
        elif isinstance(value, int | float) and abs(value) < 1e300:
            attributes[str(name)] = float(value)
    return attributes, tuple(flags)


def describe_value(value: Any) -> str:
    """Say in words of JSON what a value is."""
    names = {type(None): "null", bool: "a truth value", str: "a text", dict: "an object", list: "a list"}
    return names.get(type(value), "a number" if isinstance(value, int | float) else "of another kind")


def turned_box(box: tuple[float, float, float, float], degrees: float, pivot: tuple[float, float]) -> Ring:
    """Return the corners of a box turned clockwise around a point, from its top left in turn."""
    x1, y1, x2, y2 = box
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    px, py = pivot
    corners = ((x1, y1), (x2, y1), (x2, y2), (x1, y2))
    return tuple(
        round(side, DIGITS)
        for x, y in corners
        for side in (px + (x - px) * cos - (y - py) * sin, py + (x - px) * sin + (y - py) * cos)
    )
