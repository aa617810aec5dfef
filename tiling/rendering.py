"""From a view to a raster: read the pyramid level that fits, then resize with the family's own filter.

The level is the coarsest at least twice as large as the target, which keeps 45 dB of what the family makes of the full
image; the pixels pass through in bands, so memory does not grow with the image.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tiling.budgets.base import VisualBudget
from tiling.errors import ImageUnreadableError
from tiling.geometry import Region, Size
from tiling.orientation import orient_pixels, orient_size
from tiling.recipes import Recipe, identify, plan_raster
from tiling.resampling import resize_bands, whole
from tiling.sources import Level, Source, open_source
from tiling.sources.base import Pixels
from tiling.sources.window import level_window
from tiling.views import View

_OVERSAMPLING = 2


@dataclass(frozen=True)
class Raster:
    """A rendered view: `pixels` H x W x 3 uint8 RGB, C-contiguous, read-only, and where they come from.

    `region` is in level-0 pixels; `level` and `downsample` tell which level was read; `key` names the pixels.
    """

    pixels: Pixels
    key: str
    view: View
    source_size: Size
    source_format: str
    region: Region
    level: int
    downsample: float
    digest: str
    visual_tokens: int


def render(path: Path, view: View, budget: VisualBudget, num_images: int = 1) -> Raster:
    """Render a view of the image at `path`, one of `num_images` in its prompt. Raises TilingError subclasses."""
    return paint(plan_raster(identify(path), view, budget, num_images), path)


def paint(recipe: Recipe, path: Path) -> Raster:
    """Render a recipe from the image at `path`, or from a lossless pyramid of it. Raises ImageUnreadableError."""
    with open_source(path) as source:
        if source.size != recipe.source_size:
            raise ImageUnreadableError(f"{path}: the image changed its size while it was being read")
        level = choose_level(source.levels, recipe.region.size, recipe.stages[0])
        pixels = _resize(source, level, recipe)
        pixels.flags.writeable = False
        return Raster(
            pixels=pixels,
            key=recipe.key,
            view=recipe.view,
            source_size=recipe.source_size,
            source_format=recipe.source_format,
            region=recipe.region,
            level=level,
            downsample=source.levels[level].downsample,
            digest=recipe.digest,
            visual_tokens=recipe.plan.visual_tokens,
        )


def choose_level(levels: tuple[Level, ...], region: Size, target: Size) -> int:
    """The coarsest level at which a region of this size (level-0 pixels) has twice the target's sides, or level 0."""
    for index in reversed(range(len(levels))):
        scale = levels[index].downsample * _OVERSAMPLING
        if region.width >= target.width * scale and region.height >= target.height * scale:
            return index
    return 0


def _resize(source: Source, level: int, recipe: Recipe) -> Pixels:
    """Pixels of the raster, made in the stored frame and oriented in the end."""
    region_s = source.stored_region(0, recipe.region)
    window = level_window(source.decoder.levels[level], region_s)
    bands = window.read(source.decoder, level)
    size, box = window.size, window.box
    for target in recipe.stages:
        target_s = orient_size(target, source.orientation)
        if target_s != size or box != whole(size):
            bands = resize_bands(bands, size, box, target_s, recipe.plan.filter)
        size, box = target_s, whole(target_s)
    return orient_pixels(_gather(bands, size), source.orientation)


def _gather(bands: Iterator[Pixels], size: Size) -> Pixels:
    pixels = np.empty((size.height, size.width, 3), np.uint8)
    top = 0
    for band in bands:
        pixels[top : top + band.shape[0]] = band
        top += band.shape[0]
    return pixels
