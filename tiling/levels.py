"""At which levels an image is read: its own, its decoder's, or those that are made of its rows as they pass.

The latter cost nothing to read finer, so views of them are made of larger ones than of those that lie in a file.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from PIL import Image

from tiling.geometry import Size
from tiling.sources import Level, Source
from tiling.sources.base import Pixels

LARGE_PIXELS = 16_000_000
"""Pictures from this size on are worth care; of smaller ones a view takes less time than care saves."""

SMALLEST = 1024
"""A level of at most so many pixels on its longest side is not halved again."""

OVERSAMPLING = 2
"""A view read of a level at least so much larger keeps 45 dB of what the family makes of the full image."""

_OVERSAMPLING_HALVED = 4
_HALVED_AT_ONCE = 64


@dataclass(frozen=True)
class Reading:
    """How an image is read: `levels` in the stored frame, of which the decoder yields the first `num_decoded`.

    `is_flat`: it has no levels of its own, so that each read of a view passes over much of the file.
    `is_sequential`: and all that lies above a view.
    """

    levels: tuple[Level, ...]
    num_decoded: int
    is_flat: bool
    is_sequential: bool
    oversampling: int
    format: str

    def level_for(self, region: Size, target: Size) -> int:
        """The level that a region of this size (level-0 pixels) is best made from."""
        return choose_level(self.levels, region, target, self.oversampling)


def reading_of(source: Source) -> Reading:
    """Find out how an open image is read."""
    decoder = source.decoder
    is_flat = source.format == "jpeg" or len(decoder.levels) == 1
    levels, oversampling = decoder.levels, OVERSAMPLING
    if len(levels) == 1 and levels[0].size.area >= LARGE_PIXELS:
        levels, oversampling = _halvings(levels[0].size), _OVERSAMPLING_HALVED
    return Reading(levels, len(decoder.levels), is_flat, decoder.is_sequential, oversampling, source.format)


def choose_level(levels: tuple[Level, ...], region: Size, target: Size, oversampling: int) -> int:
    """The coarsest level at which a region (level-0 pixels) has so many times the target's sides, or level 0."""
    for index in reversed(range(len(levels))):
        scale = levels[index].downsample * oversampling
        if region.width >= target.width * scale and region.height >= target.height * scale:
            return index
    return 0


def half_size(size: Size) -> Size:
    """Size of the next level."""
    return Size(-(-size.width // 2), -(-size.height // 2))


def halve(band: Pixels) -> Pixels:
    """Average squares of four pixels; what is left over at the right and below is averaged alone."""
    height, width, _ = band.shape
    half = np.empty((-(-height // 2), -(-width // 2), 3), np.uint8)
    for top in range(0, height, _HALVED_AT_ONCE):  # Pillow copies what it works on, which is to stay small
        part = Image.fromarray(band[top : top + _HALVED_AT_ONCE]).reduce(2)
        half[top // 2 : top // 2 + part.height] = np.asarray(part)
    return half


def cut_anew(bands: Iterator[Pixels], rows: int) -> Iterator[Pixels]:
    """Cut bands of any height into bands of so many rows; only the last may be lower."""
    kept: list[Pixels] = []
    height = 0
    for band in bands:
        kept.append(band)
        height += band.shape[0]
        if height >= rows:
            joined = np.concatenate(kept) if len(kept) > 1 else band
            whole = height - height % rows
            for top in range(0, whole, rows):
                yield np.ascontiguousarray(joined[top : top + rows])
            kept, height = ([joined[whole:]] if height > whole else []), height - whole
    if height:
        yield np.concatenate(kept)


def _halvings(size: Size) -> tuple[Level, ...]:
    levels = [Level(size, 1.0)]
    while max(levels[-1].size) > SMALLEST:
        levels.append(Level(half_size(levels[-1].size), 2 * levels[-1].downsample))
    return tuple(levels)
