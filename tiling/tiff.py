"""Read a TIFF container's layout: which pages are pyramid levels, and which library decodes them.

Needs tifffile alone, no codec, so that a header can be read on any machine.
"""

import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tifffile import TiffFile, TiffPage

from gigavqa.tiling.errors import ImageUnreadableError, ImageUnsupportedError, translate_decoder_errors
from gigavqa.tiling.geometry import MicronsPerPixel, Size
from gigavqa.tiling.ground.geotags import NO_GEOTAGS, GeoTags, geotags_of
from gigavqa.tiling.image_part import WHOLE, ImagePart, require_whole
from gigavqa.tiling.orientation import ORIENTATION_TAG, valid_orientation
from gigavqa.tiling.pixel_types import ColourKind, PixelType, SampleKind, check_pixel_type
from gigavqa.tiling.slides.ome_tiff import ome_plane

_MAX_PAGES = 64
_COARSEST_SPECIMEN = 10.0  # microns; scans and prints have more, and so has what libraries write by themselves
_CENTIMETRE = 3
_REDUCED, _PAGE, _MASK = 1, 2, 4  # NewSubfileType, a sum of these
_OLD_REDUCED, _OLD_PAGE = 2, 3  # SubfileType, which was before
_MAX_STRIP_BYTES = 512 * 2**20
_MAX_TILE_BYTES = 64 * 2**20  # each thread that decodes holds one; 4096 x 4096 RGB has 48 MiB
_OPENSLIDE_COMPRESSION = 33003  # Aperio's JPEG 2000 in YCbCr, which imagecodecs leaves unconverted
_COMPRESSIONS = frozenset({1, 5, 7, 8, 32773, 32946, 33005, 34712, 34925, 50000, 50001})
_PHOTOMETRICS: dict[int, ColourKind] = {0: "grey", 1: "grey", 2: "rgb", 3: "palette", 5: "cmyk", 6: "rgb"}
_SAMPLE_KINDS: dict[int, SampleKind] = {2: "signed", 3: "floating point", 5: "complex", 6: "complex"}
_PREMULTIPLIED = 1  # of ExtraSamples
_ALPHAS = {_PREMULTIPLIED, 2}  # the latter is straight; 0 says nothing
_EXACT_BITS = (1, 8)
_ODD_BITS = frozenset(range(17, 64)) - {32}
_OPENSLIDE_FORMATS = frozenset({"ndpi", "philips", "scn", "bif", "trestle", "huron", "argos"})
_LEICA = "http://www.leica-microsystems.com/scn/"
_MAKE_TAG, _XMP_TAG, _ARGOS_TAG, _PROFILE_TAG = 271, 700, 65000, 34675
_FOCUS_TAG = 65424
_ARGOS = "Argos.Scan.Metadata"
_MOST_XMP_BYTES, _MOST_XML = 4096, 2**20
LOSSY = frozenset({7, 34712, 33005, 50001})
"""Compressions that may lose something; their codecs convert colours, too."""

logging.getLogger("tifffile").setLevel(logging.CRITICAL)  # what it logs about bad files is raised here


@dataclass(frozen=True)
class TiffLayout:
    """An image of a TIFF container; `pages` are its levels, largest first, in the stored frame.

    `channels` are, level by level, the pages of the plane's channels where each has a page of its own; else the level's
    own page alone.

    What a level shows nobody has looked at here (`gigavqa.tiling.level_comparison` does). `num_others` counts the pages
    behind the first that say of themselves that they are images of their own, or have no such level's shape.
    """

    format: str
    pages: tuple[TiffPage, ...]
    num_others: int
    orientation: int
    microns_per_pixel: MicronsPerPixel | None
    pixel_type: PixelType
    geotags: GeoTags = NO_GEOTAGS
    has_profile: bool = False
    channels: tuple[tuple[TiffPage, ...], ...] = ()
    has_table: bool = False
    """Whether it has a table of colours, one of each value of its samples."""
    has_mask: bool = False
    """Whether a page of it says which pixels mean anything."""

    @property
    def size_s(self) -> Size:
        """Width and height of level 0 in the stored frame."""
        return page_size(self.pages[0])

    @property
    def is_tiled(self) -> bool:
        """Whether a region can be read without all that lies above it."""
        return bool(self.pages[0].is_tiled)


def page_size(page: TiffPage) -> Size:
    """Width and height of a page in pixels."""
    return Size(page.imagewidth, page.imagelength)


def colour_table(page: TiffPage) -> NDArray[np.uint8] | None:
    """Return the RGB of each class of a page of classes, N x 3, be it that its header calls for grey."""
    if page.samplesperpixel != 1 or page.sampleformat != 1 or page.colormap is None:
        return None
    table = np.asarray(page.colormap)
    return (table >> 8 if table.max() > 255 else table).astype(np.uint8).T.copy()


def photometric_kind(page: TiffPage) -> ColourKind:
    """Return what a decoded page's samples are; KeyError for interpretations that are not served."""
    return _PHOTOMETRICS[page.photometric]


def is_read_by_openslide(file: TiffFile) -> bool:
    """Return whether an open TIFF is a slide that OpenSlide puts together, or alone decodes."""
    first = file.pages[0]
    return isinstance(first, TiffPage) and (
        first.compression == _OPENSLIDE_COMPRESSION or tiff_format(file) in _OPENSLIDE_FORMATS
    )


def tiff_layout(file: TiffFile, path: Path, part: ImagePart = WHOLE, *, is_declared: bool = False) -> TiffLayout:
    """Find out what an open TIFF holds, of whose pixels it `is_declared` how they are shown, or not.

    Raises ImageUnreadableError for broken structure, PixelTypeError for pixels that are not shown as they are, and
    ImageUnsupportedError for several planes, and for compressions without a decoder.
    """
    with translate_decoder_errors(path):
        plane = ome_plane(file, path, part) if file.is_ome else None
        if plane is None:
            require_whole(path, part)
        first = plane.pages[0] if plane else file.pages[0]
        if not isinstance(first, TiffPage) or min(page_size(first)) < 1:
            raise ImageUnreadableError(f"{path}: the first page holds no image")
        pixel_type = _pixel_type(first, len(plane.pages) if plane else 1)
        _check_pixels_known(first, pixel_type, path, is_declared=is_declared)
        channels = _channels(file, plane.pages if plane else (first,), path)
        levels = tuple(pages[0] for pages in channels)
        return TiffLayout(
            format=tiff_format(file),
            pages=levels,
            num_others=0 if file.is_svs or plane else _num_others(file, levels),
            orientation=valid_orientation(first.tags.valueof(ORIENTATION_TAG)),
            microns_per_pixel=(plane and plane.microns_per_pixel) or _microns_per_pixel(file, first),
            pixel_type=pixel_type,
            geotags=geotags_of(first),
            has_profile=_PROFILE_TAG in first.tags,
            channels=channels,
            has_table=colour_table(first) is not None,
            has_mask=_has_mask(file, first),
        )


def _channels(file: TiffFile, pages: tuple[TiffPage, ...], path: Path) -> tuple[tuple[TiffPage, ...], ...]:
    """Return the pages of all channels at each level that all of them have."""
    found = [tuple(_levels(file, page, path)) for page in pages]
    for others in zip(*found, strict=False):
        if len({(page_size(page), page.dtype, page.chunks, page.planarconfig) for page in others}) > 1:
            raise ImageUnsupportedError(f"{path}: its channels are not alike in size, samples or tiles")
    return tuple(zip(*found, strict=False))


def tiff_format(file: TiffFile) -> str:
    """Return which slide's format a TIFF has, or that it has none."""
    page = file.pages.first
    names = {
        "svs": file.is_svs,
        "ndpi": file.is_ndpi,
        "philips": file.is_philips,
        "scn": _LEICA in page.description,
        "bif": file.is_bif or (_XMP_TAG in page.tags and b"iScan" in _xmp(page)),
        "trestle": page.software.startswith("MedScan") and page.is_tiled,
        "huron": str(page.tags.valueof(_MAKE_TAG, "")).startswith("Huron"),
        "argos": _ARGOS in _argos_metadata(page),
        "ome-tiff": file.is_ome,
    }
    return next((name for name, applies in names.items() if applies), "tiff")


def shown_focal_plane(file: TiffFile) -> tuple[int, int]:
    """Return the number of the focal plane (from 1) that OpenSlide reads of a slide in TIFF, and how many there are."""
    page, name = file.pages.first, tiff_format(file)
    if name == "scn":
        return 1, 1 + max(map(int, re.findall(r'\bz="(\d{1,4})"', page.description)), default=0)
    if name == "ndpi":
        pages = [each for each in islice(file.pages, _MAX_PAGES) if isinstance(each, TiffPage)]
        return 1, len({each.tags.valueof(_FOCUS_TAG, 0) for each in pages})
    limits = re.findall(r"<M(?:in|ax)Z>\s*(-?\d{1,4})\s*<", _argos_metadata(page)) if name == "argos" else ()
    if len(limits) != 2:
        return 1, 1
    first, last = map(int, limits)
    return 1 + (last - first) // 2, 1 + last - first


def _argos_metadata(page: TiffPage) -> str:
    found = page.tags.valueof(_ARGOS_TAG, "") if _ARGOS_TAG in page.tags else ""
    return found[:_MOST_XML] if isinstance(found, str) else ""


def _xmp(page: TiffPage) -> bytes:
    found = page.tags.valueof(_XMP_TAG)
    return found[:_MOST_XMP_BYTES] if isinstance(found, bytes) else str(found)[:_MOST_XMP_BYTES].encode()


def _check_pixels_known(page: TiffPage, told: PixelType, path: Path, *, is_declared: bool) -> None:
    kind = _PHOTOMETRICS.get(page.photometric)
    if kind is None or (page.photometric == 6 and page.compression not in LOSSY):
        raise ImageUnsupportedError(f"{path}: TIFF photometric interpretation {page.photometric} is not served")
    if page.compression not in _COMPRESSIONS:
        raise ImageUnsupportedError(f"{path}: TIFF compression {page.compression} is not served")
    check_pixel_type(path, told, _EXACT_BITS, is_declared=is_declared)
    if told.bits in _ODD_BITS:
        raise ImageUnsupportedError(f"{path}: samples of {told.bits} bits are not served")
    if page.dtype is None:
        raise ImageUnsupportedError(f"{path}: samples of {page.bitspersample} bits in one pixel are not served")
    if page.imagedepth > 1:
        raise ImageUnsupportedError(f"{path}: an image of several planes is not a picture")
    if kind == "palette" and page.colormap is None:
        raise ImageUnreadableError(f"{path}: a palette image without its colour map")
    _check_segments(page, path)


def _pixel_type(page: TiffPage, num_channels: int) -> PixelType:
    bits = page.bitspersample
    return PixelType(
        bits=max(bits) if isinstance(bits, tuple) else bits,
        colours=photometric_kind(page),
        bands=page.samplesperpixel * num_channels,
        has_alpha=any(int(extra) in _ALPHAS for extra in page.extrasamples),
        kind=_SAMPLE_KINDS.get(page.sampleformat, "unsigned"),
        is_premultiplied=_PREMULTIPLIED in map(int, page.extrasamples),
    )


def _check_segments(page: TiffPage, path: Path) -> None:
    """Refuse tiles and strips that would have to be decoded whole and take more memory than a view should."""
    pixel_bits = page.samplesperpixel * page.bitspersample
    if page.is_tiled:
        tile = page.tilewidth * page.tilelength * pixel_bits // 8
        if tile > _MAX_TILE_BYTES:
            raise ImageUnsupportedError(
                f"{path}: tiles of {page.tilewidth}x{page.tilelength} pixels ({tile} bytes) are too large to read a "
                f"part of the image; write it with tiles of 256 to 2048 pixels"
            )
        return
    strip = page.rowsperstrip * page.imagewidth * pixel_bits // 8
    if page.compression != 1 and min(strip, page.nbytes) > _MAX_STRIP_BYTES:
        raise ImageUnsupportedError(f"{path}: one compressed strip of {strip} bytes cannot be read in parts")


def _levels(file: TiffFile, first: TiffPage, path: Path) -> Iterator[TiffPage]:
    """Level 0 and the smaller tiled pages of the same shape that may be levels.

    They say that they are reduced, or lie below the first page, or the slide's format puts them there: in an SVS,
    where page 1 is a thumbnail in strips. Any other page is a sheet of its own, however alike, as for OpenSlide.
    """
    yield first
    if not first.is_tiled:
        return
    last = first
    further = islice(file.pages, 1, _MAX_PAGES) if first.index == 0 else ()
    for page in first.pages if first.pages else further:
        if (
            isinstance(page, TiffPage)
            and page.is_tiled
            and (first.pages or file.is_svs or _is_reduced(page))
            and not (_is_one_of_many(page) or _kind(page) & _MASK)
            and _is_smaller_copy(page, last, first)
        ):
            _check_segments(page, path)
            yield page
            last = page


def _is_one_of_many(page: TiffPage) -> bool:
    return bool(_kind(page) & _PAGE) or page.tags.valueof(255) == _OLD_PAGE


def _is_reduced(page: TiffPage) -> bool:
    return bool(_kind(page) & _REDUCED) or page.tags.valueof(255) == _OLD_REDUCED


def _kind(page: TiffPage) -> int:
    """NewSubfileType, 0 where its writer said nothing."""
    return int(page.tags.valueof(254) or 0)


def _has_mask(file: TiffFile, first: TiffPage) -> bool:
    """Return whether a page says which pixels of the image mean anything, as GDAL's internal masks do."""
    further = islice(file.pages, 1, _MAX_PAGES)
    return any(isinstance(page, TiffPage) and _kind(page) & _MASK and page.shape == first.shape[:2] for page in further)


def _num_others(file: TiffFile, levels: tuple[TiffPage, ...]) -> int:
    """Further pages that are neither levels, nor copies or masks of what is shown."""
    known = {page.offset for page in levels}
    return sum(
        1
        for page in islice(file.pages, 1, _MAX_PAGES)
        if isinstance(page, TiffPage)
        and page.offset not in known
        and (_is_one_of_many(page) or not (_is_reduced(page) or _kind(page) & _MASK))
    )


def _is_smaller_copy(page: TiffPage, last: TiffPage, first: TiffPage) -> bool:
    scale = first.imagewidth / page.imagewidth
    return (
        page.imagewidth < last.imagewidth
        and page.imagelength <= last.imagelength
        and abs(first.imagelength / scale - page.imagelength) <= 1 + first.imagelength / first.imagewidth
        and (page.samplesperpixel, page.photometric, page.dtype)
        == (first.samplesperpixel, first.photometric, first.dtype)
    )


def _microns_per_pixel(file: TiffFile, page: TiffPage) -> MicronsPerPixel | None:
    if file.is_svs and (match := re.search(r"MPP\s*=\s*(\d+\.?\d*)(?=\s*(?:\||$))", page.description)):
        return MicronsPerPixel.of(float(match[1]), float(match[1]))
    x, y = page.tags.valueof(282), page.tags.valueof(283)
    if page.tags.valueof(296) == _CENTIMETRE and x and x[0] and y and y[0]:
        microns = MicronsPerPixel.of(float(10_000 * x[1] / x[0]), float(10_000 * y[1] / y[0]))
        return microns if microns and max(microns) < _COARSEST_SPECIMEN else None
    return None
