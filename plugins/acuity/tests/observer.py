"""An ideal observer of rasters: finds the ring by its colour, names that by the nearest pigment, and sees its gap."""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gigavqa.tiling.sources.base import Pixels
from gigavqa_acuity.asking import write_question
from gigavqa_acuity.chart.optotypes import PIGMENTS
from gigavqa_acuity.taxonomy import COLOURS, DIRECTIONS

_SIGNAL = 40
"""Least saturation of a pixel that is none of the grey things around the ring."""
_FULL = 110
"""Saturation from which on a colour counts as seen: below it is washed out by what lies beside it."""
_GAP = 0.3
"""Of the ring's saturation, what must be missing where the gap is."""
_OPTION = re.compile(r"^([A-D])\. (\w+)$", re.MULTILINE)
Seen = NDArray[np.float64]


class Observer:
    """Answers prompts; without `normalized`, its processor gives it pixels that are not scaled as it expects them."""

    def __init__(self, *, normalized: bool = True) -> None:
        self._guesses = np.random.default_rng(7)
        self._normalized = normalized

    def answer(self, prompt: str, rasters: Sequence[Pixels]) -> str:
        """The letter that answers a prompt behind these rasters; a guess where it is unsure."""
        options = {text: letter for letter, text in _OPTION.findall(prompt)}
        rings = [ring for raster in rasters if (ring := _ring(self._processed(raster))) is not None]
        seen = None
        if rings:
            largest = max(rings, key=len)
            seen = _colour(largest) if write_question("colour") in prompt else _direction(largest)
        return options[seen] if seen else str(self._guesses.choice(list(options.values())))

    def _processed(self, raster: Pixels) -> Seen:
        """Pixels from 0 to 255, as seen behind a processor that scales to a mean and a deviation of a half."""
        scaled = raster.astype(np.float64) / 255
        given = (scaled - 0.5) / 0.5 if self._normalized else scaled
        return np.round((given * 0.5 + 0.5) * 255)


def _saturation(pixels: Seen) -> Seen:
    red, green, blue = np.moveaxis(pixels, 2, 0)
    most, least = (each(each(red, green), blue) for each in (np.maximum, np.minimum))
    return np.asarray(most - least)


def _ring(raster: Seen) -> Seen | None:
    """The square of a raster that holds all that has a colour; None where nothing has."""
    saturation = _saturation(raster)
    if saturation.max() < _SIGNAL:
        return None
    rows, columns = np.nonzero(saturation >= max(_SIGNAL, saturation.max() / 2))
    found: Seen = raster[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
    return found


def _colour(ring: Seen) -> str | None:
    """The nearest pigment to the pixel of most colour; None where that is pale."""
    saturation = _saturation(ring)
    if saturation.max() < _FULL:
        return None
    full = ring[saturation >= 0.9 * saturation.max()].mean(axis=0)
    return min(COLOURS, key=lambda name: float(np.linalg.norm(full - PIGMENTS[name])))


def _direction(ring: Seen) -> str | None:
    """Where the ring has least of its colour, in the middle of its stroke; None where no side lacks enough."""
    saturation = _saturation(ring)
    height, width = saturation.shape
    at = {"up": (0.1, 0.5), "right": (0.5, 0.9), "down": (0.9, 0.5), "left": (0.5, 0.1)}
    sides = {name: float(saturation[int(y * height), int(x * width)]) for name, (y, x) in at.items()}
    gap, *others = sorted(DIRECTIONS, key=lambda name: sides[name])
    missing = sides[others[0]] - sides[gap]
    return gap if missing >= _GAP * saturation.max() else None
