"""Quarters of an image: the four of its corners, and four columns or rows."""

from collections.abc import Sequence

import numpy as np

from gigavqa.construction.recipes.marked_objects import Floats, Indices

CORNERS = ("upper-left", "upper-right", "lower-left", "lower-right")
COLUMNS = ("column-1", "column-2", "column-3", "column-4")
ROWS = ("row-1", "row-2", "row-3", "row-4")
_COLUMNS_AND_ROWS = (COLUMNS, ROWS)
NO_PLACE = -1


def corner_quarters(centers: Floats, extents: Floats, sides: Floats, margin: float) -> Indices:
    """Return which of `CORNERS` each object lies in; `NO_PLACE` for one that is not clear of the lines between them.

    Clear is what lies off a line by half its own side, so that the line does not cross it, and by `margin` of the
    image's.
    """
    across, down = (_parts(centers[:, at], extents[:, at], sides[at], 2, margin) for at in (0, 1))
    return np.where((across < 0) | (down < 0), NO_PLACE, 2 * down + across)


def strip_names(axis: int) -> Sequence[str]:
    """Return the names of the four columns (axis 0) or rows (axis 1), from the left or the top."""
    return _COLUMNS_AND_ROWS[axis]


def strips(centers: Floats, extents: Floats, sides: Floats, axis: int, margin: float) -> Indices:
    """Return which of the four columns or rows each object lies in; `NO_PLACE` as of the corners' quarters."""
    return _parts(centers[:, axis], extents[:, axis], sides[axis], 4, margin)


def _parts(centers: Floats, extents: Floats, side: float, number: int, margin: float) -> Indices:
    lines = np.arange(1, number) * (side / number)
    off = np.abs(centers[:, None] - lines[None, :])
    clear = (off >= np.maximum(extents / 2, margin * side)[:, None]).all(axis=1)
    return np.where(clear, np.minimum((centers * number / side).astype(np.intp), number - 1), NO_PLACE)
