"""Parse a request as IIIF Image API 3.0 writes it: region, size, rotation, quality and format.

Regions are level-0 pixels of the oriented picture, cropped at its edges (section 4.1); sizes are never above the
region's (section 4.2).
"""

import math
import re
from dataclasses import dataclass
from typing import Literal, NamedTuple, cast

from gigavqa.tiling.errors import RegionError, quote_text
from gigavqa.tiling.geometry import Region, Size, resolve_region
from gigavqa.tiling.region_grammar import PLACE_SCHEMES, parse_region
from gigavqa.viewer.errors import RequestInvalidError, RequestUnsupportedError

ImageQuality = Literal["default", "color", "gray", "bitonal"]
ImageFormat = Literal["jpg", "png", "webp"]
MEDIA_TYPES: dict[ImageFormat, str] = {"jpg": "image/jpeg", "png": "image/png", "webp": "image/webp"}
MOST_SIDE = 16_383
"""Pixels: the longest side that every format can say."""

_QUALITIES = ("default", "color", "gray", "bitonal")
_INTEGER = r"(\d{1,10})"
_DECIMAL = r"(\d{1,10}(?:\.\d{1,12})?|\.\d{1,12})"
_PIXELS = re.compile(",".join([_INTEGER] * 4), re.ASCII)
_PERCENT = re.compile("pct:" + ",".join([_DECIMAL] * 4), re.ASCII)
_SIZE = re.compile(rf"(!?){_INTEGER}?,{_INTEGER}?", re.ASCII)
_SCALE = re.compile(f"pct:{_DECIMAL}", re.ASCII)
_ROTATION = re.compile(r"(!?)(0|90|180|270)", re.ASCII)


@dataclass(frozen=True)
class IiifRequest:
    """A region of a picture at a size, then mirrored, then turned clockwise by `degrees`, in a quality and a format."""

    region: Region
    size: Size
    is_mirrored: bool
    degrees: int
    quality: ImageQuality
    format: ImageFormat
    canonical: str
    """The same in IIIF's canonical words (section 4.7)."""
    is_raster: bool = False
    """Whether it is to be what a model is shown, by the same rules, rather than what is at hand or lies in a file."""


class IiifSegments(NamedTuple):
    """The last four parts of a request's path, decoded."""

    region: str
    size: str
    rotation: str
    quality_format: str


def parse_request(words: IiifSegments, picture: Size, most: int, *, is_raster: bool = False) -> IiifRequest:
    """Read what is asked of a picture of this size, of which an answer has at most so many pixels.

    Raises RequestInvalidError, and RequestUnsupportedError for pictures larger than their region.
    """
    region = _parse_region(words.region, picture)
    size = _parse_size(words.size, region.size, most)
    if not (turned := _ROTATION.fullmatch(words.rotation)):
        raise RequestInvalidError(f"rotation '{quote_text(words.rotation)}' is none of 0, 90, 180, 270 and !0 to !270")
    quality, dot, form = words.quality_format.partition(".")
    if not dot or quality not in _QUALITIES:
        raise RequestInvalidError(f"quality '{quote_text(quality)}' is none of {', '.join(_QUALITIES)}")
    if form not in MEDIA_TYPES:
        raise RequestInvalidError(f"format '{quote_text(form)}' is none of {', '.join(MEDIA_TYPES)}")
    canonical = "/".join(
        (
            "full" if region.size == picture else str(region),
            "max" if size == largest_size(region.size, most) else f"{size.width},{size.height}",
            words.rotation,
            f"{'default' if quality == 'color' else quality}.{form}",
        )
    )
    how = bool(turned[1]), int(turned[2]), cast(ImageQuality, quality), form
    return IiifRequest(region, size, *how, canonical, is_raster)


def largest_size(region: Size, most: int) -> Size:
    """Return the largest answer that there is of a region."""
    scale = min(math.sqrt(most / region.area), MOST_SIDE / max(region))
    if scale >= 1:
        return region
    return Size(max(1, math.floor(region.width * scale)), max(1, math.floor(region.height * scale)))


def _parse_region(text: str, picture: Size) -> Region:
    if text == "full":
        return Region(0, 0, *picture)
    if text == "square":
        side = min(picture)
        return Region((picture.width - side) // 2, (picture.height - side) // 2, side, side)
    if match := _PIXELS.fullmatch(text):
        left, top, width, height = (int(number) for number in match.groups())
        right, bottom = left + width, top + height
    elif match := _PERCENT.fullmatch(text):
        x, y, w, h = (float(number) for number in match.groups())
        left, top = math.floor(x * picture.width / 100), math.floor(y * picture.height / 100)
        right = math.ceil((x + w) * picture.width / 100) if w else left
        bottom = math.ceil((y + h) * picture.height / 100) if h else top
    else:
        return _find_place(text, picture)
    right, bottom = min(right, picture.width), min(bottom, picture.height)
    if right <= left or bottom <= top:
        raise RequestInvalidError(f"region '{quote_text(text)}' holds no pixel of {picture.width}x{picture.height}")
    return Region(left, top, right - left, bottom - top)


def _find_place(text: str, picture: Size) -> Region:
    """Return the pixels of a place, which is no region of IIIF's: nothing of it may lie outside."""
    try:
        known = parse_region(text).scheme in PLACE_SCHEMES
    except RegionError:
        known = False
    if not known:
        raise RequestInvalidError(
            f"region '{quote_text(text)}' is none of full, square, x,y,w,h and pct:x,y,w,h, and no place"
        )
    try:
        return resolve_region(text, picture)
    except RegionError as error:
        raise RequestInvalidError(str(error)) from error


def _parse_size(text: str, region: Size, most: int) -> Size:
    words = text.removeprefix("^")
    size = _requested_size(words, region, most, may_grow=words != text)
    if min(size) < 1:
        raise RequestInvalidError(
            f"size '{quote_text(text)}' of a region of {region.width}x{region.height} has no pixel"
        )
    if size.width > region.width or size.height > region.height:
        larger = f"size '{quote_text(text)}' is larger than the region, {region.width}x{region.height}"
        if words != text:
            raise RequestUnsupportedError(f"{larger}; pictures are not enlarged")
        raise RequestInvalidError(larger)
    if size.area > most or max(size) > MOST_SIDE:
        raise RequestInvalidError(
            f"{size.width}x{size.height} pixels are more than an answer has: {most} in all, {MOST_SIDE} a side"
        )
    return size


def _requested_size(words: str, region: Size, most: int, *, may_grow: bool) -> Size:
    if words == "max":
        scale = math.sqrt(most / region.area)
        return _scaled(region, scale) if may_grow and scale > 1 else largest_size(region, most)
    if match := _SCALE.fullmatch(words):
        return _scaled(region, float(match[1]) / 100)
    match = _SIZE.fullmatch(words)
    if not match or not (match[2] or match[3]) or (match[1] and not (match[2] and match[3])):
        raise RequestInvalidError(f"size '{quote_text(words)}' is none of max, w, ,h pct:n w,h and !w,h")
    width, height = int(match[2] or 0), int(match[3] or 0)
    if not match[3]:
        return _scaled(region, width / region.width)._replace(width=width)
    if not match[2]:
        return _scaled(region, height / region.height)._replace(height=height)
    if not match[1]:
        return Size(width, height)
    scale = min(width / region.width, height / region.height)
    return _scaled(region, scale) if may_grow else largest_size(_scaled(region, min(1, scale)), most)


def _scaled(region: Size, scale: float) -> Size:
    """Return a region's size times `scale`, and never nothing, unless nothing is asked for."""
    least = 1 if scale else 0
    return Size(max(least, round(region.width * scale)), max(least, round(region.height * scale)))
