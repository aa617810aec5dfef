"""Objects that words single out: the only one, the largest, the leftmost, the one nearest to a corner."""

from collections.abc import Iterator, Mapping
from math import cos, radians, sin
from typing import NamedTuple

import numpy as np

from gigavqa.construction.annotations import AttributeValue
from gigavqa.construction.recipes.marked_objects import Floats, MarkedCategory
from gigavqa.construction.recipes.places import CORNERS
from gigavqa.construction.recipes.rules import Thresholds

SIZES = ("largest", "smallest")
SIDES: Mapping[str, tuple[int, int]] = {
    "leftmost": (0, -1),
    "rightmost": (0, 1),
    "topmost": (1, -1),
    "bottommost": (1, 1),
}
"""Axis and direction in which an outermost object lies farthest."""
POLES: Mapping[str, tuple[float, float]] = {
    "northernmost": (0.0, 1.0),
    "southernmost": (0.0, -1.0),
    "easternmost": (1.0, 0.0),
    "westernmost": (-1.0, 0.0),
}
"""Where an object lies farthest on the ground: parts of east and of north."""
NORTH = "north"
"""Label of an image: degrees clockwise from its upper side to ground north."""


class Reference(NamedTuple):
    """An object that words single out: how, which of its category it is, and which comes next (-1: there is none)."""

    how: str
    place: int
    next: int = -1


def by_size(found: MarkedCategory, how: str, thresholds: Thresholds) -> Reference | str:
    """Return the largest or smallest object, or the reason why it is not clear which one that is."""
    if len(found) < 2:
        return "too_few"
    if found.any_has("occluded"):
        return "hidden"
    if found.is_mixed:
        return "mixed"
    areas = found.areas if how == "smallest" else -found.areas
    first, second = np.argsort(areas, kind="stable")[:2]
    ends = np.sort(found.areas[[first, second]])
    return Reference(how, int(first), int(second)) if ends[1] >= thresholds.size_ratio * ends[0] > 0 else "near_tie"


def by_side(found: MarkedCategory, how: str, thresholds: Thresholds) -> Reference | str:
    """Return the outermost object in a direction of the image, by its center and by its edge."""
    axis, sign = SIDES[how]
    reach, own = sign * found.centers[:, axis], found.extents[:, axis] / 2
    return _leading(found, how, reach, thresholds.lead_margin * found.sides[axis], own=own, edges=reach + own)


def by_pole(found: MarkedCategory, how: str, north: float, thresholds: Thresholds) -> Reference | str:
    """Return the outermost object in a direction on the ground, whose north lies `north` degrees clockwise from up."""
    across, down = pole_direction(how, north)
    reach = across * found.centers[:, 0] + down * found.centers[:, 1]
    own = (abs(across) * found.extents[:, 0] + abs(down) * found.extents[:, 1]) / 2
    return _leading(found, how, reach, thresholds.lead_margin * float(found.sides.max()), own=own, edges=reach + own)


def pole_direction(how: str, north: float) -> tuple[float, float]:
    """Return where a direction on the ground points in the image, as parts of right and down."""
    east_part, north_part = POLES[how]
    turn = radians(north)
    return east_part * cos(turn) + north_part * sin(turn), east_part * sin(turn) - north_part * cos(turn)


def by_corner(found: MarkedCategory, corner: str, thresholds: Thresholds) -> Reference | str:
    """Return the object that lies nearest to a corner of the image, by its center and by its nearest point."""
    reach, edges = -corner_distances(found, corner), -edge_distances(found, corner)
    own = np.hypot(*found.extents.T) / 2
    margin = thresholds.corner_margin * float(np.hypot(*found.sides))
    return _leading(found, f"nearest-{corner}", reach, margin, own=own, edges=edges)


def corner_distances(found: MarkedCategory, corner: str) -> Floats:
    """Return each center's distance to a corner, in pixels."""
    place = CORNERS.index(corner)
    at = found.sides * (place % 2, place // 2)
    distances: Floats = np.hypot(*(found.centers - at).T)
    return distances


def edge_distances(found: MarkedCategory, corner: str) -> Floats:
    """Return the distance of each box's nearest point to a corner, in pixels."""
    place = CORNERS.index(corner)
    across, down = place % 2, place // 2
    points = found.corners[:, [2 * across, 2 * down + 1]]
    distances: Floats = np.hypot(*(points - found.sides * (across, down)).T)
    return distances


def clear_references(found: MarkedCategory, thresholds: Thresholds, *, sides: bool) -> Iterator[Reference]:
    """Yield how objects of a category can be singled out: the only one, or by size, and with `sides` by place, too."""
    if len(found) == 1:
        yield Reference("only", 0)
        return
    ways = [by_size(found, how, thresholds) for how in SIZES]
    if sides:
        ways += [by_side(found, how, thresholds) for how in SIDES]
        ways += [by_corner(found, corner, thresholds) for corner in CORNERS]
    yield from (way for way in ways if isinstance(way, Reference))


def north_of(labels: Mapping[str, AttributeValue]) -> float | None:
    """Return where an image's labels say that north is; None where they do not."""
    told = labels.get(NORTH)
    return float(told) if isinstance(told, int | float) and not isinstance(told, bool) else None


def _leading(
    found: MarkedCategory, how: str, reach: Floats, margin: float, *, own: Floats, edges: Floats
) -> Reference | str:
    """Return the object with the most of `reach`, if it leads the next one by the margin and half its own side.

    People may go by centers or by edges: it must have the most of both.
    """
    if len(found) < 2:
        return "too_few"
    first, second = np.argsort(-reach, kind="stable")[:2]
    leads = reach[first] - reach[second] >= max(margin, float(own[first])) and edges[first] >= edges.max()
    return Reference(how, int(first), int(second)) if leads else "near_tie"
