"""The regions that hold a question's local evidence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gigavqa.benchmarks.ultravr.evidence import QUADRANTS, block_at, draw_block, quadrant_region, roi_region
from gigavqa.tiling.errors import RegionError
from gigavqa.tiling.geometry import Region, Size, grid_region

SIZES = st.builds(Size, st.integers(10, 100_000), st.integers(10, 100_000))


@given(SIZES)
def test_quadrants_divide_the_image(size: Size) -> None:
    """Without gap or overlap, also where a side is odd."""
    assert sum(quadrant_region(size, name).size.area for name in QUADRANTS) == size.area
    lower_right = quadrant_region(size, "lower-right")
    assert lower_right.x + lower_right.width == size.width
    assert lower_right.y + lower_right.height == size.height


def test_a_quadrant_is_named_by_its_corner() -> None:
    """Upper-right is right of the middle and above it."""
    assert quadrant_region(Size(1001, 501), "upper-right") == Region(500, 0, 501, 250)


@given(SIZES, st.integers(1, 10), st.integers(1, 10))
def test_grid_cells_touch_their_neighbours(size: Size, row: int, column: int) -> None:
    """A cell ends where the next one begins."""
    cell = grid_region(size, (row, column), (10, 10))
    if column < 10:
        assert cell.x + cell.width == grid_region(size, (row, column + 1), (10, 10)).x
    if row < 10:
        assert cell.y + cell.height == grid_region(size, (row + 1, column), (10, 10)).y


@pytest.mark.parametrize(("index", "row", "column"), [(1, 1, 1), (6, 1, 6), (7, 2, 1), (31, 6, 1), (36, 6, 6)])
def test_slide_regions_are_numbered_row_by_row(index: int, row: int, column: int) -> None:
    """ROI 6 is the top right, ROI 31 the bottom left (UltraVR, appendix F)."""
    size = Size(60000, 40001)
    assert roi_region(size, index) == grid_region(size, (row, column), (6, 6))


@given(SIZES, st.integers(1, 10), st.integers(1, 10), st.text(max_size=5))
def test_a_sheet_contains_its_cell_and_lies_on_the_grid(size: Size, row: int, column: int, seed: str) -> None:
    """Five by five whole cells, the cell among them."""
    sheet = draw_block(size, (row, column), seed)
    first = grid_region(size, (sheet.first_row, sheet.first_column), (10, 10))
    last = grid_region(size, (sheet.first_row + 4, sheet.first_column + 4), (10, 10))
    right, bottom = last.x + last.width, last.y + last.height
    assert sheet.region == Region(first.x, first.y, right - first.x, bottom - first.y)
    assert sheet.first_row <= row <= sheet.first_row + 4
    assert sheet.first_column <= column <= sheet.first_column + 4


def test_a_sheets_place_depends_on_the_seed_alone() -> None:
    """The same seed gives the same sheet, and the seeds together reach every place that contains the cell."""
    size = Size(1000, 1000)
    assert draw_block(size, (5, 5), "a") == draw_block(size, (5, 5), "a")
    sheets = [draw_block(size, (5, 5), str(seed)) for seed in range(400)]
    assert {(sheet.first_row, sheet.first_column) for sheet in sheets} == {
        (r, c) for r in range(1, 6) for c in range(1, 6)
    }


@pytest.mark.parametrize(
    "ask",
    [
        lambda: quadrant_region(Size(10, 10), "middle"),
        lambda: roi_region(Size(100, 100), 37),
        lambda: roi_region(Size(100, 100), 0),
        lambda: grid_region(Size(100, 100), (11, 1), (10, 10)),
        lambda: grid_region(Size(5, 5), (1, 1), (10, 10)),
        lambda: draw_block(Size(100, 100), (0, 3), "seed"),
        lambda: draw_block(Size(100, 100), (1, 3), "seed", sheet=(11, 5)),
        lambda: block_at(Size(100, 100), (7, 1)),
    ],
)
def test_evidence_outside_the_image_is_an_error(ask: object) -> None:
    """Unknown quadrants, cells beyond the grid, cells without pixels."""
    assert callable(ask)
    with pytest.raises(RegionError):
        ask()
