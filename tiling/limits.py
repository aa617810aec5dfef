"""The most pixels that an image of each format may declare, against files that are small on disk and endless in memory.

A limit is changed by the environment variable `GIGAVQA_MAX_PIXELS_<FORMAT>`, for example `GIGAVQA_MAX_PIXELS_PNG=1e9`.
"""

import os
from pathlib import Path
from typing import Literal

from gigavqa.tiling.errors import ImageTooLargeError
from gigavqa.tiling.geometry import Size

PixelLayout = Literal[
    "jpeg",
    "jpeg_progressive",
    "png",
    "png_interlaced",
    "webp",
    "jp2",
    "jp2_whole",
    "tiff_strips",
    "tiff_tiles",
    "pdf_page",
]

_MAX_PIXELS: dict[PixelLayout, float] = {
    "jpeg": 4.3e9,  # 65535 x 65535, all that the format can say
    "jpeg_progressive": 3.2e8,  # the decoder holds every coefficient: 3 bytes a pixel at 4:2:0
    "png": 4e9,  # half a minute of one core
    "png_interlaced": 2.5e8,  # the decoder holds every pixel
    "webp": 2.7e8,  # 16383 x 16383, all that the format can say; the decoder holds every pixel
    "jp2": 1e9,  # OpenJPEG decodes 7 megapixels a second, in bands
    "jp2_whole": 4.5e7,  # of luma and chroma, palettes, subsampling; the decoder holds every pixel: 24 bytes of each
    "tiff_strips": 1e10,
    "tiff_tiles": 1e11,  # only the tiles under a view are decoded
    "pdf_page": 1e8,  # drawn whole: 0.4 GB
}


def max_pixels(layout: PixelLayout) -> float:
    """Return the limit in force for one layout, in pixels."""
    return float(os.environ.get(f"GIGAVQA_MAX_PIXELS_{layout.upper()}", _MAX_PIXELS[layout]))


def check_pixels(path: Path, layout: PixelLayout, size: Size) -> None:
    """Raise ImageTooLargeError where an image of `size` exceeds the limit of its layout."""
    if size.area > max_pixels(layout):
        raise ImageTooLargeError(
            f"{path}: {size.width}x{size.height} exceeds {max_pixels(layout):.3g} pixels, the limit for {layout}; "
            f"GIGAVQA_MAX_PIXELS_{layout.upper()} sets it"
        )
