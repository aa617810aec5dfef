"""Measure the agreement of two boxes, two lists of boxes, or two sets."""

from collections.abc import Sequence, Set

BoxCorners = tuple[float, float, float, float]

IOU_THRESHOLD = 0.5  # the paper gives no rule: decision 0011
"""Least intersection over union of a box that counts. The paper gives no rule; reports record this one."""


def iou(first: BoxCorners, second: BoxCorners) -> float:
    """Intersection over union of two boxes (x1, y1, x2, y2) in one frame; 0 where either has no area."""
    width = min(first[2], second[2]) - max(first[0], second[0])
    height = min(first[3], second[3]) - max(first[1], second[1])
    if width <= 0 or height <= 0:
        return 0.0
    shared = width * height
    return shared / (_area(first) + _area(second) - shared)


def _area(box: BoxCorners) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def matched(first: Sequence[BoxCorners], second: Sequence[BoxCorners]) -> int:
    """Size of the largest one-to-one matching of boxes at `IOU_THRESHOLD`, by augmenting paths.

    Source: Kuhn 1955, as Berge's theorem has it: a matching is largest when no augmenting path is left.
    """
    near = [
        [
            at
            for at, other in enumerate(second)
            # Most pairs lie apart; telling so here spares them a call.
            if other[0] < box[2] and box[0] < other[2] and iou(box, other) >= IOU_THRESHOLD
        ]
        for box in first
    ]
    owner: dict[int, int] = {}
    return sum(_augment(at, near, owner, set()) for at in range(len(first)))


def _augment(at: int, near: Sequence[Sequence[int]], owner: dict[int, int], seen: set[int]) -> bool:
    for other in near[at]:
        if other in seen:
            continue
        seen.add(other)
        if other not in owner or _augment(owner[other], near, owner, seen):
            owner[other] = at
            return True
    return False


def f1_of(shared: int, first: int, second: int) -> float:
    """F1 of a prediction of `first` items against `second` true ones, `shared` of them; 1 where both are empty."""
    return 2 * shared / (first + second) if first + second else 1.0


def f1_of_sets(first: Set[object], second: Set[object]) -> float:
    """F1 of one set against another."""
    return f1_of(len(first & second), len(first), len(second))
