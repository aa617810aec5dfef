"""Sizes of pictures for tests of visual budgets: seeded, tiny and gigapixel, square and long."""

import math
import random

from gigavqa.tiling.geometry import Size

MAX_AREA = 4e10

EXTREMES = (
    Size(1, 1),
    Size(1, 12),
    Size(12, 1),
    Size(13, 14),
    Size(447, 449),
    Size(448, 448),
    Size(449, 448),
    Size(4096, 4096),
    Size(100_000, 100_000),
    Size(200_000, 200_000),
    Size(200_000, 16_667),
    Size(16_667, 200_000),
)


def random_sizes(count: int, max_aspect: float = 12, least_area: float = 1, seed: int = 7) -> list[Size]:
    """Areas up to 4e10 pixels and aspect ratios to 1:`max_aspect`, both evenly spread in magnitude."""
    draw = random.Random(seed)
    sizes = []
    while len(sizes) < count:
        area = 10 ** draw.uniform(math.log10(least_area), math.log10(MAX_AREA))
        aspect = max_aspect ** draw.uniform(-1, 1)
        size = Size(max(1, round(math.sqrt(area * aspect))), max(1, round(math.sqrt(area / aspect))))
        if max(size) <= max_aspect * min(size):
            sizes.append(size)
    return sizes
