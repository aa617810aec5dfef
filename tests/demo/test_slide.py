"""The slide opens as a whole-slide image, and shows each material where the annotation says."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import openslide
import pytest

from demo.wsi.pyramid import TILE
from demo.wsi.samples import IMAGE
from demo.wsi.scene import GRID, MATERIALS, SIZE, STEP, Slide, plan_slide
from demo.wsi.textures import BACKGROUND, paint_materials
from tests.demo.conftest import SCALE, SEED


@pytest.fixture(scope="module")
def slide() -> Slide:
    """The layout of the data set's slide."""
    return plan_slide(SEED)


@pytest.fixture(scope="module")
def opened(demo_folder: Path) -> Iterator[openslide.OpenSlide]:
    """The slide's file."""
    with openslide.OpenSlide(str(demo_folder / IMAGE)) as file:
        yield file


def test_openslide_reads_a_pyramid_with_microns(opened: openslide.OpenSlide) -> None:
    """A generic tiled TIFF with x2 levels in tiles of 512, a quarter of a micron a pixel."""
    assert opened.properties["openslide.vendor"] == "generic-tiff"
    assert opened.level_dimensions[:3] == ((6000, 4000), (3000, 2000), (1500, 1000))
    assert float(opened.properties["openslide.mpp-x"]) == pytest.approx(0.25)
    assert int(opened.properties["openslide.level[0].tile-width"]) == TILE


def test_the_full_size_is_the_papers() -> None:
    """60000 x 40000 pixels, 2.4 gigapixels."""
    assert SIZE == (60000, 40000)
    assert SIZE.area == 2_400_000_000


def test_every_material_has_its_color_where_it_is_laid(slide: Slide, opened: openslide.OpenSlide) -> None:
    """Deep inside each material the mean color is that of its patch, which differs from the others'."""
    patches = paint_materials(SEED)
    laid = slide.materials()
    for name in ("background", "stroma", "invasive", "high grade"):
        row, column = _deepest(laid == MATERIALS.index(name), radius=6)
        x, y = (round((value + 0.5) * STEP * SCALE) for value in (column, row))
        seen = np.asarray(opened.read_region((x - 32, y - 32), 0, (64, 64)).convert("RGB")).mean(axis=(0, 1))
        distances = {other: float(np.abs(seen - patch.mean(axis=(0, 1))).max()) for other, patch in patches.items()}
        assert min(distances, key=lambda other: distances[other]) == name, (name, distances)


def _deepest(inside: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], radius: int) -> tuple[int, int]:
    """A value around which all others within `radius` lie inside."""
    windows = np.lib.stride_tricks.sliding_window_view(inside, (2 * radius + 1, 2 * radius + 1)).all(axis=(2, 3))
    row, column = np.argwhere(windows)[0]
    return int(row) + radius, int(column) + radius


def test_between_the_pieces_of_tissue_is_background(opened: openslide.OpenSlide) -> None:
    """The corners are plain and nearly white."""
    for corner in ((0, 0), (5900, 0), (0, 3900), (5900, 3900)):
        seen = np.asarray(opened.read_region(corner, 0, (64, 64)).convert("RGB")).astype(int)
        assert np.abs(seen - np.array(BACKGROUND)).max() <= 3


def test_levels_show_the_same_picture(opened: openslide.OpenSlide) -> None:
    """Level 1 is level 0 reduced by two, but for what JPEG loses and the noise of outlines."""
    wide = opened.read_region((1500, 1500), 0, (2048, 1024)).convert("RGB").reduce(2)
    narrow = opened.read_region((1500, 1500), 1, (1024, 512)).convert("RGB")
    difference = np.abs(np.asarray(wide).astype(int) - np.asarray(narrow).astype(int))
    assert difference.mean() < 4


@pytest.mark.parametrize("seed", range(6))
def test_the_components_lie_in_cells_of_the_grid(seed: int) -> None:
    """The nests and the hotspot each lie in one cell, outside each other's; the invasive mass fills several."""
    slide = plan_slide(seed)
    nests, hotspot, invasive = slide.rois("nest", 0.08), slide.rois("high grade", 0.1), slide.rois("invasive", 0.2)
    assert len(nests) == len(hotspot) == 1
    assert nests != hotspot
    assert len(invasive) >= 4
    assert all(1 <= roi <= GRID * GRID for roi in (*nests, *hotspot, *invasive))


@pytest.mark.parametrize("seed", range(6))
def test_growth_is_drawn_as_one_mass(seed: int) -> None:
    """What is asked about as unifocal is one connected focus."""
    laid = plan_slide(seed).materials()
    tumor = (laid == MATERIALS.index("invasive")) | (laid == MATERIALS.index("high grade"))
    assert _largest_share(tumor) > 0.97


def _largest_share(inside: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> float:
    """Share of the values that can be reached from the middle of the mass."""
    rows, columns = np.nonzero(inside)
    start = np.argmin((rows - rows.mean()) ** 2 + (columns - columns.mean()) ** 2)
    reached = np.zeros_like(inside)
    reached[rows[start], columns[start]] = True
    while True:
        grown = reached.copy()
        for shift, axis in ((1, 0), (-1, 0), (1, 1), (-1, 1)):
            grown |= np.roll(reached, shift, axis)
        grown &= inside
        if (grown == reached).all():
            return float(reached.sum() / inside.sum())
        reached = grown
