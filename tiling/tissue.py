"""Where the tissue of a slide lies: a stated rule, for people who declare a region; no view uses it unasked.

Of an overview of at most four megapixels, a pixel's saturation is the difference of its greatest and its least colour.
Otsu's threshold parts saturations in two; squares of 8 pixels half of which lie above it are tissue. The box of all
such squares, and one more on each side, is the tissue's. Source: N. Otsu, A threshold selection method from gray-level
histograms, 1979.
"""

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gigavqa.tiling.errors import ImageUnsupportedError
from gigavqa.tiling.file_facts import cached_identity
from gigavqa.tiling.geometry import Region
from gigavqa.tiling.orientation import orient_pixels
from gigavqa.tiling.sources import open_source
from gigavqa.tiling.sources.base import Pixels
from gigavqa.tiling.statistics import MOST_PIXELS, read_overview

_SQUARE = 8
_LEAST_CONTRAST = 15
"""Steps of saturation between both sides of the threshold, below which a slide shows one thing alone."""


def find_tissue(path: Path, show: str = "") -> Region:
    """Return the box of a slide's tissue in level-0 pixels of what is shown.

    Raises ImageUnsupportedError where nothing is more saturated than the rest, and TilingError subclasses.
    """
    with open_source(path, tone=cached_identity(path, None, show).tone) as source:
        stored, step = read_overview(source, Region(0, 0, *source.size), MOST_PIXELS)
        squares = _tissue_squares(orient_pixels(stored, source.orientation))
        if not squares.any():
            raise ImageUnsupportedError(f"{path}: no tissue is found: nothing of it is more saturated than the rest")
        rows, columns = np.flatnonzero(squares.any(axis=1)), np.flatnonzero(squares.any(axis=0))
        side = _SQUARE * step
        left, top = (max(0, math.floor((found[0] - 1) * side)) for found in (columns, rows))
        right, bottom = (math.ceil((found[-1] + 2) * side) for found in (columns, rows))
        width, height = source.size
        return Region(left, top, min(right, width) - left, min(bottom, height) - top)


def _tissue_squares(overview: Pixels) -> NDArray[np.bool_]:
    """Return which squares of 8 pixels are tissue, those at the right and below in part."""
    saturation = overview.max(axis=2) - overview.min(axis=2)
    threshold, contrast = _otsu(saturation)
    if contrast < _LEAST_CONTRAST:
        return np.zeros((1, 1), np.bool_)
    height, width = saturation.shape
    mask = np.pad(saturation > threshold, ((0, -height % _SQUARE), (0, -width % _SQUARE)))
    squares: NDArray[np.bool_] = (
        mask.reshape(mask.shape[0] // _SQUARE, _SQUARE, mask.shape[1] // _SQUARE, _SQUARE).mean(axis=(1, 3)) >= 0.5
    )
    return squares


def _otsu(values: NDArray[np.uint8]) -> tuple[int, float]:
    """Return the threshold that parts values best, what is above it being one part, and how far the means lie apart."""
    counts = np.bincount(values.ravel(), minlength=256).astype(np.float64)
    below = counts.cumsum()
    above = below[-1] - below
    sums = (counts * np.arange(256)).cumsum()
    with np.errstate(invalid="ignore", divide="ignore"):
        apart = np.nan_to_num((sums[-1] - sums) / above - sums / below, nan=0.0, posinf=0.0, neginf=0.0)
    best = int((below * above * np.square(apart)).argmax())
    return best, float(apart[best])
