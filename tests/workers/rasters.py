"""Rasters of views that no file holds."""

import numpy as np

from tiling.geometry import Region, Size
from tiling.rendering import Raster
from tiling.views import View


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
