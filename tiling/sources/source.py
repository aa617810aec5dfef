"""One image file, whatever library reads it, in the oriented frame."""

from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from tifffile import TiffFile

from tiling.errors import RegionError, decoder_faults
from tiling.formats import OPENSLIDE_ONLY
from tiling.geometry import Region, Size
from tiling.headers import StoredHeader, read_stored_header
from tiling.limits import check_pixels
from tiling.orientation import orient_pixels, orient_size, region_s_from_oriented
from tiling.sources.base import Decoder, Level, Pixels
from tiling.sources.jpeg2000 import Jpeg2000Decoder
from tiling.sources.slides import SlideDecoder
from tiling.sources.tiff import TiffDecoder
from tiling.sources.vips import VipsDecoder, can_decode
from tiling.tiff import tiff_layout


class Source:
    """An open image: size, format, levels, microns per pixel, and the pixels of regions. Not thread-safe.

    `decoder` offers the same in the stored frame, in bands of rows.
    """

    def __init__(self, path: Path, format: str, decoder: Decoder, orientation: int) -> None:
        self.path = path
        self.format = format
        self.orientation = orientation
        self.decoder = decoder

    @property
    def size(self) -> Size:
        """Width and height of level 0, in pixels."""
        return self.levels[0].size

    @property
    def levels(self) -> tuple[Level, ...]:
        """Levels from the largest, which is the full resolution, to the smallest."""
        return tuple(Level(orient_size(size, self.orientation), scale) for size, scale in self.decoder.levels)

    @property
    def microns_per_pixel(self) -> float | None:
        """Side of a level-0 pixel on the specimen, where the file says it."""
        return self.decoder.microns_per_pixel

    def read(self, level: int, region_l: Region) -> Pixels:
        """Read a region of a level, H x W x 3 RGB, C-contiguous; raises RegionError outside the level."""
        pixels = np.concatenate(list(self.decoder.bands(level, self.stored_region(level, region_l))))
        return orient_pixels(pixels, self.orientation)

    def stored_region(self, level: int, region_l: Region) -> Region:
        """Where a region of a level lies in the stored frame; raises RegionError outside the level."""
        size = self.levels[level].size
        x, y, width, height = region_l
        if min(x, y) < 0 or min(width, height) < 1 or x + width > size.width or y + height > size.height:
            raise RegionError(f"{self.path}: region {region_l} is not inside level {level}, {size.width}x{size.height}")
        return region_s_from_oriented(region_l, self.decoder.levels[level].size, self.orientation)

    def close(self) -> None:
        """Release the file."""
        self.decoder.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_source(path: Path) -> Source:
    """Open an image with the library that reads it best.

    Raises ImageNotFoundError, ImageUnreadableError, ImageUnsupportedError and ImageTooLargeError.
    """
    if path.suffix.lower() in OPENSLIDE_ONLY and path.is_file():
        return _open_slide(path)
    header = read_stored_header(path)
    if header.container == "tiff":
        return _open_tiff(path, header)
    return Source(path, header.format, _flat_decoder(path, header), header.orientation)


def _flat_decoder(path: Path, header: StoredHeader) -> Decoder:
    if header.container == "jp2" and not can_decode("jp2"):
        return Jpeg2000Decoder(path, header.size_s)
    return VipsDecoder(path, header.container, header.size_s)


def _open_tiff(path: Path, header: StoredHeader) -> Source:
    with decoder_faults(path), ExitStack() as on_error:
        file = on_error.enter_context(TiffFile(path))
        layout = tiff_layout(file, path)
        if layout.read_by_openslide:
            return Source(path, header.format, SlideDecoder(path), orientation=1)
        decoder = TiffDecoder(path, file, layout)
        on_error.pop_all()
        return Source(path, header.format, decoder, header.orientation)


def _open_slide(path: Path) -> Source:
    decoder = SlideDecoder(path)
    check_pixels(path, "tiff_tiles", decoder.levels[0].size)
    return Source(path, decoder.vendor, decoder, orientation=1)
