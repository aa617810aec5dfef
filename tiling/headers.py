"""Size and format of an image from its header alone, with libraries that every machine has."""

import zlib
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from PIL import Image, Jpeg2KImagePlugin, JpegImagePlugin, PngImagePlugin, WebPImagePlugin
from PIL.ImageFile import ImageFile
from tifffile import TiffFile

from gigavqa.tiling import jpeg, jpeg2000
from gigavqa.tiling.displays.display import parse_display
from gigavqa.tiling.displays.samples import native_samples
from gigavqa.tiling.displays.tones import check_display
from gigavqa.tiling.errors import DECODER_ERRORS, ImageUnreadableError, TilingError, translate_decoder_errors
from gigavqa.tiling.files import OpenFile
from gigavqa.tiling.formats import Container, container_of
from gigavqa.tiling.geometry import ImageFrame, MicronsPerPixel, Size
from gigavqa.tiling.ground.geotags import NO_GEOTAGS, GeoTags
from gigavqa.tiling.ground.jpeg2000_ground import ground_of
from gigavqa.tiling.ground.places import place_resolvers
from gigavqa.tiling.image_part import WHOLE, ImagePart, require_whole
from gigavqa.tiling.limits import PixelLayout, check_pixels
from gigavqa.tiling.opening import locate_remote, open_file
from gigavqa.tiling.orientation import ORIENTATION_TAG, orient_size, oriented_microns, valid_orientation
from gigavqa.tiling.pixel_types import CHANNELS, ColourKind, PixelType, check_pixel_type
from gigavqa.tiling.remote.addresses import is_remote_name
from gigavqa.tiling.slides.microns import micron_resolvers
from gigavqa.tiling.slides.ngff import read_ngff
from gigavqa.tiling.slides.slide_facts import SLIDE_PIXELS, SlideFacts, read_slide_facts, size_of_part
from gigavqa.tiling.tiff import is_read_by_openslide, tiff_format, tiff_layout

# Pillow's own limit on decompression bombs stands in Image.open; these classes leave it to gigavqa.tiling.limits.
_PLUGINS: dict[Container, Callable[..., ImageFile]] = {
    "jpeg": JpegImagePlugin.JpegImageFile,
    "png": PngImagePlugin.PngImageFile,
    "webp": WebPImagePlugin.WebPImageFile,
    "jp2": Jpeg2KImagePlugin.Jpeg2KImageFile,
}

_HEADERS_AT_ONCE = 8
_PNG_TAIL_BYTES = 256 * 1024
_PNG_BITS_AT = 24  # and what its colours are
_PNG_COLOURS: dict[int, tuple[ColourKind, int]] = {
    0: ("grey", 1),
    2: ("rgb", 3),
    3: ("palette", 1),
    4: ("grey", 2),
    6: ("rgb", 4),
}
_PNG_EXACT_BITS = (1, 2, 4, 8)


@dataclass(frozen=True)
class Header:
    """Size in the oriented frame, in pixels, and format: that of the file, or the vendor's whom OpenSlide names.

    `size` is an `ImageFrame` where the file says where it lies, which `geotags` tell, or how large its pixels are.
    """

    size: Size
    format: str
    geotags: GeoTags = NO_GEOTAGS
    has_profile: bool = False
    """Whether the file has an ICC profile, which is not applied."""


@dataclass(frozen=True)
class StoredHeader:
    """The pixels as a file's header describes them, in the stored frame."""

    container: Container
    format: str
    size_s: Size
    orientation: int
    pixel_type: PixelType
    geotags: GeoTags = NO_GEOTAGS
    microns_per_pixel: MicronsPerPixel | None = None
    has_profile: bool = False
    is_slide: bool = False
    """Whether OpenSlide reads it."""
    has_table: bool = False
    """Whether samples are classes, of which the file has a table of colours that decoders leave to displays."""

    @property
    def oriented(self) -> Header:
        """The same in the oriented frame."""
        size, tags = orient_size(self.size_s, self.orientation), self.geotags
        if tags and self.orientation != 1:
            tags = GeoTags(
                fault="an orientation tag turns the image, and of which frame the georeference is, is unsure"
            )
        microns = self.microns_per_pixel and oriented_microns(self.microns_per_pixel, self.orientation)
        resolvers = {**place_resolvers(tags), **micron_resolvers(microns)}
        frame = ImageFrame.of(size, resolvers, microns) if resolvers else size
        return Header(frame, self.format, tags, self.has_profile)


def read_header(path: Path, show: str = "") -> Header:
    """Read an image's size and format without decoding a pixel; `show` declares how it is shown, if not as it is.

    Raises ImageNotFoundError, ImageUnreadableError, ImageUnsupportedError, PixelTypeError for pixels that are not shown
    as they are, and ImageTooLargeError beyond `gigavqa.tiling.limits`.
    """
    display = parse_display(show) if show else None
    found = read_stored_header(path, display.part if display else WHOLE, is_declared=display is not None)
    if display:
        native = native_samples(found.pixel_type, has_table=found.has_table, has_profile=found.has_profile)
        check_display(path, display, native)
    return found.oriented


def look_at_remote(names: Iterable[str]) -> None:
    """Read the headers of all images elsewhere among these, eight at a time; what is wrong, whoever reads it is told.

    Blocks.
    """

    def look(name: str) -> None:
        with suppress(TilingError):
            read_stored_header(locate_remote(name), is_declared=True)

    with ThreadPoolExecutor(_HEADERS_AT_ONCE, thread_name_prefix="headers") as pool:
        for _ in pool.map(look, dict.fromkeys(filter(is_remote_name, names))):
            pass


def read_stored_header(path: Path, part: ImagePart = WHOLE, *, is_declared: bool = False) -> StoredHeader:
    """Read the header of a part of a file in the stored frame; raises as `read_header` does."""
    with open_file(path) as file:
        return header_of(file, part, is_declared=is_declared)


def header_of(file: OpenFile, part: ImagePart = WHOLE, *, is_declared: bool = False) -> StoredHeader:
    """Read the header of a part of an open file in the stored frame; raises as `read_header` does.

    But not PixelTypeError where it `is_declared` how real samples of whatever depth and number are shown.
    """
    container = container_of(file)
    if container == "slide":
        header, layout = _slide_header(file, container, part)
    elif container == "zarr":
        header, layout = _zarr_header(file, part, is_declared=is_declared)
    elif container == "tiff":
        header, layout = _tiff_header(file, part, is_declared=is_declared)
    else:
        header, layout = _flat_header(file, part, container=container, is_declared=is_declared)
    check_pixels(file.path, layout, header.size_s)
    return header


def slide_facts_of(file: OpenFile) -> SlideFacts | None:
    """Return what OpenSlide knows of an open slide; None of what is none to it. Raises as `read_header` does."""
    container = container_of(file)
    if container == "tiff":
        with translate_decoder_errors(file.path), file.stream() as stream, TiffFile(stream) as tiff:
            is_slide = is_read_by_openslide(tiff) or tiff_format(tiff) == "svs"
    else:
        is_slide = container == "slide"
    return read_slide_facts(file) if is_slide else None


def _slide_header(
    file: OpenFile, container: Container, part: ImagePart, format: str = ""
) -> tuple[StoredHeader, PixelLayout]:
    facts = read_slide_facts(file)
    size = size_of_part(file.path, facts, part)
    layout: PixelLayout = "jp2" if part.associated else "tiff_tiles"
    microns = None if part.associated else facts.microns_per_pixel
    header = StoredHeader(
        container, format or facts.vendor, size, 1, SLIDE_PIXELS,
        microns_per_pixel=microns, has_profile=facts.has_profile, is_slide=True,
    )  # fmt: skip
    return header, layout


def _tiff_header(file: OpenFile, part: ImagePart, *, is_declared: bool) -> tuple[StoredHeader, PixelLayout]:
    with translate_decoder_errors(file.path), file.stream() as stream, TiffFile(stream) as tiff:
        if part.associated or is_read_by_openslide(tiff):
            return _slide_header(file, "tiff", part, tiff_format(tiff))
        found = tiff_layout(tiff, file.path, part, is_declared=is_declared)
    layout: PixelLayout = "tiff_tiles" if found.is_tiled else "tiff_strips"
    told = found.orientation, found.pixel_type, found.geotags, found.microns_per_pixel, found.has_profile
    return StoredHeader("tiff", found.format, found.size_s, *told, has_table=found.has_table), layout


def _zarr_header(file: OpenFile, part: ImagePart, *, is_declared: bool) -> tuple[StoredHeader, PixelLayout]:
    found = read_ngff(file.path, part)
    check_pixel_type(file.path, found.pixel_type, is_declared=is_declared)
    told = StoredHeader("zarr", "ome-zarr", found.sizes[0], 1, found.pixel_type)
    return replace(told, microns_per_pixel=found.microns_per_pixel), "tiff_tiles"


def _flat_header(
    file: OpenFile, part: ImagePart, *, container: Container, is_declared: bool
) -> tuple[StoredHeader, PixelLayout]:
    require_whole(file.path, part)
    with translate_decoder_errors(file.path):
        told = _declared_pixel_type(file, container)
        if told:
            check_pixel_type(file.path, told, is_declared=is_declared)
            if is_declared and (told.bits, told.kind) != (8, "unsigned"):
                header = _deep_header(file, container, told)
                return header, _layout_of_jp2(file, header.size_s) if container == "jp2" else "jp2_whole"
    with translate_decoder_errors(file.path), file.stream() as stream, _PLUGINS[container](stream) as image:
        found = told or (_png_pixel_type(file) if container == "png" else _webp_pixel_type(image))
        exact_bits = _PNG_EXACT_BITS if container == "png" else (8,)
        check_pixel_type(file.path, found, exact_bits, is_declared=is_declared)
        exif = image.info.get("exif", b"") or (_exif_behind_pixels(file) if container == "png" else b"")
        ground = ground_of(file) if container == "jp2" else NO_GEOTAGS
        has_profile, is_jp2 = bool(image.info.get("icc_profile")), container == "jp2"
        header = StoredHeader(
            container, container, Size(*image.size), _orientation(exif), found, ground, has_profile=has_profile
        )
        return header, _layout_of_jp2(file, header.size_s) if is_jp2 else _layout(image, container)


def _deep_header(file: OpenFile, container: Container, told: PixelType) -> StoredHeader:
    """Return what the file itself says of pixels that Pillow does not open."""
    if container == "jp2":
        return StoredHeader(container, container, jpeg2000.size_of(file), 1, told, ground_of(file))
    orientation = _orientation(jpeg.find_exif(file))
    return StoredHeader(container, container, jpeg.size_of(file), orientation, told)


def _declared_pixel_type(file: OpenFile, container: Container) -> PixelType | None:
    """Return what the file says itself, where Pillow refuses or hides the pixels of which there would be too much."""
    if container == "jpeg":
        return jpeg.pixel_type_of(file)
    return jpeg2000.pixel_type_of(file) if container == "jp2" else None


def _png_pixel_type(file: OpenFile) -> PixelType:
    """As the file says it, of which Pillow tells the depth only in part. A colour that stands for alpha is no band."""
    bits, kind = file.read_at(_PNG_BITS_AT, 2)
    colours, bands = _PNG_COLOURS[kind]
    return PixelType(bits, colours, bands, has_alpha=bands > CHANNELS[colours])


def _webp_pixel_type(image: ImageFile) -> PixelType:
    return PixelType(8, "rgb", len(image.getbands()), has_alpha="A" in image.mode)


def _orientation(data: bytes) -> int:
    """Return the orientation that EXIF data gives; data that cannot be read give none, as in every viewer."""
    exif = Image.Exif()
    try:
        exif.load(data)
        return valid_orientation(exif.get(ORIENTATION_TAG))
    except DECODER_ERRORS:
        return 1


def _exif_behind_pixels(file: OpenFile) -> bytes:
    """Return the eXIf chunk in the last 256 KiB of a PNG.

    Pillow's own `getexif` would decode the whole image to get there.
    """
    tail = file.read_at(max(0, file.size - _PNG_TAIL_BYTES), _PNG_TAIL_BYTES)
    at = tail.rfind(b"eXIf")
    if at < 4:
        return b""
    length = int.from_bytes(tail[at - 4 : at])
    data, checksum = tail[at + 4 : at + 4 + length], tail[at + 4 + length : at + 8 + length]
    return data if zlib.crc32(data, zlib.crc32(b"eXIf")).to_bytes(4) == checksum else b""


def _layout(image: ImageFile, container: Container) -> PixelLayout:
    if container == "jpeg":
        return "jpeg_progressive" if image.info.get("progressive") else "jpeg"
    if container == "png":
        return "png_interlaced" if image.info.get("interlace") else "png"
    return "webp"


def _layout_of_jp2(file: OpenFile, size: Size) -> PixelLayout:
    coding = jpeg2000.coding_of(file)
    if coding.size != size:
        told = f"its box says {size.width}x{size.height}, its codestream {coding.size.width}x{coding.size.height}"
        raise ImageUnreadableError(f"{file.path}: {told}")
    return "jp2" if coding.is_plain else "jp2_whole"
