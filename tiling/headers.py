"""Size and format of an image from its header alone, with libraries that every machine has."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, Jpeg2KImagePlugin, JpegImagePlugin, PngImagePlugin, WebPImagePlugin
from PIL.ImageFile import ImageFile
from tifffile import TiffFile

from tiling.errors import ImageUnreadableError
from tiling.formats import Container, container_of
from tiling.geometry import Size
from tiling.limits import Layout, check_pixels
from tiling.orientation import TAG, orient_size, valid_orientation
from tiling.tiff import tiff_faults, tiff_layout

# Pillow's own limit on decompression bombs stands in Image.open; these classes leave it to tiling.limits.
_PLUGINS: dict[Container, Callable[..., ImageFile]] = {
    "jpeg": JpegImagePlugin.JpegImageFile,
    "png": PngImagePlugin.PngImageFile,
    "webp": WebPImagePlugin.WebPImageFile,
    "jp2": Jpeg2KImagePlugin.Jpeg2KImageFile,
}


@dataclass(frozen=True)
class Header:
    """Size in the oriented frame, in pixels, and format: jpeg, png, webp, jp2, tiff, ome-tiff, svs, ndpi or philips."""

    size: Size
    format: str


@dataclass(frozen=True)
class StoredHeader:
    """What the header says of the pixels as they lie in the file."""

    container: Container
    format: str
    size_s: Size
    orientation: int

    @property
    def oriented(self) -> Header:
        """The same in the oriented frame."""
        return Header(orient_size(self.size_s, self.orientation), self.format)


def read_header(path: Path) -> Header:
    """Read an image's size and format without decoding a pixel.

    Raises ImageNotFoundError, ImageUnreadableError, ImageUnsupportedError, and ImageTooLargeError beyond
    `tiling.limits`.
    """
    return read_stored_header(path).oriented


def read_stored_header(path: Path) -> StoredHeader:
    """Read the header in the stored frame; raises as `read_header` does."""
    container = container_of(path)
    header, layout = _tiff(path) if container == "tiff" else _flat(path, container)
    check_pixels(path, layout, header.size_s)
    return header


def _tiff(path: Path) -> tuple[StoredHeader, Layout]:
    with tiff_faults(path), TiffFile(path) as file:
        found = tiff_layout(file, path)
    layout: Layout = "tiff_tiles" if found.is_tiled else "tiff_strips"
    return StoredHeader("tiff", found.format, found.size_s, found.orientation), layout


def _flat(path: Path, container: Container) -> tuple[StoredHeader, Layout]:
    try:
        with _PLUGINS[container](path) as image:
            size = Size(*image.size)
            return StoredHeader(container, container, size, _orientation(image)), _layout(image, container)
    except (SyntaxError, OSError, ValueError) as error:
        raise ImageUnreadableError(f"{path}: {error}") from error


def _orientation(image: ImageFile) -> int:
    # image.getexif() would decode a whole PNG in search of a chunk behind the pixels
    exif = Image.Exif()
    exif.load(image.info.get("exif", b""))
    return valid_orientation(exif.get(TAG))


def _layout(image: ImageFile, container: Container) -> Layout:
    if container == "jpeg":
        return "jpeg_progressive" if image.info.get("progressive") else "jpeg"
    if container == "png":
        return "png_interlaced" if image.info.get("interlace") else "png"
    return "webp" if container == "webp" else "jp2"
