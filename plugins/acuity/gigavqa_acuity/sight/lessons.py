"""Lessons of the small model: pictures of the chart's kind, as the three conditions show them.

No file is written: what tiling would render of a pyramid is painted at the level that it would read, twice as large,
and reduced with the same filter.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gigavqa.demo.painting import ScenePainter
from gigavqa.tiling.geometry import Region, Size
from gigavqa_acuity.chart.pictures import (
    LEAST_REGION,
    SHARE_OF_TINY,
    SIDE,
    SMALLEST,
    TINY,
    ChartImage,
    draw_picture,
    evidence_of,
)
from gigavqa_acuity.chart.scenes import draw_scene
from gigavqa_acuity.samples import Optotype
from gigavqa_acuity.sight.design import budget

Pixels = NDArray[np.uint8]
THUMBNAIL = 64
"""Longest side of V1 in the chart's job."""
WHOLE = Region(0, 0, SIDE, SIDE)
_COARSEST = 16
"""Downsample of the last level of the chart's pyramids."""
_FINER = 2
_CLOSE = (1.15, 1.7)
"""Sides of the regions that a ring nearly fills, in its diameters."""
_MOST_PAINTED = 768
_LEAST_SHOWN = 256
"""Rings from this diameter on are larger than a pixel in the whole picture."""


class Lesson(NamedTuple):
    """One ring, and the rasters that show it: the whole picture, the same made small, and regions of it.

    `close` is a region that the ring nearly fills, which no condition shows: the first that is learned from.
    """

    optotype: Optotype
    whole: Pixels
    small: Pixels
    parts: tuple[tuple[Region, Pixels], ...]
    close: tuple[Region, Pixels]


def draw_lesson(rng: np.random.Generator, *, parts: int = 2, large: bool = False) -> Lesson:
    """Return a lesson of a ring of any size; `large` ones are seen in the whole picture."""
    return lesson_of(rng, draw_picture(rng, _diameter(rng, _LEAST_SHOWN if large else SMALLEST)), parts=parts)


def lesson_of(rng: np.random.Generator, picture: ChartImage, *, parts: int) -> Lesson:
    """Draw a picture, and as many regions of it that hold its ring."""
    painter = ScenePainter(draw_scene(picture, int(rng.integers(2**31))))
    regions = [evidence_of(rng, picture) for _ in range(parts)]
    whole, small = render_whole(painter)
    *shown, close = ((region, render(painter, region)) for region in (*regions, _close(rng, picture)))
    return Lesson(picture.optotype, whole, small, tuple(shown), close)


def _close(rng: np.random.Generator, picture: ChartImage) -> Region:
    """Return a square that a ring nearly fills."""
    one, within = picture.optotype, picture.size.width
    diameter = int(one.diameter)
    side = min(within, max(LEAST_REGION, round(diameter * rng.uniform(*_CLOSE))))
    x, y = (min(max(0, int(at) - int(rng.integers(side - diameter + 1))), within - side) for at in (one.x, one.y))
    return Region(x, y, side, side)


def _diameter(rng: np.random.Generator, least: int) -> int:
    if least == SMALLEST and rng.random() < SHARE_OF_TINY:
        return int(rng.choice(TINY))
    return round(least * math.pow(SIDE / 2 / least, rng.random()))


def render_whole(painter: ScenePainter) -> tuple[Pixels, Pixels]:
    """Return the rasters of the whole picture, natively and made small."""
    painted = _paint(painter, WHOLE, _MOST_PAINTED)
    return _reduced(painted, budget().plan(WHOLE.size).raster.width), _reduced(painted, THUMBNAIL)


def render(painter: ScenePainter, region: Region) -> Pixels:
    """Return the raster of a square region, H x W x 3, nearly as tiling renders it from a pyramid of the scene."""
    side = budget().plan(region.size).raster.width
    level = 1
    while level < _COARSEST and region.width >= 4 * level * side:
        level *= 2
    return _reduced(_paint(painter, region, region.width // level), side)


def _paint(painter: ScenePainter, region: Region, side: int) -> Image.Image:
    """Return a region reduced to a side, in whole steps from twice that where it is reduced at all."""
    if side >= region.width:
        return painter.part(region.x, region.y, region.size)
    side = min(side, _MOST_PAINTED)
    scale = _FINER * side / region.width
    size = Size(_FINER * side, _FINER * side)
    return painter.part(round(region.x * scale), round(region.y * scale), size, scale).reduce(_FINER)


def _reduced(image: Image.Image, side: int) -> Pixels:
    return np.asarray(image.resize((side, side), Image.Resampling.BICUBIC))


def shown_pixels(optotype: Optotype, region: Region, side: int) -> float:
    """Pixels of the ring's diameter in a raster of a region; enlarging adds none."""
    return optotype.diameter * min(1.0, side / region.width)
