"""At which levels an image is read: its own where they show what they should, else such as are made of its rows."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from PIL import Image

from gigavqa.tiling.geometry import Size
from gigavqa.tiling.level_comparison import LevelAgreement
from gigavqa.tiling.sources import Level, Source
from gigavqa.tiling.sources.base import Decoder, Pixels

LARGE_PIXELS = 16_000_000
"""Pictures from this size on are worth care; of smaller ones a view takes less time than care saves."""

SMALLEST = 1024
"""A level of at most so many pixels on its longest side is not halved again."""

OVERSAMPLING = 4  # text keeps 45 dB: decision 0006
"""A view of a level at least so much larger keeps 45 dB of what the family makes of the full image, even of text."""

# What overshoots black and white is cut off in full decoding, and is not in scaled: decision 0006.
_OVERSAMPLING_SCALED = 6
# A level's own loss is of that order, and a finer one of a slide has sixteen times the pixels: decision 0006.
_OVERSAMPLING_LOSSY = 3
_OVERSAMPLING_QUICK = 2
_HALVED_ROWS = 64
_LEVELS_UNREAD_REMARK = "; its levels are not read, and a pyramid that `gigavqa ingest` makes of it is"
_LEVEL_UNREAD_REMARK = "; it is not read, nor is any smaller one"


@dataclass(frozen=True)
class ReadPlan:
    """The way to read an image: `levels` in the stored frame, of which the decoder yields the first `num_decoded`.

    `found`: the levels that lie in the file and show what they should; of small images rasters need none but the first.
    `is_flat`: it has no levels of its own that are believed, so that each read of a view passes over much of the file.
    `is_sequential`: and all that lies above a view.
    `remarks`: what a person should know of the file, in sentences that go on from its name.
    """

    levels: tuple[Level, ...]
    num_decoded: int
    found: tuple[Level, ...]
    is_flat: bool
    is_sequential: bool
    oversampling: int
    format: str
    remarks: tuple[str, ...] = ()

    def level_for(self, region: Size, target: Size) -> int:
        """Return the level that a region of this size (level-0 pixels) is best made from."""
        return choose_level(self.levels, region, target, self.oversampling)


def plan_reading(source: Source, agreement: LevelAgreement | None = None) -> ReadPlan:
    """Plan how an open image is read, of whose own levels those are read that show the same; all, without `agreement`.

    A raster is to be the same whether its image has a pyramid by now or not. So levels are made just as ingest makes
    them, by a decoder that scales or in passing, and of an image so small that none are made, none are read. Those of a
    wavelet keep too little of text: decision 0021.
    """
    decoder = source.decoder
    found = decoder.levels
    remarks: tuple[str, ...] = ()
    if decoder.is_scaling or decoder.is_nested:
        found = decoder.levels[:1]
    elif agreement:
        num_levels, doubt = agreement
        found = decoder.levels[:num_levels]
        remarks = (f"{doubt}{_LEVELS_UNREAD_REMARK if num_levels == 1 else _LEVEL_UNREAD_REMARK}",) if doubt else ()
    is_flat, is_large = len(found) == 1, found[0].size.area >= LARGE_PIXELS
    levels = found if is_large else found[:1]
    made = levels_to_make(decoder) if is_flat and is_large else (levels, len(levels))
    return ReadPlan(
        *made,
        found=found,
        is_flat=is_flat,
        is_sequential=decoder.is_sequential,
        oversampling=_oversampling(decoder, is_flat=is_flat),
        format=source.format,
        remarks=remarks,
    )


def _oversampling(decoder: Decoder, *, is_flat: bool) -> int:
    if decoder.is_scaling:
        return _OVERSAMPLING_SCALED
    return _OVERSAMPLING_LOSSY if decoder.is_lossy and not is_flat else OVERSAMPLING


def levels_to_make(decoder: Decoder) -> tuple[tuple[Level, ...], int]:
    """Return the levels that are made of a flat image, by passes and by ingest alike, and how many its decoder yields.

    Each of the latter is a decode of its own; those below are halvings of the last one.
    """
    levels = [decoder.levels[0]]
    while max(levels[-1].size) > SMALLEST:
        levels.append(Level(half_size(levels[-1].size), 2 * levels[-1].downsample))
    return tuple(levels), min(len(levels), len(decoder.levels)) if decoder.is_scaling else 1


def quick_read_plan(reading: ReadPlan, decoder: Decoder) -> ReadPlan:
    """Return how a flat image is read for what nobody takes for a raster: at a scale, or a level, of its decoder."""
    if not (decoder.is_scaling or decoder.is_nested):
        return reading
    levels = decoder.levels
    return replace(reading, levels=levels, num_decoded=len(levels), oversampling=_OVERSAMPLING_QUICK)


def choose_level(levels: tuple[Level, ...], region: Size, target: Size, oversampling: int) -> int:
    """Return the coarsest level at which a region (level-0 pixels) has so many times the target's sides, or level 0."""
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
    for top in range(0, height, _HALVED_ROWS):  # Pillow copies what it works on, which is to stay small
        part = Image.fromarray(band[top : top + _HALVED_ROWS]).reduce(2)
        half[top // 2 : top // 2 + part.height] = np.asarray(part)
    return half


def rechunk_bands(bands: Iterator[Pixels], rows: int) -> Iterator[Pixels]:
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
