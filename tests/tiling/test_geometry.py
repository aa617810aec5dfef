"""Regions of the IIIF grammar, and sizes."""

import math
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gigavqa.tiling.errors import RegionError
from gigavqa.tiling.geometry import Region, Size, fit_longest_side, region_of_box, resolve_region

SIZE = Size(26753, 15052)


@pytest.mark.parametrize(
    ("text", "region"),
    [
        ("full", Region(0, 0, 26753, 15052)),
        ("10,20,30,40", Region(10, 20, 30, 40)),
        ("26752,15051,1,1", Region(26752, 15051, 1, 1)),
        ("pct:0,0,50,50", Region(0, 0, 13377, 7526)),
        ("pct:50,50,50,50", Region(13376, 7526, 13377, 7526)),
        ("pct:0,0,100,100", Region(0, 0, 26753, 15052)),
        ("pct:10.1,0,0.1,100", Region(2702, 0, 27, 15052)),
    ],
)
def test_a_region_becomes_whole_pixels(text: str, region: Region) -> None:
    """Percentages are rounded outwards and stay inside the image."""
    assert resolve_region(text, SIZE) == region


@pytest.mark.parametrize(
    "text",
    ["", "all", "1,2,3", "-1,0,5,5", "0,0,0,5", "26753,0,1,1", "0,0,26754,1", "pct:60,0,50,50", "1.5,0,2,2", "full "],
)
def test_a_region_that_is_not_in_the_image_is_an_error(text: str) -> None:
    """Nothing is cropped in silence, as IIIF would do."""
    with pytest.raises(RegionError):
        resolve_region(text, SIZE)


@given(st.integers(1, 200_000), st.integers(1, 200_000), st.integers(1, 4096))
def test_fitting_the_longest_side_never_enlarges(width: int, height: int, longest: int) -> None:
    """The result is inside both the size and the limit, and no side vanishes."""
    fitted = fit_longest_side(Size(width, height), longest)
    assert 1 <= fitted.width <= width
    assert 1 <= fitted.height <= height
    assert max(fitted) == min(longest, max(width, height))


@pytest.mark.parametrize(
    ("box", "region"),
    [
        ([250, 500, 500, 625], Region(15_000, 20_000, 15_000, 5_000)),
        ([0, 0, 1000, 1000], Region(0, 0, 60_000, 40_000)),
        ([-5, -1e300, 1e300, 10**400], Region(0, 0, 60_000, 40_000)),
        ([999.99, 999.99, 1001, 1001], Region(59_999, 39_999, 1, 1)),
        ([0.5, 0.5, 0.7, 0.7], Region(30, 20, 12, 8)),
    ],
)
def test_a_box_becomes_the_pixels_that_it_covers_whole(box: list[float], region: Region) -> None:
    """Thousandths of the sides, cut towards zero; what reaches out of the image is taken as far as there is any."""
    assert region_of_box(box, Size(60_000, 40_000)) == region


@pytest.mark.parametrize("box", [[5, 5, 5, 6], [9, 0, 5, 6], [0, 0, -1, 5], [1000, 0, 1001, 5], [10**400, 0, 5, 5]])
def test_a_box_that_shows_nothing_is_an_error(box: list[float]) -> None:
    """Empty, inverted, or beside the image."""
    with pytest.raises(RegionError, match="shows nothing"):
        region_of_box(box, Size(60_000, 40_000))


@given(
    side=st.integers(1, 200_000),
    start=st.decimals(0, 99, places=6),
    length=st.decimals("0.000001", 1, places=6),
)
@settings(max_examples=40)
def test_percentages_are_rounded_outwards_as_they_are_written(side: int, start: Decimal, length: Decimal) -> None:
    """Without a pixel more than the decimal numbers ask for."""
    found = resolve_region(f"pct:{start:f},0,{length:f},100", Size(side, 1))
    assert found.x == math.floor(start * side / 100)
    assert found.x + found.width == math.ceil((start + length) * side / 100)
