"""Pyramids of painted scenes: any reader finds on every level what was painted, and equal tiles are stored once."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
import pyvips
from openslide import OpenSlide
from PIL import Image
from tifffile import TiffFile

from gigavqa.demo.painting import DrawnScene, FlatShape, ScenePainter, box
from gigavqa.demo.pyramids import TILE, write_pyramid
from gigavqa.tiling.geometry import Size

GREY, RED = (120, 124, 118), (204, 28, 32)
SCENE = DrawnScene(
    Size(4096, 2560),
    (
        box(0, 0, 4096, 2560, GREY),
        FlatShape("ellipse", RED, (700, 300, 2900, 2200)),
        FlatShape("polygon", (30, 30, 34), (100, 2500, 900, 1800, 1300, 2540)),
        box(3000, 77, 3333, 1999, (60, 62, 64)),
    ),
    (),
)


@cache
def painted() -> Image.Image:
    """Paint all of the scene, once."""
    return ScenePainter(SCENE).part(0, 0, SCENE.size)


@pytest.fixture(scope="module", params=[2, 4])
def step(request: pytest.FixtureRequest) -> int:
    """How much smaller a level is than the one before."""
    return int(request.param)


@pytest.fixture(scope="module")
def pyramid(tmp_path_factory: pytest.TempPathFactory, step: int) -> Path:
    """A scene as it is stored."""
    path = tmp_path_factory.mktemp("pyramid") / "scene.tif"
    write_pyramid(SCENE, path, step)
    return path


def test_every_level_is_the_mean_of_what_was_painted(pyramid: Path, step: int) -> None:
    """To a level of grey for each time that it was rounded."""
    whole = painted()
    with TiffFile(pyramid) as file:
        assert file.is_bigtiff and [page.is_reduced for page in file.pages] == [False, True]
        for level, page in enumerate(file.pages):
            wanted = whole.reduce(step**level) if level else whole
            assert np.abs(page.asarray().astype(int) - np.asarray(wanted)).max() <= level


def test_all_readers_see_the_same(pyramid: Path, step: int) -> None:
    """Tifffile, libvips and OpenSlide, in size and in pixels."""
    with TiffFile(pyramid) as file:
        pixels = file.pages[0].asarray()
    np.testing.assert_array_equal(pyvips.Image.new_from_file(str(pyramid)).numpy(), pixels)
    with OpenSlide(str(pyramid)) as slide:
        assert slide.level_dimensions == ((4096, 2560), (4096 // step, 2560 // step))
        part = slide.read_region((512, 256), 0, (900, 700)).convert("RGB")
    np.testing.assert_array_equal(np.asarray(part), pixels[256:956, 512:1412])


def test_equal_tiles_are_stored_once(pyramid: Path) -> None:
    """Tiles of one colour, and tiles along a straight edge, wherever they stand."""
    with TiffFile(pyramid) as file:
        page = file.pages[0]
        offsets = np.array(page.dataoffsets).reshape(2560 // TILE, 4096 // TILE)
    assert len(set(offsets[:, 0].tolist())) <= 4, "plain ground, and the polygon's corner"
    assert len(set(offsets[1:7, 3333 // TILE].tolist())) == 1, "a straight edge"
    assert len(set(offsets.ravel().tolist())) < offsets.size / 2


def test_parts_are_painted_as_the_whole_is() -> None:
    """Though what is hidden behind a tile's ground, or beside an ellipse, is left out."""
    whole = np.asarray(painted())
    for row, column in np.ndindex(SCENE.size.height // TILE, SCENE.size.width // TILE):
        part = np.asarray(ScenePainter(SCENE).part(column * TILE, row * TILE, Size(TILE, TILE)))
        area = whole[row * TILE : (row + 1) * TILE, column * TILE : (column + 1) * TILE]
        np.testing.assert_array_equal(part, area)


def test_small_round_shapes_are_stored_smoothly(tmp_path: Path) -> None:
    """A disc of three pixels is as heavy as it is, in shades, and not a block."""
    scene = DrawnScene(
        Size(2048, 2048), (box(0, 0, 2048, 2048, GREY), FlatShape("ellipse", RED, (500, 500, 503, 503))), ()
    )
    write_pyramid(scene, tmp_path / "disc.tif")
    with TiffFile(tmp_path / "disc.tif") as file:
        shown = (file.pages[0].asarray()[498:505, 498:505, 0].astype(float) - GREY[0]) / (RED[0] - GREY[0])
    assert shown.sum() == pytest.approx(np.pi * 1.5**2, rel=0.05)
    assert 0.3 < shown[2, 2] < 0.9, "a corner, which the disc fills in part"


def test_zoom_paints_means_of_smaller_pixels() -> None:
    """As if a larger painting had been reduced."""
    zoomed = ScenePainter(SCENE).part(100, 50, Size(200, 150), 0.1, zoom=4)
    larger = ScenePainter(SCENE).part(400, 200, Size(800, 600), 0.4)
    reduced = larger.resize((200, 150), Image.Resampling.BOX)
    np.testing.assert_allclose(np.asarray(zoomed, int), np.asarray(reduced, int), atol=1)
