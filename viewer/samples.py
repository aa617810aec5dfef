"""What the samples of a picture are, and how they could be shown: what somebody needs to choose a display."""

from pathlib import Path
from typing import Any

from gigavqa.tiling.displays.display import parse_display
from gigavqa.tiling.displays.histograms import band_histogram
from gigavqa.tiling.displays.proposals import propose_displays
from gigavqa.tiling.displays.tone import Tone
from gigavqa.tiling.displays.tones import SampledPixels
from gigavqa.tiling.file_facts import cached_identity, cached_samples
from gigavqa.tiling.image_part import WHOLE

_TAIL = 0.1


def describe_samples(path: Path, show: str, refused: str) -> dict[str, Any]:
    """Return type and number of an image's samples, proposals, and of each band that `show` shows its histogram.

    `refused` says why the image is not shown as it is, if so. Raises TilingError subclasses.
    """
    pixels = cached_samples(path, parse_display(show).part if show else WHOLE)
    native = pixels.native
    return {
        "show": show,
        "refused": refused,
        "bands": native.channels,
        "bits": native.bits,
        "type": native.dtype.name,
        "alpha": None if native.alpha is None else native.alpha + 1,
        "nodata": None if native.nodata is None else str(native.nodata),  # JSON has no NaN
        "palette": bool(native.table),
        "proposals": propose_displays(native, pixels),
        "shown": [] if refused and not show else _shown_bands(pixels, cached_identity(path, None, show).tone),
    }


def _shown_bands(pixels: SampledPixels, tone: Tone | None) -> list[dict[str, Any]]:
    """Describe each band that is shown, with its limits unless it is shown as it is."""
    if tone is None:
        colours = pixels.native.channels - (pixels.native.alpha is not None)
        bands, nodata, limits = tuple(range(min(3, colours))), pixels.native.nodata, None
    else:
        bands, nodata, limits = tone.bands, tone.nodata, tone.limits or None
    return [
        {
            **band_histogram(
                pixels, band, bands, nodata=nodata, tail=_TAIL, limits=limits and limits[number]
            )._asdict(),
            "limits": limits and limits[number],
        }
        for number, band in enumerate(bands)
    ]
