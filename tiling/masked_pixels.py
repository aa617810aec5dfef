"""Hides parts of rasters behind a mask."""

from collections.abc import Iterator

import numpy as np

from gigavqa.tiling.geometry import Region, Size
from gigavqa.tiling.masks import Mask
from gigavqa.tiling.recipes import Recipe
from gigavqa.tiling.sources.base import Pixels

_LEAST_WEIGHT = 0.001
"""Of a blur's middle: what lies farther out is left out of it. libvips' own 0.2 makes it a sixth narrower."""


def blank_pixels(size: Size) -> Pixels:
    """Return black pixels, H x W x 3, read-only."""
    pixels = np.zeros((size.height, size.width, 3), np.uint8)
    pixels.flags.writeable = False
    return pixels


def mask_pixels(pixels: Pixels, mask: Mask, recipe: Recipe) -> Pixels:
    """Return the pixels of a recipe's raster, H x W x 3, with what its mask hides; the same size, read-only.

    A hidden region covers every raster pixel that it touches.
    """
    cover = _cover(pixels, mask)
    shown = pixels.copy()
    for rows, columns in _windows(mask.hidden(recipe.source_size, recipe.region), recipe):
        shown[rows, columns] = cover[rows, columns]
    shown.flags.writeable = False
    return shown


def _cover(pixels: Pixels, mask: Mask) -> Pixels:
    """Return what is seen where the mask hides, for all of the raster."""
    if mask.kind == "blur":
        return _blurred(pixels, mask.radius)
    colour = np.zeros(3, np.uint8)
    if mask.kind == "mean":
        colour = np.floor(pixels.mean(axis=(0, 1), dtype=np.float64) + 0.5).astype(np.uint8)
    return np.broadcast_to(colour, pixels.shape)


def _blurred(pixels: Pixels, radius: int) -> Pixels:
    import pyvips  # noqa: PLC0415 - the extra `pixels`; masks of other kinds do without

    whole = pyvips.Image.new_from_array(np.ascontiguousarray(pixels))
    blurred = whole.gaussblur(radius, precision="float", min_ampl=_LEAST_WEIGHT)
    levels: Pixels = np.floor(blurred.cast("float").numpy() + 0.5).clip(0, 255).astype(np.uint8)
    return levels


def _windows(hidden: tuple[Region, ...], recipe: Recipe) -> Iterator[tuple[slice, slice]]:
    """Yield rows and columns of the raster that hidden regions touch."""
    region, raster = recipe.region, recipe.plan.raster
    for part in hidden:
        left, top = part.x - region.x, part.y - region.y
        yield (
            slice(top * raster.height // region.height, -(-(top + part.height) * raster.height // region.height)),
            slice(left * raster.width // region.width, -(-(left + part.width) * raster.width // region.width)),
        )
