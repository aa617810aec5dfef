"""Read a TIFF container's layout: which pages are pyramid levels, and which library decodes them.

Needs tifffile alone, no codec, so that a header can be read on any machine.
"""

import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from tifffile import TiffFile, TiffPage

from gigavqa.tiling.errors import ImageUnreadableError, ImageUnsupportedError, translate_decoder_errors
from gigavqa.tiling.geometry import Size
from gigavqa.tiling.orientation import ORIENTATION_TAG, valid_orientation
from gigavqa.tiling.pixel_types import ColourKind, PixelType, SampleKind, check_pixel_type

_MAX_PAGES = 64
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
_OF_SLIDES = PixelType(8, "rgb", 3)
LOSSY = frozenset({7, 34712, 33005, 50001})
"""Compressions that may lose something; their codecs convert colours, too."""

logging.getLogger("tifffile").setLevel(logging.CRITICAL)  # what it logs about bad files is raised here


@dataclass(frozen=True)
class TiffLayout:
    """The first image of a TIFF container; `pages` are its levels, largest first, in the stored frame.

    What a level shows nobody has looked at here (`gigavqa.tiling.level_comparison` does). `num_others` counts the pages
    behind the first that say of themselves that they are images of their own, or have no such level's shape.
    """

    format: str
    pages: tuple[TiffPage, ...]
    num_others: int
    orientation: int
    microns_per_pixel: float | None
    read_by_openslide: bool
    pixel_type: PixelType

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


def photometric_kind(page: TiffPage) -> ColourKind:
    """Return what a decoded page's samples are; KeyError for interpretations that are not served."""
    return _PHOTOMETRICS[page.photometric]


def tiff_layout(file: TiffFile, path: Path, *, is_declared: bool = False) -> TiffLayout:
    """Find out what an open TIFF holds, of whose pixels it `is_declared` how they are shown, or not.

    Raises ImageUnreadableError for broken structure, PixelTypeError for pixels that are not shown as they are, and
    ImageUnsupportedError for several planes, and for compressions without a decoder.
    """
    with translate_decoder_errors(path):
        first = file.pages[0]
        if not isinstance(first, TiffPage) or min(page_size(first)) < 1:
            raise ImageUnreadableError(f"{path}: the first page holds no image")
        _refuse_stitched(file, path)
        by_openslide = bool(file.is_ndpi or file.is_philips or first.compression == _OPENSLIDE_COMPRESSION)
        if not by_openslide:
            _check_pixels_known(file, first, path, is_declared=is_declared)
        levels = tuple(_levels(file, first, path))
        return TiffLayout(
            format=_format(file),
            pages=levels,
            num_others=0 if by_openslide or file.is_svs else _num_others(file, levels),
            orientation=valid_orientation(first.tags.valueof(ORIENTATION_TAG)),
            microns_per_pixel=_microns_per_pixel(file, first),
            read_by_openslide=by_openslide,
            pixel_type=_OF_SLIDES if by_openslide else _pixel_type(first),
        )


def _format(file: TiffFile) -> str:
    names = {"svs": file.is_svs, "ndpi": file.is_ndpi, "philips": file.is_philips, "ome-tiff": file.is_ome}
    return next((name for name, applies in names.items() if applies), "tiff")


def _refuse_stitched(file: TiffFile, path: Path) -> None:
    if file.is_scn or file.is_bif:
        raise ImageUnsupportedError(
            f"{path}: only OpenSlide puts this slide's parts together; `gigavqa ingest` converts it to a tiled pyramid"
        )


def _check_pixels_known(file: TiffFile, page: TiffPage, path: Path, *, is_declared: bool) -> None:
    kind = _PHOTOMETRICS.get(page.photometric)
    if kind is None or (page.photometric == 6 and page.compression not in LOSSY):
        raise ImageUnsupportedError(f"{path}: TIFF photometric interpretation {page.photometric} is not served")
    if page.compression not in _COMPRESSIONS:
        raise ImageUnsupportedError(f"{path}: TIFF compression {page.compression} is not served")
    check_pixel_type(path, _pixel_type(page), _EXACT_BITS, is_declared=is_declared)
    if _pixel_type(page).bits in _ODD_BITS:
        raise ImageUnsupportedError(f"{path}: samples of {_pixel_type(page).bits} bits are not served")
    if page.dtype is None:
        raise ImageUnsupportedError(f"{path}: samples of {page.bitspersample} bits in one pixel are not served")
    if page.imagedepth > 1 or (file.is_ome and page.samplesperpixel == 1 and len(file.series[0].pages) > 1):
        raise ImageUnsupportedError(f"{path}: an image of several planes is not a picture")
    if kind == "palette" and page.colormap is None:
        raise ImageUnreadableError(f"{path}: a palette image without its colour map")
    _check_segments(page, path)


def _pixel_type(page: TiffPage) -> PixelType:
    bits = page.bitspersample
    return PixelType(
        bits=max(bits) if isinstance(bits, tuple) else bits,
        colours=photometric_kind(page),
        bands=page.samplesperpixel,
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
    for page in first.pages if first.pages else islice(file.pages, 1, _MAX_PAGES):
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


def _microns_per_pixel(file: TiffFile, page: TiffPage) -> float | None:
    if file.is_svs:
        match = re.search(r"MPP\s*=\s*([\d.]+)", page.description)
        return float(match.group(1)) if match else None
    if file.is_ome:
        match = re.search(r'PhysicalSizeX="([\d.eE+-]+)"', file.ome_metadata or "")
        return float(match.group(1)) if match and 'PhysicalSizeXUnit="' not in (file.ome_metadata or "") else None
    resolution, unit = page.tags.valueof(282), page.tags.valueof(296)
    if unit == 3 and resolution and resolution[0]:
        return float(10_000 * resolution[1] / resolution[0])
    return None
