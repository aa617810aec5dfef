"""The slide opens as a whole-slide image, and shows each material where the annotation says."""

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import openslide
import pytest
from PIL import Image, ImageDraw

from gigavqa.demo.ultravr.wsi.pyramid import TILE
from gigavqa.demo.ultravr.wsi.questions import FOCI, IN_SITU, SlideFindings, draw_questions
from gigavqa.demo.ultravr.wsi.samples import IMAGE, slide_records
from gigavqa.demo.ultravr.wsi.scene import GRID, MATERIALS, SIZE, STEP, Slide, plan_slide
from gigavqa.demo.ultravr.wsi.textures import BACKGROUND, paint_materials
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


@pytest.mark.slow
def test_every_material_has_its_color_where_it_is_laid(slide: Slide, opened: openslide.OpenSlide) -> None:
    """Deep inside each material the mean color is that of its patch, which differs from the others'."""
    colors = {name: patch.mean(axis=(0, 1)) for name, patch in paint_materials(SEED).items()}
    laid = slide.materials()
    for name in ("background", "stroma", "invasive", "nest"):
        row, column = _deepest(laid == MATERIALS.index(name), radius=6)
        x, y = (round((value + 0.5) * STEP * SCALE) for value in (column, row))
        seen = np.asarray(opened.read_region((x - 32, y - 32), 0, (64, 64)).convert("RGB")).mean(axis=(0, 1))
        distances = {other: float(np.abs(seen - color).max()) for other, color in colors.items()}
        assert min(distances, key=lambda other: distances[other]) == name, (name, distances)


def _deepest(inside: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], radius: int) -> tuple[int, int]:
    """A value around which all others within `radius` lie inside."""
    side = 2 * radius + 1
    for axis in (0, 1):
        kept = inside.shape[axis] - side + 1
        inside = np.logical_and.reduce([inside.take(range(at, at + kept), axis) for at in range(side)])
    row, column = np.argwhere(inside)[0]
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


@pytest.mark.parametrize("level", range(len(FOCI)))
def test_the_invasive_component_lies_as_the_findings_say(level: int) -> None:
    """One piece; one with a speck beside it; one with a smaller one; or three of about one size."""
    slide = _slide_with(lambda findings: findings.foci == level)
    pieces = _pieces(slide, "invasive", "high grade")
    assert len(pieces) == (1, 2, 2, 3)[level]
    apart = 1 - pieces[0] / sum(pieces)
    least, most = ((0, 0), (0.01, 0.12), (0.15, 0.45), (0.5, 1))[level]
    assert least <= apart <= most


@pytest.mark.parametrize("level", range(len(IN_SITU)))
def test_the_in_situ_component_is_as_large_as_the_findings_say(level: int) -> None:
    """No nest, one, a group of them in one cell, or so many that they cover an area like the invasive component."""
    slide = _slide_with(lambda findings: findings.in_situ == level)
    nests = _pieces(slide, "nest", "necrosis")
    least, most = ((0, 0), (1, 1), (5, 6), (10, 14))[level]
    assert least <= len(nests) <= most
    share = sum(nests) / sum(_pieces(slide, "invasive", "high grade"))
    assert (share > 0.3) == (level == 3)
    assert slide.rois("nest", 0.0001) == [slide.site] or level in {0, 3}


@pytest.mark.parametrize("finding", ["high_grade", "glands"])
def test_what_is_found_is_there_and_what_is_not_is_not(finding: str) -> None:
    """The hotspot and the glands are drawn exactly where the findings name them."""
    material = {"high_grade": "high grade", "glands": "gland"}[finding]
    for value in (False, True):
        slide = _slide_with(lambda findings, value=value: getattr(findings, finding) == value)
        assert bool((slide.materials() == MATERIALS.index(material)).any()) == value


@pytest.mark.parametrize("seed", range(6))
def test_evidence_lies_in_cells_of_the_grid(seed: int) -> None:
    """Every question names cells to look at, and some cell of the invasive component is one of them."""
    slide = plan_slide(seed)
    own_file, flat = slide_records(slide)
    for record in [*own_file["categories"].values(), *flat]:
        rois = record["evidence"]["rois"]
        assert all(1 <= roi <= GRID * GRID for roi in rois)
        assert set(rois) & set(slide.rois("invasive", 0.2))


def _slide_with(wanted: Callable[[SlideFindings], bool]) -> Slide:
    """The slide of the first seed whose findings are wanted."""
    return plan_slide(next(seed for seed in count() if wanted(draw_questions(seed).findings)))


def _pieces(slide: Slide, *materials: str) -> list[int]:
    """Sizes of the connected pieces of the materials, the largest first, at a third of the fields' detail."""
    left = np.isin(slide.materials(), [MATERIALS.index(name) for name in materials])[::3, ::3]
    sizes: list[int] = []
    while left.any():
        piece = _connected(left)
        left = left & ~piece
        sizes.append(int(piece.sum()))
    return sorted((size for size in sizes if size >= 0.002 * sum(sizes)), reverse=True)


def _connected(inside: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """The piece that holds the first value inside."""
    sheet = Image.fromarray(inside.astype(np.uint8) * 255).copy()  # an array's own memory is not written to
    row, column = np.argwhere(inside)[0]
    ImageDraw.floodfill(sheet, (int(column), int(row)), 128)
    return np.asarray(sheet) == 128
