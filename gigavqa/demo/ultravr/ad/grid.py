"""A grid of one product with one anomalous cell, and its picture."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from gigavqa.benchmarks.ultravr.samples import BLOCK_SIZE
from gigavqa.demo.canvas import Canvas, Pixels, grain, within_headroom
from gigavqa.demo.draws import stream
from gigavqa.demo.sprites import Color, Pen
from gigavqa.demo.ultravr.ad.products import CELL, GRID, Product
from gigavqa.tiling.geometry import Size

_TABLE: Color = (92, 98, 104)
_VARIANTS = 12
"""Normal products that a grid is made of; a hundred different ones would say no more and take eight times as long."""


class Grid(NamedTuple):
    """The anomalous cell (row, column; 1-based from the top left), and the normal variant in each cell."""

    seed: int
    product: Product
    cell: tuple[int, int]
    variants: tuple[tuple[int, ...], ...]

    @property
    def sheet(self) -> tuple[int, int]:
        """First row and column of the sheet of cells that local evidence and options come from: a quarter of the grid.

        No other sheets leave nothing to guess: whoever knows the sheet finds the anomaly in each of its cells alike,
        and whoever knows nothing finds it in each cell of the grid alike.
        """
        row, column = ((at - 1) // part * part + 1 for at, part in zip(self.cell, BLOCK_SIZE, strict=True))
        return row, column


def plan_grid(seed: int, product: Product) -> Grid:
    """Draw the grid of a seed: the place of its anomaly and the order of the normal variants."""
    rng = stream(seed, "ad", product.name)
    rows, columns = GRID
    cell = (int(rng.integers(1, rows + 1)), int(rng.integers(1, columns + 1)))
    return Grid(seed, product, cell, tuple(map(tuple, rng.integers(0, _VARIANTS, GRID).tolist())))


def paint_grid(grid: Grid, path: Path, scale: float = 1.0) -> None:
    """Write the grid as a PNG file of 16000 x 12800 pixels times `scale`."""
    size = Size(round(CELL.width * scale), round(CELL.height * scale))
    normal = [_cell(grid, size, str(variant), anomalous=False) for variant in range(_VARIANTS)]
    anomalous = _cell(grid, size, "anomalous", anomalous=True)
    rows, columns = GRID
    pixels = np.empty((rows * size.height, columns * size.width, 3), np.uint8)
    for row in range(rows):
        for column in range(columns):
            drawn = anomalous if grid.cell == (row + 1, column + 1) else normal[grid.variants[row][column]]
            top, left = row * size.height, column * size.width
            pixels[top : top + size.height, left : left + size.width] = drawn
    Canvas(pixels).write_png(path)


def _cell(grid: Grid, size: Size, name: str, *, anomalous: bool) -> Pixels:
    """Draw one product on its table at twice its size, reduce it, and add the table's grain."""
    rng = stream(grid.seed, "ad", grid.product.name, name)
    pen = Pen(*CELL, zoom=2 * size.width / CELL.width)
    pen.box(0, 0, *CELL, _TABLE)
    grid.product.draw(pen, rng, anomalous)
    pixels = np.asarray(within_headroom(pen.sheet.convert("RGB").reduce(2)))[: size.height, : size.width].copy()
    texture = grain(rng, 3, block=4)
    return pixels + np.tile(texture, (2, 2, 1))[: size.height, : size.width]
