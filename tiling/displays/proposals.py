"""Proposals of how an image's samples could be shown; which of them is right, no file says. Needs no decoder."""

from gigavqa.tiling.displays.samples import NativeSamples
from gigavqa.tiling.displays.tones import SampledPixels

_STRETCH = "stretch=percentile:2:98"
_HOUNSFIELD = (-1100, -500, 4100)
"""Least of a CT at the lowest and the highest (air, and what lies around it), and the most that there is."""


def propose_displays(native: NativeSamples, pixels: SampledPixels | None = None) -> list[str]:
    """Return up to three displays that fit samples like these; `pixels` tell where a CT's window may fit."""
    colours = native.channels - (native.alpha is not None)
    if native.table:
        return ["palette", _STRETCH, "stretch=minmax"]
    if colours == 1:
        found = [_STRETCH, "stretch=minmax", "stretch=sigma:2"]
        return ["window=40:400", *found[:2]] if pixels and _may_be_hounsfield(pixels) else found
    if colours == 2:
        return [f"bands={band} {_STRETCH}" for band in (1, 2)]
    orders = [(1, 2, 3), (3, 2, 1), *([(4, 3, 2)] if colours > 3 else [])]
    scopes = [f"bands={','.join(map(str, order))} {_STRETCH}" for order in orders]
    return scopes if len(scopes) > 2 else [*scopes, f"bands=1,2,3 {_STRETCH} per=image"]


def _may_be_hounsfield(pixels: SampledPixels) -> bool:
    if pixels.native.dtype.kind != "i":
        return False
    values = pixels.values(0, pixels.native.nodata, (0,))
    lowest, highest, most = _HOUNSFIELD
    return bool(values.size and lowest <= values.min() <= highest and values.max() <= most)
