"""A level is believed where it shows the mean of the image, whoever made it, and nowhere else."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import pyvips
import tifffile
from PIL import Image

from gigavqa.tiling.file_facts import cached_read_plan, cached_remarks
from gigavqa.tiling.levels import LARGE_PIXELS
from gigavqa.tiling.rendering import render
from gigavqa.tiling.views import View
from tests.tiling.pictures import SMALL_BUDGET, Pixels, lined, noisy, psnr, save_pyramid, written

WIDTH, HEIGHT = 4224, 3968  # multiples of 128, so that every way to halve gives the same sizes
assert WIDTH * HEIGHT >= LARGE_PIXELS
page = cache(written)
"""Of type, which is drawn once."""
CONTENTS: dict[str, Callable[[int, int, int], Pixels]] = {"text": page, "lines": lined, "noise": noisy}
FULL = View(image="x")
Halve = Callable[[Pixels, int], Pixels]


def resized(filter: Image.Resampling) -> Halve:
    """Pillow's resize of all that is finer by so much."""
    return lambda pixels, factor: np.asarray(
        Image.fromarray(pixels).resize((pixels.shape[1] // factor, pixels.shape[0] // factor), filter)
    )


def averaged(pixels: Pixels, factor: int) -> Pixels:
    """Means of squares."""
    return np.asarray(Image.fromarray(pixels).reduce(factor))


def lying_beside(pixels: Pixels, factor: int) -> Pixels:
    """Means of squares that begin half a square too early."""
    return averaged(np.roll(pixels, factor // 2, axis=(0, 1)), factor)


LEGITIMATE: dict[str, Halve] = {
    "mean": averaged,
    "lanczos": resized(Image.Resampling.LANCZOS),
    "bicubic": resized(Image.Resampling.BICUBIC),
    "triangle": resized(Image.Resampling.BILINEAR),
    "hamming": resized(Image.Resampling.HAMMING),
}
WRONG: dict[str, Halve] = {
    "nearest": resized(Image.Resampling.NEAREST),
    "strided": lambda pixels, factor: pixels[::factor, ::factor],
    "beside": lying_beside,
    "upside down": lambda pixels, factor: averaged(pixels[::-1, ::-1], factor),
}


def save_levels(path: Path, levels: list[Pixels], *, jpeg_quality: int = 0, **options: object) -> Path:
    """Tiled pages one behind the other, all but the first reduced ones, unless `options` say otherwise."""
    coded = {"compression": "jpeg", "compressionargs": {"level": jpeg_quality}} if jpeg_quality else {}
    with tifffile.TiffWriter(path) as writer:
        for number, pixels in enumerate(levels):
            of_level = {"subfiletype": 1, **options} if number else {}
            writer.write(pixels, tile=(256, 256), photometric="rgb", metadata=None, **coded, **of_level)
    return path


@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize("factor", [2, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("jpeg_quality", [0, pytest.param(75, marks=pytest.mark.slow)])
class TestComparison:
    """Whatever is to be seen, however far apart levels are, and however they are compressed."""

    @pytest.mark.parametrize("maker", LEGITIMATE)
    def test_levels_of_a_resize_are_believed(
        self, tmp_path: Path, content: str, factor: int, jpeg_quality: int, maker: str
    ) -> None:
        """Sharper or softer than the mean."""
        pixels = CONTENTS[content](1536, 1280, 0)
        half = LEGITIMATE[maker](pixels, factor)
        path = save_levels(tmp_path / "a.tif", [pixels, half, LEGITIMATE[maker](half, 2)], jpeg_quality=jpeg_quality)
        assert len(cached_read_plan(path).found) == 3
        assert cached_read_plan(path).remarks == ()

    @pytest.mark.parametrize("maker", WRONG)
    def test_levels_that_show_something_else_are_not(
        self, tmp_path: Path, content: str, factor: int, jpeg_quality: int, maker: str
    ) -> None:
        """Pixels left out, a shift by half a pixel, or another image."""
        pixels = CONTENTS[content](1536, 1280, 0)
        path = save_levels(tmp_path / "a.tif", [pixels, WRONG[maker](pixels, factor)], jpeg_quality=jpeg_quality)
        assert len(cached_read_plan(path).found) == 1
        (remark,) = cached_read_plan(path).remarks
        assert "gigavqa ingest" in remark


@pytest.mark.parametrize("jpeg_quality", [0, 75])
def test_another_page_of_small_type_in_the_same_lines_is_told_at_a_quarter(tmp_path: Path, jpeg_quality: int) -> None:
    """Where lines are stripes of grey that both pages have in common."""
    one, other = (page(1536, 1280, seed, type_size=10) for seed in range(2))
    for level, count in ((one, 2), (other, 1)):
        path = save_levels(tmp_path / f"{count}.tif", [one, averaged(level, 4)], jpeg_quality=jpeg_quality)
        assert len(cached_read_plan(path).found) == count


def test_noise_of_which_jpeg_left_little_is_believed(tmp_path: Path) -> None:
    """At quality 30, four to one, two thirds of what is left of it are the loss."""
    noise = noisy(1536, 1280)
    path = save_levels(tmp_path / "a.tif", [noise, LEGITIMATE["triangle"](noise, 4)], jpeg_quality=30)
    assert len(cached_read_plan(path).found) == 2


@pytest.mark.parametrize("shrink", ["mean", "nearest"])
@pytest.mark.parametrize("in_subifds", [True, False])
def test_levels_that_libvips_made_by_averaging_are_believed_and_others_are_not(
    tmp_path: Path, shrink: str, *, in_subifds: bool
) -> None:
    """Its tag says that they are reduced, either way."""
    path = tmp_path / "a.tif"
    options = {"tile": True, "pyramid": True, "compression": "deflate", "subifd": in_subifds}
    pyvips.Image.new_from_array(page(1501, 1203)).tiffsave(str(path), region_shrink=shrink, **options)
    assert (len(cached_read_plan(path).found) > 1) is (shrink == "mean")


@pytest.mark.parametrize("options", [{"subfiletype": 0}, {"subfiletype": 1}, {"subfiletype": 2}, {"subfiletype": 3}])
def test_another_page_of_the_same_shape_is_never_shown_for_the_first(tmp_path: Path, options: dict[str, int]) -> None:
    """A sheet scanned at half the resolution, whatever its tag says of it."""
    first, other = page(WIDTH, HEIGHT, 0), page(WIDTH // 2, HEIGHT // 2, 1)
    path = save_levels(tmp_path / "sheets.tif", [first, other], **options)
    raster = render(path, FULL, SMALL_BUDGET)
    size = raster.pixels.shape[1::-1]
    assert psnr(raster.pixels, np.asarray(Image.fromarray(first).resize(size, Image.Resampling.BICUBIC))) > 45
    assert cached_remarks(path)


APERIO = "Aperio Image Library v11.2.1 \r\n1536x1280 [0,0 1536x1280] (256x256) JPEG/RGB Q=70|AppMag = 20|MPP = 0.5"


@pytest.mark.parametrize(
    ("of_first", "of_second", "is_level"),
    [
        ({}, {"subfiletype": 0}, False),
        ({}, {"extratags": [(255, "H", 1, 1, True)], "subfiletype": 0}, False),
        ({}, {"subfiletype": 1}, True),
        ({}, {"extratags": [(255, "H", 1, 2, True)], "subfiletype": 0}, True),
        ({"description": APERIO}, {"subfiletype": 0}, True),
        ({"subifds": 1}, {"subfiletype": 0}, True),
    ],
    ids=["untold", "full", "reduced", "reduced of old", "Aperio's", "below the first"],
)
def test_a_page_is_a_level_where_it_says_so_or_its_format_does(
    tmp_path: Path, of_first: dict[str, object], of_second: dict[str, object], *, is_level: bool
) -> None:
    """However alike it is: a sheet's second page may be the first one with a date, at half its size."""
    pixels, path = page(1536, 1280), tmp_path / "a.tif"
    with tifffile.TiffWriter(path) as writer:
        for level, options in ((pixels, of_first), (averaged(pixels, 2), of_second)):
            writer.write(level, tile=(256, 256), photometric="rgb", metadata=None, **options)
    assert (len(cached_read_plan(path).found) == 2) is is_level
    assert any("1 more image" in remark for remark in cached_remarks(path)) is not is_level


def test_a_blank_image_cannot_tell_and_is_believed(tmp_path: Path) -> None:
    """One colour is its own mean, and its own nearest neighbour."""
    blank = np.full((1280, 1536, 3), 200, np.uint8)
    assert len(cached_read_plan(save_levels(tmp_path / "a.tif", [blank, blank[::2, ::2]], jpeg_quality=75)).found) == 2


def test_what_little_there_is_to_see_is_found(tmp_path: Path) -> None:
    """A word in the corner of a blank sheet, of which the level shows another one."""
    sheets = [np.full((2048, 2048, 3), 255, np.uint8) for _ in range(2)]
    for number, sheet in enumerate(sheets):
        sheet[1900:1960, 1700:1900] = page(200, 60, number)
    path = save_levels(tmp_path / "a.tif", [sheets[0], averaged(sheets[1], 2)], compression="zlib")
    assert len(cached_read_plan(path).found) == 1


def test_a_pyramid_of_pixels_left_out_is_halved_anew(tmp_path: Path) -> None:
    """A chessboard of single pixels is grey, not black."""
    board = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    board[::2, 1::2] = board[1::2, ::2] = 255
    path = save_levels(tmp_path / "board.tif", [board, board[::2, ::2], board[::4, ::4]], subfiletype=1)
    assert np.abs(render(path, FULL, SMALL_BUDGET).pixels.astype(int) - 127).max() <= 1


def test_a_believed_level_is_read_and_the_pixels_are_near(tmp_path: Path) -> None:
    """Text keeps 45 dB of what Pillow makes of the whole."""
    pixels = page(WIDTH, HEIGHT, 0)
    path = save_pyramid(pixels, tmp_path / "a.tif")
    raster = render(path, FULL, SMALL_BUDGET)
    assert raster.level > 0
    size = raster.pixels.shape[1::-1]
    assert psnr(raster.pixels, np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.BICUBIC))) >= 45


def test_damage_in_a_level_makes_it_no_other_image(tmp_path: Path) -> None:
    """Where nothing can be compared, a level is not believed; where something can, damage tells nothing."""
    pixels = page(1536, 1280, 0)
    path = save_pyramid(pixels, tmp_path / "a.tif")
    with tifffile.TiffFile(path) as file:
        level = file.pages[1]
        offset, count = level.dataoffsets[3], level.databytecounts[3]
    content = bytearray(path.read_bytes())
    content[offset : offset + count] = bytes(count)
    path.write_bytes(content)
    assert len(cached_read_plan(path).found) > 1


@pytest.mark.parametrize("compression", [None, "zlib"])
def test_a_small_drawing_on_a_blank_sheet_is_told_from_another(tmp_path: Path, compression: str | None) -> None:
    """Wherever it is, and though nothing is encoded that would tell where."""
    sheet, level = (np.full((3072 // factor, 4096 // factor, 3), 255, np.uint8) for factor in (1, 2))
    for number in range(12):
        draw = np.random.default_rng(number)
        x, y = (int(draw.integers(0, end)) // 2 * 2 for end in (4096 - 300, 3072 - 200))
        one, other = (page(300, 200, 2 * number + seed) for seed in range(2))
        there, halved = np.s_[y : y + 200, x : x + 300], np.s_[y // 2 : y // 2 + 100, x // 2 : x // 2 + 150]
        sheet[there], level[halved] = one, averaged(other, 2)
        path = save_levels(tmp_path / f"{number}.tif", [sheet, level], compression=compression)
        assert len(cached_read_plan(path).found) == 1
        sheet[there], level[halved] = 255, 255


def test_a_level_that_lacks_tiles_is_not_believed(tmp_path: Path) -> None:
    """Tiles that a writer left out would be black where the image is not."""
    pixels = page(1536, 1280, 0)
    path = save_levels(tmp_path / "a.tif", [pixels, averaged(pixels, 2)])
    with tifffile.TiffFile(path, mode="r+b") as file:
        tag = file.pages[1].tags["TileByteCounts"]
        tag.overwrite([0, *tag.value[1:]])
    (remark,) = cached_read_plan(path).remarks
    assert "lacks tiles" in remark
