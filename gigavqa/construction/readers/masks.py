"""Masks as run lengths, COCO's and CVAT's: their box, their area, and the outlines of what they cover.

COCO counts runs down the columns of the whole image, from the background; its compressed form packs each count, less
the count two before it, in groups of 5 bits from the lowest, 6 bits a character from "0". CVAT counts along rows
of a box.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gigavqa.construction.annotations import Ring
from gigavqa.construction.errors import MarkError

_MOST_PIXELS = 1 << 26
"""Of a mask's box, of which outlines are traced."""
_MOST_CORNERS = 1 << 20

Pixels = NDArray[np.bool_]


class RunMask(NamedTuple):
    """A mask cut to its own box: where its upper left pixel lies, and its pixels; None where they are too many."""

    x: int
    y: int
    width: int
    height: int
    area: int
    pixels: Pixels | None

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Corners that enclose its pixels."""
        return float(self.x), float(self.y), float(self.x + self.width), float(self.y + self.height)

    def rings(self) -> tuple[Ring, ...]:
        """Return the outer outlines of its parts, pixels that touch at a corner alone being two."""
        return () if self.pixels is None else tuple(_outlines(self.pixels, self.x, self.y))


def unpack_counts(text: str) -> list[int]:
    """Return the runs of COCO's compressed form. Raises MarkError."""
    counts: list[int] = []
    value = shift = 0
    for character in text:
        bits = ord(character) - 48
        if not 0 <= bits < 64 or shift > 50:
            raise MarkError("malformed", "segmentation.counts: is no run-length code of COCO; export it anew")
        value |= (bits & 31) << shift
        shift += 5
        if not bits & 32:
            if bits & 16:
                value -= 1 << shift
            counts.append(value + (counts[-2] if len(counts) > 2 else 0))
            value = shift = 0
    if shift:
        raise MarkError("malformed", "segmentation.counts: ends within a number; export it anew")
    return counts


def mask_of_columns(counts: Sequence[int], width: int, height: int) -> RunMask:
    """Return the mask of runs down the columns of an image. Raises MarkError."""
    turned = mask_of_rows(counts, height, width)
    pixels = None if turned.pixels is None else turned.pixels.T
    return RunMask(turned.y, turned.x, turned.height, turned.width, turned.area, pixels)


def mask_of_rows(counts: Sequence[int], width: int, height: int) -> RunMask:
    """Return the mask of runs along rows of `width` pixels, the first of the background. Raises MarkError."""
    if any(count < 0 for count in counts) or sum(counts) != width * height:
        raise MarkError("malformed", f"its runs do not add up to {width} x {height} pixels; export it anew")
    ends = np.cumsum(np.asarray(counts, np.int64))
    begins, ends = np.concatenate(([0], ends[:-1]))[1::2], ends[1::2]
    begins, ends = begins[ends > begins], ends[ends > begins]
    if not len(begins):
        raise MarkError("empty", "segmentation: covers no pixel; mark an area")
    top, bottom = int(begins[0] // width), int((ends[-1] - 1) // width)
    wraps = begins // width != (ends - 1) // width
    left = 0 if wraps.any() else int((begins % width).min())
    right = width - 1 if wraps.any() else int(((ends - 1) % width).max())
    area = int((ends - begins).sum())
    size = right - left + 1, bottom - top + 1
    if size[0] * size[1] > _MOST_PIXELS:
        return RunMask(left, top, *size, area, None)
    pixels = np.zeros((size[1], size[0]), np.bool_)
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        first, last = begin // width, (end - 1) // width
        for row in range(first, last + 1):
            start = begin - first * width if row == first else 0
            stop = end - last * width if row == last else width
            pixels[row - top, start - left : stop - left] = True
    return RunMask(left, top, *size, area, pixels)


def _outlines(pixels: Pixels, x: int, y: int) -> Iterator[Ring]:
    """Yield the outer outlines of a mask, of corners alone, from the topmost of the leftmost ones on."""
    rows, columns, right, down = _corners(pixels)
    if len(rows) > _MOST_CORNERS:
        return
    across, along = _partners(np.lexsort((right, columns, rows))), _partners(np.lexsort((down, rows, columns)))
    left_of, above = rows.tolist(), columns.tolist()
    unseen = np.ones(len(rows), np.bool_)
    for start in np.lexsort((rows, columns)).tolist():
        if not unseen[start]:
            continue
        ring, at = [], start
        while unseen[at]:
            for partners in (across, along):
                unseen[at] = False
                ring += [float(above[at] + x), float(left_of[at] + y)]
                at = partners[at]
        inside = left_of[start] < pixels.shape[0] and above[start] < pixels.shape[1]
        if right[start] and down[start] and inside and pixels[left_of[start], above[start]]:
            yield tuple(ring)


def _partners(order: NDArray[np.int64]) -> list[int]:
    """Return for each corner the one at the other end of its side: of a line's corners in turn, each two."""
    partner = np.empty(len(order), np.int64)
    partner[order[::2]], partner[order[1::2]] = order[1::2], order[::2]
    return partner.tolist()


def _corners(pixels: Pixels) -> tuple[NDArray[np.int64], ...]:
    """Return row and column of each corner, and whether its sides run right and down of it.

    Where two pixels touch at a corner alone, it is a corner of each.
    """
    padded = np.pad(pixels, 1)
    a, b, c, d = padded[:-1, :-1], padded[:-1, 1:], padded[1:, :-1], padded[1:, 1:]
    found = []
    for odd, right, down in ((d, 1, 1), (c, 0, 1), (b, 1, 0), (a, 0, 0)):
        others = [one for one in (a, b, c, d) if one is not odd]
        alone = odd & ~others[0] & ~others[1] & ~others[2]
        lacking = ~odd & others[0] & others[1] & others[2]
        opposite = a if odd is d else d if odd is a else b if odd is c else c
        rest = [one for one in others if one is not opposite]
        touching = odd & opposite & ~rest[0] & ~rest[1]
        row, column = np.nonzero(alone | lacking | touching)
        found.append((row, column, np.full(len(row), right), np.full(len(row), down)))
    return tuple(np.concatenate(parts) for parts in zip(*found, strict=True))
