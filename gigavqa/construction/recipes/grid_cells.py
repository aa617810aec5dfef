"""Cells of a grid over an image, each with what is marked in it: a large image has many answers to one question."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple
from zlib import crc32

import numpy as np

from gigavqa.construction.annotations import AnnotatedImage, Box
from gigavqa.construction.recipes.marked_objects import Floats, Indices
from gigavqa.construction.recipes.places import CORNERS
from gigavqa.construction.recipes.rules import Thresholds

QUARTERS = 2
"""The coarsest grid, whose cells are the quarters at the corners."""
_GRIDS = (QUARTERS, 4, 8, 16, 32)
_ENOUGH = 0.5
_ZONES = frozenset({"crowd", "ignore"})


@dataclass(frozen=True)
class GridCell:
    """One cell of a grid of `number` x `number`, columns and rows counted from the upper left, from 0.

    `scene` is the image with those annotations alone that lie within the cell, and zones that reach into it; `crossing`
    are the categories of objects that lie across its border.
    """

    number: int
    column: int
    row: int
    box: Box
    scene: AnnotatedImage
    crossing: frozenset[str]

    @property
    def name(self) -> str:
        """The corner of a quarter; column and row of a finer cell, from 1."""
        if self.number == QUARTERS:
            return CORNERS[2 * self.row + self.column]
        return f"{self.column + 1},{self.row + 1}"


def grid_cells(image: AnnotatedImage, thresholds: Thresholds) -> Iterator[GridCell]:
    """Yield cells of an image in which a category can be counted, `most_regions` at most, the same ones each time.

    The grid is the coarsest in which half of what the cells hold, or more, can be counted: few enough objects of a
    category, none across a border; else the one in which most can.
    """
    boxes = np.array([one.box for one in image.annotations], float).reshape(-1, 4)
    sides = np.array([image.width, image.height], float)
    is_object = np.array([not one.flags & _ZONES for one in image.annotations], bool)
    names = {category: at for at, category in enumerate(sorted({one.category for one in image.annotations}))}
    categories = np.array([names[one.category] for one in image.annotations], np.intp)
    best = CountableCells(QUARTERS, np.array([], np.intp), 0.0)
    for number in _fitting(sides, thresholds):
        spans = _spans(boxes[is_object], sides, number, thresholds.line_margin)
        best = max(best, _countable(spans, number, categories[is_object], thresholds), key=lambda one: one.share)
        if best.share >= _ENOUGH:
            break
    spans = _spans(boxes, sides, best.number, thresholds.line_margin)
    for place in _drawn(best.places, f"{image.image}/{best.number}", thresholds.most_regions):
        yield _cell(image, spans, best.number, place)


class CountableCells(NamedTuple):
    """Places of the cells of a grid in which a category can be counted, and the share of what cells hold that can."""

    number: int
    places: Indices
    share: float


def _countable(
    spans: tuple[Indices, Indices], number: int, categories: Indices, thresholds: Thresholds
) -> CountableCells:
    low, high = spans
    crosses = (low != high).any(axis=1)
    ends = (np.stack([x[:, 0], y[:, 1]]) for x in spans for y in spans)
    touched = np.unique(np.concatenate([_pairs(end[:, crosses], number, categories[crosses]) for end in ends]))
    held, counts = np.unique(_pairs(low[~crosses].T, number, categories[~crosses]), return_counts=True)
    clear = (counts <= thresholds.most_counted) & ~np.isin(held, touched)
    return CountableCells(number, np.unique(held[clear] % number**2), float(clear.mean()) if held.size else 0.0)


def _pairs(places: Indices, number: int, categories: Indices) -> Indices:
    pairs: Indices = (categories * number + places[1]) * number + places[0]
    return pairs


def _fitting(sides: Floats, thresholds: Thresholds) -> Iterator[int]:
    """Yield the grids whose cells are no smaller than the smallest region; quarters always."""
    yield from (number for number in _GRIDS if number == QUARTERS or sides.min() / number >= thresholds.region_side)


def _spans(boxes: Floats, sides: Floats, number: int, margin: float) -> tuple[Indices, Indices]:
    """Return the first and last column and row that each box reaches, or comes close to by a share of a cell."""
    parts = boxes.reshape(-1, 2, 2) * number / sides
    low, high = np.floor(parts[:, 0] - margin), np.ceil(parts[:, 1] + margin) - 1
    return low.clip(0, number - 1).astype(np.intp), high.clip(0, number - 1).astype(np.intp)


def _drawn(places: Indices, seed: str, most: int) -> Sequence[int]:
    return sorted(map(int, places), key=lambda place: (crc32(f"{seed}/{place}".encode()), place))[:most]


def _cell(image: AnnotatedImage, spans: tuple[Indices, Indices], number: int, place: int) -> GridCell:
    row, column = divmod(place, number)
    low, high = spans
    reaches = np.flatnonzero(((low <= (column, row)) & (high >= (column, row))).all(axis=1))
    inside, crossing = [], set[str]()
    for at in reaches:
        one = image.annotations[at]
        if one.flags & _ZONES or (low[at] == high[at]).all():
            inside.append(one)
        else:
            crossing.add(one.category)
    width, height = image.width / number, image.height / number
    box = Box(column * width, row * height, (column + 1) * width, (row + 1) * height)
    return GridCell(number, column, row, box, replace(image, annotations=tuple(inside)), frozenset(crossing))
