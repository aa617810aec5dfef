"""Places of objects in a scene: boxes in pixels of the full-size image, quadrants, normalized coordinates."""

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeVar

import numpy as np

from gigavqa.benchmarks.ultravr.taxonomy import Quadrant
from gigavqa.demo.errors import LayoutError
from gigavqa.tiling.geometry import Size

_ATTEMPTS = 4000
_LAYOUTS = 100
_LayoutT = TypeVar("_LayoutT")


class PixelBox(NamedTuple):
    """A rectangle in pixels of the full-size image: left, top, right, bottom."""

    x1: float
    y1: float
    x2: float
    y2: float

    @property
    def center(self) -> tuple[float, float]:
        """Center (x, y) in pixels."""
        return (self.x1 + self.x2) / 2, (self.y1 + self.y2) / 2

    def grown(self, margin: float) -> "PixelBox":
        """Return the box with `margin` pixels more on each side."""
        return PixelBox(self.x1 - margin, self.y1 - margin, self.x2 + margin, self.y2 + margin)

    def overlaps(self, other: "PixelBox") -> bool:
        """Return whether the two boxes share a pixel."""
        return self.x1 < other.x2 and other.x1 < self.x2 and self.y1 < other.y2 and other.y1 < self.y2

    def normalized(self, size: Size) -> list[float]:
        """`[x1, y1, x2, y2]`, each axis of an image of `size` scaled to [0, 1], to six decimals.

        At three, half of the boxes of 20 x 40 pixels would lie below an IoU of 0.5 of themselves.
        """
        width, height = size
        return [round(v, 6) for v in (self.x1 / width, self.y1 / height, self.x2 / width, self.y2 / height)]

    def quadrant(self, size: Size) -> Quadrant:
        """Return the quadrant of an image of `size` that holds the center (appendix A.1)."""
        x, y = self.center
        return quadrant_name(upper=y < size.height / 2, left=x < size.width / 2)


def quadrant_name(*, upper: bool, left: bool) -> Quadrant:
    """Return the paper's name of a quadrant."""
    if upper:
        return "upper-left" if left else "upper-right"
    return "lower-left" if left else "lower-right"


def quadrant_box(quadrant: Quadrant, size: Size, margin: float) -> PixelBox:
    """Return the quadrant less `margin` pixels on each side, so that no object in it lies near a boundary."""
    left = 0 if quadrant.endswith("left") else size.width / 2
    top = 0 if quadrant.startswith("upper") else size.height / 2
    return PixelBox(left, top, left + size.width / 2, top + size.height / 2).grown(-margin)


def is_free(box: PixelBox, taken: Iterable[PixelBox]) -> bool:
    """Return whether the box touches none of those that are taken."""
    return not any(box.overlaps(other) for other in taken)


def find_place(
    width: float, height: float, area: PixelBox, taken: Iterable[PixelBox], rng: np.random.Generator
) -> PixelBox:
    """Draw a free place for a box of the given size inside `area`; raises LayoutError when there is none."""
    taken = list(taken)
    for _ in range(_ATTEMPTS):
        x, y = rng.uniform(area.x1, area.x2 - width), rng.uniform(area.y1, area.y2 - height)
        box = PixelBox(round(x), round(y), round(x) + round(width), round(y) + round(height))
        if is_free(box, taken):
            return box
    raise LayoutError(f"no place for {width:.0f}x{height:.0f} pixels in {area}")


def first_layout(plan: Callable[[int], _LayoutT]) -> _LayoutT:
    """Return what `plan` makes of the first attempt (0, 1, ...) that has a place for everything.

    Raises LayoutError when none of a hundred has.
    """
    for attempt in range(_LAYOUTS - 1):
        try:
            return plan(attempt)
        except LayoutError:
            continue
    return plan(_LAYOUTS - 1)
