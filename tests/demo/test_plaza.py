"""The plaza's picture shows what its annotation says."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from gigavqa.benchmarks.ultravr.taxonomy import QUADRANTS
from gigavqa.demo.ultravr.cctv.figures import KINDS
from gigavqa.demo.ultravr.cctv.paint import paint_plaza
from gigavqa.demo.ultravr.cctv.scene import BRIGHT, FOUNTAIN, SIZE, Plaza, PlazaFigure, plan_plaza
from gigavqa.demo.ultravr.placing import PixelBox
from tests.demo.conftest import SEED
from tests.demo.pictures import cut, read_pixels, share_of_color

SCALE = 0.3


@pytest.fixture(scope="module")
def plaza() -> Plaza:
    """The plaza of the data set."""
    return plan_plaza(SEED)


@pytest.fixture(scope="module")
def pixels(plaza: Plaza, tmp_path_factory: pytest.TempPathFactory) -> NDArray[np.int16]:
    """Its picture, large enough that clothing can be told."""
    path = tmp_path_factory.mktemp("plaza") / "plaza.jpg"
    paint_plaza(plaza, path, SCALE)
    return read_pixels(path)


def _upper_body(figure: PlazaFigure) -> PixelBox:
    x1, y1, x2, y2 = figure.box
    width, height = x2 - x1, y2 - y1
    return PixelBox(x1 + 0.35 * width, y1 + 0.28 * height, x2 - 0.35 * width, y1 + 0.5 * height)


def test_each_named_person_wears_the_named_color(plaza: Plaza, pixels: NDArray[np.int16]) -> None:
    """The upper body of each person whom a question describes by clothing has that color."""
    named = [figure for figure in plaza.figures if figure.clothing and figure.facing != "backward"]
    assert len(named) >= 3
    for figure in named:
        seen = np.median(cut(pixels, _upper_body(figure), SCALE), axis=(0, 1))
        assert np.abs(seen - BRIGHT[figure.clothing or ""]).max() < 60, figure


def test_nobody_else_wears_a_named_color(plaza: Plaza) -> None:
    """A description by clothing names one person of the whole image."""
    for color in BRIGHT.values():
        assert len([figure for figure in plaza.figures if figure.look.upper == color]) == 1


def test_every_box_holds_a_figure_and_its_surroundings_none(plaza: Plaza, pixels: NDArray[np.int16]) -> None:
    """Inside each box the picture differs from the ground above it; the ground above is plain."""
    for figure in plaza.figures:
        x1, y1, x2, _ = figure.box
        above = cut(pixels, PixelBox(x1, y1 - 44, x2, y1 - 8), SCALE)
        ground = np.median(above, axis=(0, 1))
        different = (np.abs(cut(pixels, figure.box, SCALE) - ground).max(axis=-1) > 40).mean()
        assert different > 0.15, figure
        assert (np.abs(above - ground).max(axis=-1) > 60).mean() < 0.2, figure


def test_an_empty_place_shows_paving_alone(pixels: NDArray[np.int16]) -> None:
    """Where nobody is annotated the ground is even."""
    spot = cut(pixels, PixelBox(FOUNTAIN.x1 - 1500, FOUNTAIN.y2 + 900, FOUNTAIN.x1 - 1350, FOUNTAIN.y2 + 1000), SCALE)
    assert share_of_color(spot, tuple(np.median(spot, axis=(0, 1)).tolist()), 40) == 1.0


@pytest.mark.parametrize("seed", range(8))
def test_figures_stand_apart_inside_their_quadrants(seed: int) -> None:
    """No two boxes touch, none leaves the image, and none lies near a boundary of quadrants."""
    figures = plan_plaza(seed).figures
    for index, figure in enumerate(figures):
        x, y = figure.box.center
        assert figure.box.x1 >= 0 and figure.box.x2 <= SIZE.width
        assert figure.box.y1 >= 0 and figure.box.y2 <= SIZE.height
        assert figure.box.quadrant(SIZE) == figure.quadrant
        assert abs(x - SIZE.width / 2) > 200 and abs(y - SIZE.height / 2) > 100
        assert not any(figure.box.overlaps(other.box) for other in figures[index + 1 :])


@pytest.mark.parametrize("seed", range(8))
def test_every_extreme_is_unique(seed: int) -> None:
    """For each kind, one quadrant alone has the most and one alone the fewest."""
    plaza = plan_plaza(seed)
    for kind in KINDS:
        counts = sorted(len(plaza.of(kind, quadrant)) for quadrant in QUADRANTS)
        assert counts[0] < counts[1] and counts[2] < counts[3], kind


def test_figures_are_small_beside_the_image() -> None:
    """At full size every figure is tens to about three hundred pixels high, lost in any thumbnail."""
    heights = [figure.box.y2 - figure.box.y1 for figure in plan_plaza(SEED).figures]
    assert min(heights) > 30 and max(heights) < 310


def test_the_full_size_is_the_papers(tmp_path: Path) -> None:
    """26753 x 15052 pixels, scaled in proportion."""
    paint_plaza(plan_plaza(SEED), tmp_path / "plaza.jpg", 0.02)
    assert SIZE == (26753, 15052)
    assert read_pixels(tmp_path / "plaza.jpg").shape == (301, 535, 3)
