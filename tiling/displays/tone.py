"""From samples of any depth to RGB of 8 bits: the arithmetic of a display whose limits are known."""

from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gigavqa.tiling.colour_profiles import to_srgb
from gigavqa.tiling.displays.display import number_text
from gigavqa.tiling.image_part import WHOLE, ImagePart

_TABLE_BITS = 16
_WHITE = 255
# No measurement, but a mark of writers, who cut its last digits.
_MARKER, _MARKER_ROUNDING = 1e30, 2e-6

Limits = tuple[float, float]
"""The sample that is shown black, and the one that is shown white."""


@dataclass(frozen=True)
class Tone:
    """How samples are shown: `bands` (from 0), one for grey or three, each with its limits, or one by a `table`.

    `nodata` marks transparent pixels, where all shown bands hold it; so does `alpha`, the number of a band whose
    samples reach from 0 to `opaque`. NaN is nodata in any case. Transparency is composited on white, as everywhere.
    `part` is what of the file is shown. `profile` is the ICC profile by which colours become sRGB.
    """

    bands: tuple[int, ...]
    limits: tuple[Limits, ...]
    gamma: float = 1.0
    nodata: float | None = None
    alpha: int | None = None
    opaque: float = 1.0
    table: tuple[tuple[int, ...], ...] = ()
    part: ImagePart = WHOLE
    profile: bytes = b""

    channels: ClassVar[int] = 3
    dtype: ClassVar[np.dtype[Any]] = np.dtype(np.uint8)

    def __str__(self) -> str:
        """Return what tells these colours from any others, and of what part they are: `bands=4,3,2 limits=...`."""
        return " ".join(filter(None, (self._colours(), str(self.part))))

    def _colours(self) -> str:
        if self.table:
            return "palette" + (f" nodata={number_text(self.nodata)}" if self.nodata is not None else "")
        limits = ",".join(f"{number_text(low)}:{number_text(high)}" for low, high in self.limits)
        told = f"bands={','.join(str(band + 1) for band in self.bands)} limits={limits}"
        told += f" gamma={number_text(self.gamma)}" if self.gamma != 1 else ""
        told += f" nodata={number_text(self.nodata)}" if self.nodata is not None else ""
        told += f" icc={blake2b(self.profile, digest_size=8).hexdigest()}" if self.profile else ""
        return told + (f" alpha={self.alpha + 1}" if self.alpha is not None else "")

    def __call__(self, samples: NDArray[Any]) -> NDArray[np.uint8]:
        """Convert H x W x S samples of a real type to H x W x 3 RGB."""
        if self.table:
            return self._look_up(samples[..., 0])
        shown = [
            _shade(samples[..., band], limits, self.gamma) for band, limits in zip(self.bands, self.limits, strict=True)
        ]
        rgb = np.stack(shown if len(shown) == self.channels else shown * self.channels, axis=-1)
        if self.profile:
            rgb = to_srgb(rgb, self.profile).copy()
        rgb[self._is_empty(samples)] = _WHITE
        return rgb if self.alpha is None else _on_white(rgb, samples[..., self.alpha], self.opaque)

    def _look_up(self, classes: NDArray[Any]) -> NDArray[np.uint8]:
        rgb = np.take(np.array(self.table, np.uint8), classes, axis=0)
        rgb[is_nodata(classes, self.nodata)] = _WHITE
        return rgb

    def _is_empty(self, samples: NDArray[Any]) -> NDArray[np.bool_]:
        is_empty = np.ones(samples.shape[:-1], np.bool_)
        for band in self.bands:
            is_empty &= is_nodata(samples[..., band], self.nodata)
        return is_empty


def is_nodata(samples: NDArray[Any], nodata: float | None) -> NDArray[np.bool_]:
    """Return where samples hold `nodata`, or are NaN."""
    if samples.dtype.kind == "f":
        missing: NDArray[np.bool_] = np.isnan(samples)
        if nodata is None or np.isnan(nodata):
            return missing
        if _MARKER < abs(nodata) < np.inf:  # in double precision, beyond which a mark of doubles would be any sample
            missing |= np.abs(samples.astype(np.float64) - nodata) <= _MARKER_ROUNDING * abs(nodata)
        else:
            missing |= samples == samples.dtype.type(nodata)
        return missing
    if nodata is None or not _holds(samples.dtype, nodata):
        return np.zeros(samples.shape, np.bool_)
    found: NDArray[np.bool_] = samples == samples.dtype.type(nodata)
    return found


def _holds(dtype: np.dtype[Any], value: float) -> bool:
    if not np.isfinite(value) or value != int(value):
        return False
    return dtype.kind == "b" or np.iinfo(dtype).min <= value <= np.iinfo(dtype).max


def _shade(samples: NDArray[Any], limits: Limits, gamma: float) -> NDArray[np.uint8]:
    """Return grey levels, by a table where there are at most 65,536 different samples."""
    dtype = samples.dtype.newbyteorder("=")
    if dtype.kind in "iu" and 8 * dtype.itemsize <= _TABLE_BITS:
        index = np.ascontiguousarray(samples, dtype).view(f"u{dtype.itemsize}")
        return np.take(_table(dtype, limits, gamma), index)
    return _curve(samples.astype(np.float64), limits, gamma)


@lru_cache(maxsize=64)
def _table(dtype: np.dtype[Any], limits: Limits, gamma: float) -> NDArray[np.uint8]:
    every = np.arange(2 ** (8 * dtype.itemsize), dtype=f"u{dtype.itemsize}").view(dtype)
    return _curve(every.astype(np.float64), limits, gamma)


def _curve(values: NDArray[np.float64], limits: Limits, gamma: float) -> NDArray[np.uint8]:
    """Return 255 ((v - low) / (high - low)) ^ (1 / gamma), rounded half up, clipped; of equal limits, a threshold.

    `low` is above `high` where the least sample is white.
    """
    low, high = limits
    with np.errstate(invalid="ignore", over="ignore"):
        share = (values - low) / (high - low) if high != low else (values > high).astype(np.float64)
    share = np.clip(np.nan_to_num(share, nan=0.0, posinf=1.0, neginf=0.0), 0, 1)
    if gamma != 1:
        share = share ** (1 / gamma)
    levels: NDArray[np.uint8] = np.floor(share * _WHITE + 0.5).astype(np.uint8)
    return levels


def _on_white(rgb: NDArray[np.uint8], alpha: NDArray[Any], opaque: float) -> NDArray[np.uint8]:
    opacity = np.clip(np.nan_to_num(alpha.astype(np.float64)) / opaque, 0, 1)[..., None]
    mixed: NDArray[np.uint8] = np.floor(rgb * opacity + _WHITE * (1 - opacity) + 0.5).astype(np.uint8)
    return mixed
