"""A view declares what to look at."""

import random
from collections import Counter
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction
from math import ceil

import pytest
from pydantic import ValidationError

from gigavqa.tiling.errors import BudgetError, RegionError
from gigavqa.tiling.geometry import Size, region_of_box, resolve_region
from gigavqa.tiling.views import View


@pytest.mark.parametrize(
    ("sizing", "size"),
    [
        ("native", (26753, 15052)),
        ("longest:1024", (1024, 576)),
        ("longest:30000", (26753, 15052)),
        ("longest:1", (1, 1)),
    ],
)
def test_sizing_says_how_large_the_region_is_before_the_models_preprocessing(
    sizing: str, size: tuple[int, int]
) -> None:
    """The model's own size, or an external downsampling that never enlarges."""
    assert View(image="plaza.jpg", sizing=sizing).downsampled(Size(26753, 15052)) == size


@pytest.mark.parametrize(
    "sizing",
    ["", "longest:0", "longest:-5", "longest:1.5", "longest", "Native", "fit:32:9:8", "fit:32:1:99999999", "fit:0:1:9"],
)
def test_an_unknown_sizing_is_refused(sizing: str) -> None:
    """When the view is made, not when it is rendered."""
    with pytest.raises(ValidationError, match="sizing"):
        View(image="plaza.jpg", sizing=sizing)


FIT, CROPPED = "fit:32:65536:8294400", "fit:32:65536:8294400:28"


@pytest.mark.parametrize(
    ("sizing", "size", "fitted"),
    [
        (FIT, (60_000, 40_000), (3520, 2336)),
        (FIT, (26_753, 15_052), (3808, 2144)),
        (FIT, (3840, 2160), (3840, 2144)),
        (FIT, (100_000, 100_000), (2880, 2880)),
        (CROPPED, (15_000, 5_000), (4960, 1632)),
        (FIT, (480, 160), (480, 160)),
        (CROPPED, (12, 3200), (32, 3200)),
        (CROPPED, (135, 76), (352, 192)),
        (CROPPED, (1, 1), (256, 256)),
    ],
)
def test_a_size_is_fitted_to_the_pixel(sizing: str, size: tuple[int, int], fitted: tuple[int, int]) -> None:
    """Up as well as down, cut to whole pixels before it is rounded."""
    assert View(image="plaza.jpg", sizing=sizing).downsampled(Size(*size)) == fitted


def test_a_strip_is_not_fitted() -> None:
    """Beyond 200 times its breadth, once its shorter side is as long as the rule wants it."""
    assert View(image="plaza.jpg", sizing=CROPPED).downsampled(Size(2, 5600)) == (32, 5600)
    with pytest.raises(BudgetError, match="28x5601 is longer than 200 times its breadth"):
        View(image="plaza.jpg", sizing=CROPPED).downsampled(Size(2, 5601))


def _expected(size: tuple[int, int]) -> tuple[int, int] | None:
    """The same in fractions and decimals of fifty digits: independent of binary floating point and of its order."""
    with localcontext(prec=50):
        width, height = (Decimal(max(side, 28)) for side in size)
        if max(width, height) / min(width, height) > 200:
            return None
        near = [int((side / 32).to_integral_value(ROUND_HALF_EVEN)) or 1 for side in (width, height)]
        if near[0] * near[1] * 1024 > 8_294_400:
            scale = (Decimal(8_294_400) / (width * height)).sqrt()
            near = [max(1, int(side * scale + _NOISE) // 32) for side in (width, height)]
        elif near[0] * near[1] * 1024 < 65_536:
            scale = (Decimal(65_536) / (width * height)).sqrt()
            near = [ceil(Fraction(int(side * scale + _NOISE), 32)) for side in (width, height)]
        return 32 * near[0], 32 * near[1]


_NOISE = Decimal("1e-11")  # sides that are whole after scaling, which binary roots may miss by their last digit


def test_ten_thousand_boxes_become_the_crops_that_were_declared() -> None:
    """Edges are those of exact fractions, or a pixel less where doubles miss a whole one; sizes those of decimals."""
    chance, view, seen = random.Random(13), View(image="plaza.jpg", sizing=CROPPED), Counter[str]()
    for _ in range(10_000):
        size = Size(chance.randint(1, 100_000), chance.randint(1, 100_000))
        digits = chance.choice((0, 0, 1, 3))
        box = [round(chance.uniform(-100, 1100), digits) for _ in range(4)]
        edges = [
            int(Fraction(min(max(part, 0.0), 1000.0)) * side / 1000) for part, side in zip(box, 2 * size, strict=True)
        ]
        try:
            region = region_of_box(box, size)
        except RegionError:
            assert edges[2] <= edges[0] or edges[3] <= edges[1]
            seen["empty"] += 1
            continue
        made = (region.x, region.y, region.x + region.width, region.y + region.height)
        assert all(edge == exact or exact - edge == 1 for edge, exact in zip(made, edges, strict=True))
        seen["edges that a double misses"] += list(made) != edges
        assert resolve_region(str(region), size) == region
        expected = _expected(region.size)
        if expected is None:
            with pytest.raises(BudgetError):
                view.downsampled(region.size)
            seen["strip"] += 1
            continue
        assert view.downsampled(region.size) == expected
        seen["large" if expected[0] * expected[1] > 4_000_000 else "small"] += 1
    assert seen["edges that a double misses"] < 100
    assert min(seen[kind] for kind in ("empty", "strip", "large", "small")) > 20
