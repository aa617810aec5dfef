"""One image file, whatever library reads it, in the oriented frame."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from tifffile import TiffFile

from gigavqa.tiling.digest import require_content
from gigavqa.tiling.displays.tone import Tone
from gigavqa.tiling.errors import ImageNotFoundError, ImageUnsupportedError, RegionError, translate_decoder_errors
from gigavqa.tiling.files import Closeable, OpenFile, image_changed_error
from gigavqa.tiling.geometry import MicronsPerPixel, Region, Size
from gigavqa.tiling.headers import StoredHeader, header_of
from gigavqa.tiling.image_part import WHOLE, ImagePart
from gigavqa.tiling.jpeg2000 import coding_of
from gigavqa.tiling.opening import open_file
from gigavqa.tiling.orientation import orient_pixels, orient_size, oriented_microns, region_s_from_oriented
from gigavqa.tiling.slides.ngff import read_ngff
from gigavqa.tiling.sources.base import Decoder, Level, Pixels
from gigavqa.tiling.sources.jpeg2000 import Jpeg2000Decoder
from gigavqa.tiling.sources.slides import AssociatedImageDecoder, SlideDecoder
from gigavqa.tiling.sources.tiff import TiffDecoder
from gigavqa.tiling.sources.vips import VipsDecoder
from gigavqa.tiling.sources.whole import WholeImageDecoder
from gigavqa.tiling.sources.whole_jpeg2000 import WholeJpeg2000Decoder
from gigavqa.tiling.tiff import tiff_layout

_BITS_OF_JPEG = 8
_MOST_WHOLE_BANDS = 4


class Source(Closeable):
    """An open image: size, format, levels, microns per pixel, and the pixels of regions. Not thread-safe.

    `decoder` offers the same in the stored frame, in bands of rows. Takes over the open `file`.
    """

    def __init__(self, file: OpenFile, format: str, decoder: Decoder, orientation: int) -> None:
        self.file = file
        self.must_stay = False
        """Whether the file was opened for a content that it must keep."""
        self.format = format
        self.orientation = orientation
        self.decoder = decoder
        self._frame: Size | None = None

    @property
    def size(self) -> Size:
        """Width and height of level 0, in pixels."""
        return self.levels[0].size

    @property
    def frame(self) -> Size:
        """The same size, in which places are found where the file's header says where it lies."""
        return self._frame or self.size

    @property
    def levels(self) -> tuple[Level, ...]:
        """Levels from the largest, which is the full resolution, to the smallest."""
        return tuple(each._replace(size=orient_size(each.size, self.orientation)) for each in self.decoder.levels)

    @property
    def microns_per_pixel(self) -> MicronsPerPixel | None:
        """Width and height of a level-0 pixel on the specimen, where the file says it."""
        stored = self.decoder.microns_per_pixel
        return stored and oriented_microns(stored, self.orientation)

    def read(self, level: int, region_l: Region) -> Pixels:
        """Read a region of a level, H x W x 3 RGB, C-contiguous; raises RegionError outside the level."""
        pixels = np.concatenate(list(self.decoder.bands(level, self.stored_region(level, region_l))))
        return orient_pixels(pixels, self.orientation)

    def stored_region(self, level: int, region_l: Region) -> Region:
        """Return where a region of a level lies in the stored frame; raises RegionError outside the level."""
        size = self.levels[level].size
        x, y, width, height = region_l
        if min(x, y) < 0 or min(width, height) < 1 or x + width > size.width or y + height > size.height:
            path, there = self.file.path, f"level {level}, {size.width}x{size.height}"
            raise RegionError(f"{path}: region {region_l} is not inside {there}")
        return region_s_from_oriented(region_l, self.decoder.levels[level].size, self.orientation)

    @property
    def is_unchanged(self) -> bool:
        """Whether the file has the content for which it was opened, if it was for one."""
        return not self.must_stay or self.file.is_unchanged

    @contextmanager
    def unchanging(self) -> Iterator[None]:
        """Let ImageChangedError be raised where the file does not keep the content for which it was opened."""
        if not self.must_stay:
            yield
            return
        with self.file.unchanging():
            yield

    def require_unchanged(self) -> None:
        """Raise ImageChangedError where it has not kept it by now."""
        if not self.is_unchanged:
            raise image_changed_error(self.file.path)

    def framed_by(self, header: StoredHeader) -> "Source":
        """Take over where the image lies, of its header."""
        self._frame = header.oriented.size
        return self

    def close(self) -> None:
        self.decoder.close()
        self.file.close()


def open_source(path: Path, digest: str | None = None, tone: Tone | None = None) -> Source:
    """Open an image with the library that reads it best; one that may change, for the content of this digest.

    Its samples are shown by `tone`, else as they are.

    What is read of such a source shows that content if `unchanging` says so afterwards. Raises ImageNotFoundError,
    ImageUnreadableError, ImageUnsupportedError and ImageTooLargeError; of a file of another content, or of none,
    ImageChangedError.
    """
    try:
        file = open_file(path)
    except ImageNotFoundError as error:
        raise (image_changed_error(path) if digest else error) from error
    with ExitStack() as on_error:
        on_error.callback(file.close)
        if digest:
            require_content(file, digest)
            with file.unchanging():
                source = source_of(file, tone)
            source.must_stay = True
        else:
            source = source_of(file, tone)
        on_error.pop_all()
        return source


def source_of(file: OpenFile, tone: Tone | None = None) -> Source:
    """Choose the library that reads an open file best. Raises as `open_source` does."""
    source = _choose_source(file, tone.part if tone else WHOLE, is_declared=tone is not None)
    source.decoder.conversion = tone
    return source


def native_source_of(file: OpenFile, part: ImagePart = WHOLE) -> Source:
    """Open a file to read its samples as they are, of whatever depth. Raises as `open_source` does."""
    source = _choose_source(file, part, is_declared=True)
    source.decoder.conversion = source.decoder.native
    return source


def _choose_source(file: OpenFile, part: ImagePart, *, is_declared: bool) -> Source:
    header = header_of(file, part, is_declared=is_declared)
    if header.is_slide:
        return Source(file, header.format, _slide_decoder(file, part), orientation=1).framed_by(header)
    if header.container == "zarr":
        return Source(file, header.format, _zarr_decoder(file, part), orientation=1).framed_by(header)
    if header.container == "tiff":
        return _open_tiff(file, header, part, is_declared=is_declared).framed_by(header)
    decoder = _flat_decoder(file, header, is_declared=is_declared)
    return Source(file, header.format, decoder, header.orientation).framed_by(header)


def _zarr_decoder(file: OpenFile, part: ImagePart) -> Decoder:
    if find_spec("zarr") is None:
        raise ImageUnsupportedError(f"{file.path}: zarr-python reads OME-Zarr: `pip install 'gigavqa[zarr]'` has it")
    from gigavqa.tiling.sources.zarr import ZarrDecoder  # noqa: PLC0415 - an extra

    return ZarrDecoder(file, read_ngff(file.path, part))


def _slide_decoder(file: OpenFile, part: ImagePart) -> Decoder:
    return AssociatedImageDecoder(file, part.associated) if part.associated else SlideDecoder(file, part)


def _flat_decoder(file: OpenFile, header: StoredHeader, *, is_declared: bool) -> Decoder:
    is_deep_jpeg = header.container == "jpeg" and header.pixel_type.bits != _BITS_OF_JPEG
    if header.container == "jp2":
        with translate_decoder_errors(file.path):
            coding = coding_of(file)
        if coding.is_plain:
            return Jpeg2000Decoder(file, coding, header.pixel_type)
        if header.pixel_type.bands > _MOST_WHOLE_BANDS:
            raise ImageUnsupportedError(f"{file.path}: its bands are of several kinds and decoded whole; make it a COG")
        if not is_declared:
            return WholeJpeg2000Decoder(file, header.size_s)
    if is_deep_jpeg or header.container == "jp2":
        return WholeImageDecoder(file, header.container, header.size_s, header.pixel_type)
    return VipsDecoder(file, header.container, header.size_s)


def _open_tiff(file: OpenFile, header: StoredHeader, part: ImagePart, *, is_declared: bool) -> Source:
    with translate_decoder_errors(file.path), ExitStack() as on_error:
        tiff = on_error.enter_context(TiffFile(on_error.enter_context(file.stream())))
        layout = tiff_layout(tiff, file.path, part, is_declared=is_declared)
        decoder = TiffDecoder(file, tiff, layout, on_error.pop_all())
        return Source(file, header.format, decoder, header.orientation)
