"""Regions that hold the local evidence of UltraVR's domains (condition V3). Pure geometry, in level-0 pixels.

Cells and quadrants divide an image without gap or overlap: bounds are `side * k // count`. Rows and columns count
from 1.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from gigavqa.tiling.errors import RegionError
from gigavqa.tiling.geometry import Region, Size, grid_region

QUADRANTS = ("upper-left", "upper-right", "lower-left", "lower-right")
GridIndex = tuple[int, int]
"""Row and column."""
ROI_GRID = 6
"""WSI slides are annotated on a 6 x 6 grid, numbered row by row from 1 to 36. Source: UltraVR, appendix A.3."""


def quadrant_region(size: Size, name: str) -> Region:
    """Return the quarter of the image called upper-left, upper-right, lower-left or lower-right."""
    if name not in QUADRANTS:
        raise RegionError(f"quadrant '{name}' is none of {', '.join(QUADRANTS)}")
    index = QUADRANTS.index(name)
    return grid_region(size, (index // 2 + 1, index % 2 + 1), (2, 2))


def roi_region(size: Size, index: int) -> Region:
    """Return the cell with number `index`, 1 to 36, of a whole slide's grid."""
    if not 1 <= index <= ROI_GRID**2:
        raise RegionError(f"region of interest {index} is outside 1 to {ROI_GRID**2}")
    row, column = divmod(index - 1, ROI_GRID)
    return grid_region(size, (row + 1, column + 1), (ROI_GRID, ROI_GRID))


@dataclass(frozen=True)
class CellBlock:
    """A block of neighbouring grid cells, and the row and column of its upper-left cell in the whole grid."""

    region: Region
    first_row: int
    first_column: int

    def holds(self, cell: GridIndex, sheet: tuple[int, int] = (5, 5)) -> bool:
        """Return whether a cell of the grid is one of its `sheet` rows and columns."""
        return _contains_block((self.first_row, self.first_column), cell, sheet)


def _contains_block(first: GridIndex, cell: GridIndex, sheet: tuple[int, int]) -> bool:
    return all(0 <= at - start < part for at, start, part in zip(cell, first, sheet, strict=True))


def draw_block(
    size: Size,
    cell: GridIndex,
    seed: str,
    grid: tuple[int, int] = (10, 10),
    sheet: tuple[int, int] = (5, 5),
    *,
    others: Sequence[GridIndex] = (),
) -> CellBlock:
    """Return a `sheet` of cells of the `grid` that contains `cell` (row, column) at a position drawn by `seed`.

    Of the places of the sheet in the grid that contain the cell, those with the most of the `others` are equally
    likely, so that where one holds them all, the place of the sheet rules none out. Raises RegionError where the cell
    is outside the grid or the sheet larger than it. Source: UltraVR, section 4.2 (AD crops).
    """
    if not all(1 <= at <= count for at, count in zip(cell, grid, strict=True)):
        raise RegionError(f"cell {tuple(cell)} is outside a grid of {grid[0]} x {grid[1]}")
    if not all(1 <= part <= count for part, count in zip(sheet, grid, strict=True)):
        raise RegionError(f"a sheet of {sheet[0]} x {sheet[1]} does not fit a grid of {grid[0]} x {grid[1]}")
    draw = random.Random(seed)
    rows, columns = (
        range(max(1, at - part + 1), min(at, count - part + 1) + 1)
        for at, part, count in zip(cell, sheet, grid, strict=True)
    )
    places = list(product(rows, columns))
    held = [sum(_contains_block(place, other, sheet) for other in others) for place in places]
    best = [place for place, number in zip(places, held, strict=True) if number == max(held)]
    # Without others the draws of a row and a column stay those of earlier jobs.
    first = draw.choice(best) if others else (draw.choice(rows), draw.choice(columns))
    return block_at(size, first, grid, sheet)


def block_at(
    size: Size, first: tuple[int, int], grid: tuple[int, int] = (10, 10), sheet: tuple[int, int] = (5, 5)
) -> CellBlock:
    """Return the `sheet` of cells of the `grid` whose upper-left cell is `first` (row, column).

    Raises RegionError where it reaches out of the grid.
    """
    if not all(1 <= at <= count - part + 1 for at, part, count in zip(first, sheet, grid, strict=True)):
        raise RegionError(
            f"a sheet of {sheet[0]} x {sheet[1]} from cell {tuple(first)} does not fit a grid of {grid[0]} x {grid[1]}"
        )
    return CellBlock(grid_region(size, first, grid, sheet), *first)
