"""Rasters that no file holds, of views and for prompts."""

import numpy as np
from numpy.typing import NDArray

from gigavqa.tiling.geometry import Region, Size
from gigavqa.tiling.rendering import Raster
from gigavqa.tiling.views import View
from gigavqa.workers.engines.engine import PromptRaster


def raster_of(view: View, visual_tokens: int = 64, pixels: np.ndarray | None = None) -> Raster:
    """A raster of a view, of black pixels where none are given; its key is the image's name, and the region's."""
    return Raster(
        pixels=np.zeros((8, 16, 3), np.uint8) if pixels is None else pixels,
        key=view.image if view.region == "full" else f"{view.image} {view.region}",
        view=view,
        source_size=Size(160, 80),
        source_format="png",
        region=Region(0, 0, 160, 80),
        level=0,
        downsample=1.0,
        digest="digest",
        visual_tokens=visual_tokens,
    )


def raster(key: str, size: tuple[int, int] = (512, 512), seed: int | None = None) -> PromptRaster:
    """A picture of random blocks, other ones for every key unless a seed is given."""
    width, height = size
    random = np.random.default_rng(list(key.encode()) if seed is None else seed)
    blocks: NDArray[np.uint8] = random.integers(0, 255, (height // 32, width // 32, 3), dtype=np.uint8)
    pixels = np.repeat(np.repeat(blocks, 32, 0), 32, 1)
    pixels.flags.writeable = False  # as the library hands them out
    return PromptRaster(key, pixels)
