"""The tone that a declared display is of an image's samples: which bands, and what of each is black and white."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gigavqa.runtime.plurals import count_noun
from gigavqa.tiling.colour_profiles import require_profile
from gigavqa.tiling.displays.display import Display, Stretch
from gigavqa.tiling.displays.samples import NativeSamples
from gigavqa.tiling.displays.tone import Limits, Tone, is_nodata
from gigavqa.tiling.errors import PixelTypeError

_NO_VALUE = (0.0, 1.0)
_RGB = 3


@dataclass(frozen=True)
class SampledPixels:
    """Pixels of an image, evenly spaced: N x S samples, and what their file says of them."""

    samples: NDArray[Any]
    native: NativeSamples

    def values(self, band: int, nodata: float | None, shown: Sequence[int]) -> NDArray[np.float64]:
        """Return the samples of a band that are numbers, of pixels that are not transparent as these bands are shown.

        Bands are counted from 0.
        """
        has_value = ~np.logical_and.reduce([is_nodata(self.samples[:, one], nodata) for one in shown])
        if self.native.alpha is not None:
            has_value &= self.samples[:, self.native.alpha] > 0
        values = self.samples[has_value, band].astype(np.float64)
        finite: NDArray[np.float64] = values[np.isfinite(values)]
        return finite


def find_tone(path: Path, display: Display, native: NativeSamples, found: Sequence[Limits] = ()) -> Tone:
    """Return the tone that a display is of samples like these, with the limits `found` where `needs_limits` says so.

    Raises PixelTypeError, which names the file, for what cannot be shown so.
    """
    if native.is_premultiplied:
        told = "has premultiplied alpha, of which there is no display; convert it to straight alpha"
        raise PixelTypeError(f"{path}: {told}")
    nodata = _nodata(display, native)
    if display.is_palette:
        return replace(_palette_tone(path, native, nodata), part=display.part)
    bands = _bands(path, display, native)
    stretch = display.stretch or _plain_stretch(path, native)
    alpha = native.alpha if native.alpha not in bands else None
    if stretch.kind == "none":
        limits = [_full_range(path, native)] * len(bands)
    elif stretch.kind == "range":
        limits = [(stretch.numbers[0], stretch.numbers[1])] * len(bands)
    else:
        limits = list(found)
    if native.is_inverted:
        limits = [(white, black) for black, white in limits]
    opaque = 1.0 if native.dtype.kind == "f" else float(2**native.bits - 1)
    profile = _profile(path, native) if display.has_profile else b""
    return Tone(bands, tuple(limits), display.gamma, nodata, alpha, opaque, part=display.part, profile=profile)


def needs_limits(display: Display) -> bool:
    """Return whether the limits of a display are found in the image, rather than declared."""
    return display.stretch is not None and display.stretch.kind in ("percentile", "minmax", "sigma")


def find_limits(path: Path, display: Display, pixels: SampledPixels) -> list[Limits]:
    """Return black and white of each shown band of a display that needs limits, of these pixels of an image."""
    bands, nodata = _bands(path, display, pixels.native), _nodata(display, pixels.native)
    found = [pixels.values(band, nodata, bands) for band in bands]
    groups = [np.concatenate(found)] * len(bands) if display.scope == "image" else found
    return [_find_limits(display.stretch, values) for values in groups] if display.stretch else []


def check_display(path: Path, display: Display, native: NativeSamples) -> None:
    """Raise PixelTypeError where samples like these cannot be shown so, before any is read."""
    find_tone(path, display, native, [_NO_VALUE] * native.channels)


def _nodata(display: Display, native: NativeSamples) -> float | None:
    return display.nodata if display.nodata is not None else native.nodata


def _bands(path: Path, display: Display, native: NativeSamples) -> tuple[int, ...]:
    colours = native.channels - (native.alpha is not None)
    if not display.bands:
        if colours not in (1, 3):
            raise PixelTypeError(
                f"{path}: has {native.channels} bands; say which are shown: `show` bands=RED,GREEN,BLUE"
            )
        return tuple(range(colours))
    if wrong := [band for band in display.bands if band > native.channels]:
        raise PixelTypeError(f"{path}: has {count_noun(native.channels, 'band')}, and `show` asks for band {wrong[0]}")
    return tuple(band - 1 for band in display.bands)


def _plain_stretch(path: Path, native: NativeSamples) -> Stretch:
    if native.dtype != np.uint8 or native.bits != 8:
        kind = {"f": " floating point", "i": " signed"}.get(native.dtype.kind, "")
        raise PixelTypeError(
            f"{path}: has{kind} samples of {native.bits} bits; `show` needs what is black and white, such as "
            "stretch=percentile:2:98 (`gigavqa show FILE` proposes some)"
        )
    return Stretch("none")


def _full_range(path: Path, native: NativeSamples) -> Limits:
    if native.dtype.kind not in "ub":
        raise PixelTypeError(
            f"{path}: samples that are signed or floating point have no full range; give stretch=range:BLACK:WHITE"
        )
    return 0.0, float(2**native.bits - 1)


def _profile(path: Path, native: NativeSamples) -> bytes:
    if native.profile is None or native.channels - (native.alpha is not None) != _RGB:
        raise PixelTypeError(f"{path}: has no ICC profile of RGB that `show` icc could apply")
    try:
        if native.profile:
            require_profile(native.profile)
    except ValueError as error:
        raise PixelTypeError(f"{path}: its ICC profile cannot be applied: {error}") from error
    return native.profile


def _palette_tone(path: Path, native: NativeSamples, nodata: float | None) -> Tone:
    if not native.table:
        raise PixelTypeError(f"{path}: has no palette that `show` palette could take")
    return Tone((0,), (), 1.0, nodata, table=native.table)


def _find_limits(stretch: Stretch, values: NDArray[np.float64]) -> Limits:
    """Return black and white of these values; of none at all, whatever: no pixel of theirs is shown."""
    if not values.size:
        return _NO_VALUE
    if stretch.kind == "percentile":
        low, high = np.percentile(values, stretch.numbers)
    elif stretch.kind == "minmax":
        low, high = values.min(), values.max()
    else:
        mean, spread = values.mean(), stretch.numbers[0] * values.std()
        low, high = mean - spread, mean + spread
    return float(low), float(high)
