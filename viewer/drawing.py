"""Pixels of a region at a size, from whatever level of whatever is at hand, and the bytes that are sent of them."""

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from PIL import Image

from gigavqa.tiling.budgets.base import RasterPlan
from gigavqa.tiling.budgets.resolver import PreprocessingDecision
from gigavqa.tiling.geometry import Region, Size, fit_longest_side
from gigavqa.tiling.levels import LARGE_PIXELS, choose_level, halve, quick_read_plan
from gigavqa.tiling.passes import RecipePixels, plan_passes
from gigavqa.tiling.recipes import Recipe
from gigavqa.tiling.sources import Level, Source, open_source
from gigavqa.tiling.sources.base import Pixels
from gigavqa.tiling.streaming_resize import StreamingResize
from gigavqa.tiling.views import View
from gigavqa.viewer.errors import ViewerBusyError
from gigavqa.viewer.images import ViewerImage
from gigavqa.viewer.request import IiifRequest

TILE = 512
"""Pixels of a tile's side."""

OVERVIEW_SIDE = 2048
"""Pixels of the longest side of what is kept of a large flat picture until its pyramid is there."""

_DIRECT_READ_PIXELS = 4_000_000
_PILLOW_NAMES = {"jpg": "JPEG", "png": "PNG", "webp": "WEBP"}


@dataclass(frozen=True)
class Overview:
    """A flat picture in memory, whole: at its own size, or smaller where it is large."""

    pixels: Pixels
    level: Level


def overview_level(picture: ViewerImage) -> Level:
    """Return the level that an overview of a picture has."""
    size = picture.size if picture.size.area < LARGE_PIXELS else fit_longest_side(picture.size, OVERVIEW_SIDE)
    return Level(size, picture.size.width / size.width)


def has_enough_pixels(level: Level, region: Region, size: Size) -> bool:
    """Return whether a region at this size needs no more pixels than a level has.

    An odd one at the edge is no matter.
    """
    scale = level.downsample
    return region.width / scale > size.width - 1 and region.height / scale > size.height - 1


def raster_recipe(picture: ViewerImage, region: Region, size: Size) -> Recipe:
    """Return the recipe of a region at a size: the same as that of a model's raster of this size, by bicubic filter."""
    view = View(image=picture.name, region=str(region))
    plan = RasterPlan(size, 0, PreprocessingDecision(size, size))
    return Recipe(view, picture.size, picture.format, picture.digest, region, region.size, plan, picture.tone)


def decode_overview(picture: ViewerImage, is_wanted: Callable[[], bool] = lambda: True) -> Overview:
    """Decode all of a flat picture once. Raises BusyError when nobody wants it any more, and TilingError subclasses."""
    level = overview_level(picture)
    recipe = raster_recipe(picture, Region(0, 0, *picture.size), level.size)
    with open_source(picture.path, picture.digest, picture.tone) as source, source.unchanging():
        reading = quick_read_plan(picture.reading, source.decoder)
    made: list[RecipePixels] = []
    for each in plan_passes(picture.path, picture.digest, reading, picture.tone, [recipe]):
        each.run(made.append, is_wanted)
    if not made:
        raise ViewerBusyError(f"nobody waits for '{picture.name}' any more")
    return Overview(made[0].pixels, level)


def draw_from_overview(picture: ViewerImage, overview: Overview, region: Region, size: Size) -> Pixels:
    """Draw a region of a picture in memory."""

    def bands(level: int, part: Region) -> Iterator[Pixels]:
        x, y, width, height = part
        yield overview.pixels[y : y + height, x : x + width]

    return _paint(StreamingResize(raster_recipe(picture, region, size), overview.level, 1), 0, bands)


def draw_from_file(picture: ViewerImage, source: Source, region: Region, size: Size) -> Pixels:
    """Draw a region of a file of the levels that it has itself. Raises TilingError subclasses."""
    levels = picture.reading.found
    number = select_level(levels, region, size, picture.reading.oversampling)
    is_halved = _is_halfway_tile(levels[number].downsample, region, size)
    recipe = raster_recipe(picture, region, Size(2 * TILE, 2 * TILE) if is_halved else size)
    painter = StreamingResize(recipe, levels[number], source.orientation, source.decoder)
    pixels = _paint(painter, number, source.decoder.bands)
    return halve(pixels) if is_halved else pixels


def _is_halfway_tile(scale: float, region: Region, size: Size) -> bool:
    """Return whether this is a tile of a level between two; its pixels are averages of four, as those of levels are."""
    whole = region.width == region.height == 2 * TILE * scale and size == (TILE, TILE)
    return whole and region.x % region.width == 0 and region.y % region.height == 0


def select_level(levels: tuple[Level, ...], region: Region, size: Size, oversampling: int) -> int:
    """Return the level that has the region at this very size, but for an odd pixel; else the one that models are shown.

    The former is what a viewer's tiles ask for, the latter so much larger that resizing it keeps the picture's quality.
    """
    for number, scale in enumerate(level.downsample for level in levels):
        if abs(region.width / scale - size.width) < 1 and abs(region.height / scale - size.height) < 1:
            return number
    return choose_level(levels, region.size, size, oversampling)


def is_cheap(picture: ViewerImage, region: Region) -> bool:
    """Return whether a region of a file without levels can be read as it is, since tiles or strips are decoded one by
    one.
    """
    return not picture.reading.is_sequential and region.size.area <= _DIRECT_READ_PIXELS


def encode(pixels: Pixels, request: IiifRequest, jpeg_quality: int) -> bytes:
    """Mirror, turn, colour and encode."""
    turned = np.rot90(pixels[:, ::-1] if request.is_mirrored else pixels, -request.degrees // 90)
    image = Image.fromarray(np.ascontiguousarray(turned))
    if request.quality in {"gray", "bitonal"}:
        image = image.convert("L")
    if request.quality == "bitonal":
        image = image.point([0] * 128 + [255] * 128)
    buffer = io.BytesIO()
    options = {"compress_level": 1} if request.format == "png" else {"quality": jpeg_quality}
    image.save(buffer, _PILLOW_NAMES[request.format], **options)
    return buffer.getvalue()


def _paint(painter: StreamingResize, number: int, bands: Callable[[int, Region], Iterator[Pixels]]) -> Pixels:
    left, top = painter.region_l.x, painter.region_l.y
    for band in bands(number, painter.region_l):
        painter.take(band, left, top)
        top += band.shape[0]
    return painter.pixels()
