"""Resizing in bands gives what Pillow gives for the whole picture."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from gigavqa.tiling.geometry import Size
from gigavqa.tiling.resampling import Box, Resizer, whole_box
from tests.tiling.pictures import Pixels, psnr, size_of, textured

PICTURE = textured(613, 487)


def in_bands(pixels: Pixels, heights: list[int]) -> Iterator[Pixels]:
    """Cut a picture into bands of these heights in turn."""
    top = index = 0
    while top < pixels.shape[0]:
        yield pixels[top : top + heights[index % len(heights)]]
        top += heights[index % len(heights)]
        index += 1


def resized(pixels: Pixels, heights: list[int], box: Box, target: Size, filter: str = "bicubic") -> Pixels:
    """The whole result of resizing in bands."""
    resizer = Resizer(size_of(pixels), box, target, filter)
    return np.concatenate([rows for band in in_bands(pixels, heights) for rows in resizer.push(band)])


def by_pillow(pixels: Pixels, box: Box, target: Size, filter: Image.Resampling) -> Pixels:
    """Pillow's resize of the whole picture."""
    return np.asarray(Image.fromarray(pixels).resize(target, filter, box=box))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(1, 200), min_size=1, max_size=4),
    st.integers(1, 900),
    st.integers(1, 900),
    st.floats(0, 100),
    st.floats(0, 100),
)
def test_bands_of_any_height_give_pillows_pixels(
    heights: list[int], width: int, height: int, left: float, top: float
) -> None:
    """Up or down, from whole or fractional boxes; what differs is a rounding here and there."""
    box, target = Box(left, top, 613 - left / 3, 487 - top / 3), Size(width, height)
    pixels = resized(PICTURE, heights, box, target)
    assert size_of(pixels) == target
    assert psnr(pixels, by_pillow(PICTURE, box, target, Image.Resampling.BICUBIC)) > 50


@pytest.mark.parametrize("target", [Size(900, 700), Size(613, 300), Size(613, 487), Size(5000, 2)])
def test_without_a_narrower_width_the_pixels_are_pillows(target: Size) -> None:
    """The vertical pass is Pillow's own, whatever the bands: its 32-bit positions may turn a rounding, no more."""
    box = whole_box(size_of(PICTURE))
    expected = by_pillow(PICTURE, box, target, Image.Resampling.BICUBIC)
    difference = resized(PICTURE, [17, 64], box, target).astype(int) - expected
    assert np.abs(difference).max() <= 1


FILTERS = {
    "bicubic": Image.Resampling.BICUBIC,
    "bilinear": Image.Resampling.BILINEAR,
    "lanczos": Image.Resampling.LANCZOS,
}


@pytest.mark.parametrize("filter", FILTERS)
@pytest.mark.parametrize("target", [Size(200, 160), Size(900, 700), Size(100, 60)], ids=str)
def test_the_filter_is_the_familys(filter: str, target: Size) -> None:
    """Larger or smaller, and nearer to Pillow's filter of that name than to its others."""
    box = whole_box(size_of(PICTURE))
    pixels = resized(PICTURE, [100], box, target, filter)
    distances = {name: psnr(pixels, by_pillow(PICTURE, box, target, each)) for name, each in FILTERS.items()}
    assert distances.pop(filter) > 50
    assert max(distances.values()) < 50


@pytest.mark.parametrize("target", [Size(900, 700), Size(613, 300), Size(5000, 2), Size(100, 60)], ids=str)
def test_lanczos_in_bands_is_pillows(target: Size) -> None:
    """Without a narrower width to a rounding; the window of rows holds all six lobes, whatever the bands."""
    box = whole_box(size_of(PICTURE))
    expected = by_pillow(PICTURE, box, target, Image.Resampling.LANCZOS)
    for heights in ([17, 64], [1], [487]):
        difference = np.abs(resized(PICTURE, heights, box, target, "lanczos").astype(int) - expected)
        assert difference.max() <= 1


def test_the_cut_into_bands_changes_no_pixel() -> None:
    """A raster made alone and one made in passing are equal to the last bit."""
    box, target = Box(7.3, 11.9, 600.2, 470.5), Size(210, 166)
    one = resized(PICTURE, [487], box, target)
    for heights in ([1], [17, 64], [256]):
        np.testing.assert_array_equal(resized(PICTURE, heights, box, target), one)


def test_rows_leave_before_the_picture_has_ended() -> None:
    """So that memory holds a window of rows, not the picture."""
    resizer = Resizer(Size(8, 4000), Box(0, 0, 8, 4000), Size(8, 1000), "bicubic")
    bands = in_bands(np.zeros((4000, 8, 3), np.uint8), [100])
    assert any(resizer.push(next(bands)) for _ in range(3))
