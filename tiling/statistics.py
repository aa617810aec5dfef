"""Pixels of an image, evenly spaced, of which its limits are found.

They are of the whole image (or the region shown, where that is declared), never of what somebody happens to look at:
two renderings of one region have the same colours.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gigavqa.tiling.displays.tones import SampledPixels
from gigavqa.tiling.geometry import Region
from gigavqa.tiling.sources.source import Source

MOST_PIXELS, _MOST_SAMPLES = 4_000_000, 16_000_000


def sample_pixels(source: Source, region: Region | None = None) -> SampledPixels:
    """Read at most 4 million pixels of a source of native samples, or of one region (level-0 pixels) of it.

    Of pixels of more than four bands fewer are read.
    """
    most = min(MOST_PIXELS, _MOST_SAMPLES // source.decoder.native.channels)
    samples, _ = read_overview(source, region or Region(0, 0, *source.size), most)
    return SampledPixels(samples.reshape(-1, samples.shape[-1]), source.decoder.native)


def read_overview(source: Source, region: Region, most: int) -> tuple[NDArray[Any], float]:
    """Read at most so many pixels of a region (level-0 pixels) as a decoder yields them, evenly spaced, in the stored
    frame; and the side of each in level-0 pixels.

    They are those of the largest level that has no more, else every so many-th of rows and columns of the smallest.
    """
    number = _choose_level(source, region, most)
    scale = source.levels[number].downsample
    size = source.levels[number].size
    left, top = (min(int(at / scale), side - 1) for at, side in zip(region[:2], size, strict=True))
    right = min(math.ceil((region.x + region.width) / scale), size.width)
    bottom = min(math.ceil((region.y + region.height) / scale), size.height)
    region_l = Region(left, top, max(1, right - left), max(1, bottom - top))
    step = max(1, math.ceil(math.sqrt(region_l.size.area / most)))
    kept, row = [], 0
    for band in source.decoder.bands(number, source.stored_region(number, region_l)):
        kept.append(np.array(band[-row % step :: step, ::step]))
        row += band.shape[0]
    return np.concatenate(kept), scale * step


def _choose_level(source: Source, region: Region, most: int) -> int:
    share = region.size.area / source.size.area
    fitting = [number for number, level in enumerate(source.levels) if level.size.area * share <= most]
    return fitting[0] if fitting else len(source.levels) - 1
