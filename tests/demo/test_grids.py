"""The grids' pictures: one cell breaks the rule of its product, and no other cell does."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from gigavqa.benchmarks.ultravr.wording import grid_wording
from gigavqa.demo.ultravr.ad.breakfast_box import NECTARINE, TANGERINE
from gigavqa.demo.ultravr.ad.grid import paint_grid, plan_grid
from gigavqa.demo.ultravr.ad.products import CELL, GRID, PRODUCTS
from gigavqa.demo.ultravr.ad.pushpins import NEEDLE
from tests.demo.conftest import SEED
from tests.demo.pictures import read_pixels, share_of_color

pytestmark = pytest.mark.slow

SCALE = 0.5


def _cells(index: int, folder: Path) -> tuple[dict[tuple[int, int], NDArray[np.int16]], tuple[int, int]]:
    grid = plan_grid(SEED, PRODUCTS[index])
    paint_grid(grid, folder / "grid.png", SCALE)
    pixels = read_pixels(folder / "grid.png")
    rows, columns = GRID
    height, width = pixels.shape[0] // rows, pixels.shape[1] // columns
    cells = {
        (row + 1, column + 1): pixels[row * height : (row + 1) * height, column * width : (column + 1) * width]
        for row in range(rows)
        for column in range(columns)
    }
    return cells, grid.cell


def test_one_breakfast_box_alone_lacks_a_tangerine(tmp_path: Path) -> None:
    """The annotated cell has half the orange and twice the red of every other cell."""
    cells, anomalous = _cells(0, tmp_path)
    orange = {cell: share_of_color(pixels, TANGERINE, 22) for cell, pixels in cells.items()}
    red = {cell: share_of_color(pixels, NECTARINE, 18) for cell, pixels in cells.items()}
    normal_orange = float(np.median(list(orange.values())))
    normal_red = float(np.median(list(red.values())))
    assert [cell for cell, share in orange.items() if share < 0.75 * normal_orange] == [anomalous]
    assert [cell for cell, share in red.items() if share > 1.5 * normal_red] == [anomalous]


def test_one_box_of_pushpins_alone_has_a_broken_needle(tmp_path: Path) -> None:
    """In the annotated cell one compartment has hardly any needle; in every other cell all fifteen have theirs."""
    cells, anomalous = _cells(1, tmp_path)
    broken = {cell: _compartments_without_needle(pixels) for cell, pixels in cells.items()}
    assert {cell: count for cell, count in broken.items() if count} == {anomalous: 1}


def _compartments_without_needle(pixels: NDArray[np.int16]) -> int:
    scale = pixels.shape[1] / CELL.width
    missing = 0
    for row in range(3):
        for column in range(5):
            left, top = round((75 + 290 * column) * scale), round((95 + 363 * row) * scale)
            inside = pixels[top + 6 : top + round(363 * scale) - 6, left + 6 : left + round(290 * scale) - 6]
            missing += int((np.abs(inside - np.array(NEEDLE)) <= 30).all(axis=-1).sum() < 150)
    return missing


@pytest.mark.parametrize("product", PRODUCTS, ids=lambda product: product.name)
def test_every_violated_condition_is_one_of_the_product(product: object) -> None:
    """A grid violates at least one condition of its product, and not all."""
    (chosen,) = [candidate for candidate in PRODUCTS if candidate is product]
    conditions = grid_wording().products[chosen.name].conditions
    assert chosen.violated and chosen.violated < set(range(len(conditions)))


def test_the_full_size_is_the_papers() -> None:
    """16000 x 12800 pixels of ten by ten cells."""
    assert (CELL, GRID) == ((1600, 1280), (10, 10))


def test_the_anomaly_moves_with_the_seed() -> None:
    """Its place is drawn, inside the grid, and differs between seeds."""
    places = {plan_grid(seed, PRODUCTS[0]).cell for seed in range(30)}
    assert len(places) > 15
    assert all(1 <= row <= 10 and 1 <= column <= 10 for row, column in places)
