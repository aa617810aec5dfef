"""What the samples of a band are: figures of their distribution, and a histogram that somebody can choose limits by."""

from typing import NamedTuple

import numpy as np

from gigavqa.tiling.displays.tone import Limits
from gigavqa.tiling.displays.tones import SampledPixels

MOST_BINS = 256


class BandHistogram(NamedTuple):
    """The distribution of the samples of one band (from 1) that are numbers, of pixels that are not transparent.

    `counts` are of bins of one width between `first` and `last`; what lies beyond is counted in the outermost ones.
    Figures are None where there is no such sample.
    """

    band: int
    is_alpha: bool
    num_values: int
    counts: tuple[int, ...] = ()
    first: float | None = None
    last: float | None = None
    least: float | None = None
    low: float | None = None
    median: float | None = None
    high: float | None = None
    most: float | None = None


def band_histogram(
    pixels: SampledPixels,
    band: int,
    shown: tuple[int, ...],
    *,
    nodata: float | None = None,
    bins: int = MOST_BINS,
    tail: float = 2,
    limits: Limits | None = None,
) -> BandHistogram:
    """Count the samples of a band (from 0) as these bands are `shown`, of which all that are `nodata` are transparent.

    Bins lie between the percentiles `tail` and 100 - `tail`, and reach as far as the `limits`. `low` and `high` are
    the percentiles 2 and 98.
    """
    values = pixels.values(band, nodata, shown)
    told = band + 1, band == pixels.native.alpha, int(values.size)
    if not values.size:
        return BandHistogram(*told)
    least, low, median, high, most, *ends = (
        float(one) for one in np.percentile(values, [0, 2, 50, 98, 100, tail, 100 - tail])
    )
    first, last = min(ends + list(limits or ())), max(ends + list(limits or ()))
    counts, _ = np.histogram(np.clip(values, first, last), bins)
    return BandHistogram(*told, tuple(counts.tolist()), first, last, least, low, median, high, most)
