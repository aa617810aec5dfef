"""EXIF orientation: the stored frame is the pixels' order in the file, the oriented frame is how a person sees them.

Every size and region outside of `gigavqa.tiling.sources` is in the oriented frame. Suffix `_s`: the stored frame.
Source: TIFF 6.0 and EXIF 2.32, tag 0x0112.
"""

import numpy as np
from numpy.typing import NDArray

from gigavqa.tiling.geometry import MicronsPerPixel, Region, Size

ORIENTATION_TAG = 0x0112

_TRANSPOSED = frozenset({5, 6, 7, 8})
_FLIPPED_X_S = frozenset({2, 3, 7, 8})  # oriented axes run against the stored x axis
_FLIPPED_Y_S = frozenset({3, 4, 6, 7})  # ... against the stored y axis


def valid_orientation(value: object) -> int:
    """Orientation 1 to 8; anything else that a file says means 1, as in every viewer."""
    return value if isinstance(value, int) and 1 <= value <= 8 else 1


def is_transposed(orientation: int) -> bool:
    """Return whether an orientation exchanges the axes."""
    return orientation in _TRANSPOSED


def orient_size(size: Size, orientation: int) -> Size:
    """Exchange width and height where the orientation transposes; the same in both directions."""
    return Size(size.height, size.width) if is_transposed(orientation) else size


def oriented_microns(microns: MicronsPerPixel, orientation: int) -> MicronsPerPixel:
    """Exchange width and height of a pixel likewise."""
    return MicronsPerPixel(microns.y, microns.x) if orientation in _TRANSPOSED else microns


def region_s_from_oriented(region: Region, size_s: Size, orientation: int) -> Region:
    """Return where a region of the oriented frame lies in the stored frame of an image of `size_s`."""
    x, y, width, height = region
    if orientation in _TRANSPOSED:
        x, y, width, height = y, x, height, width
    if orientation in _FLIPPED_X_S:
        x = size_s.width - x - width
    if orientation in _FLIPPED_Y_S:
        y = size_s.height - y - height
    return Region(x, y, width, height)


def orient_pixels(pixels: NDArray[np.uint8], orientation: int) -> NDArray[np.uint8]:
    """Turn H x W x 3 pixels of the stored frame into the oriented frame, C-contiguous."""
    if orientation in _FLIPPED_X_S:
        pixels = pixels[:, ::-1]
    if orientation in _FLIPPED_Y_S:
        pixels = pixels[::-1]
    if orientation in _TRANSPOSED:
        pixels = pixels.swapaxes(0, 1)
    return np.ascontiguousarray(pixels)
