"""Sizes and regions. Pure: no pixels.

Frames of coordinates, and the suffix that a name carries in each:

- `_l0`: pixels of level 0, the full-resolution image after EXIF orientation; origin top left, x to the right, y down.
- `_l`: pixels of one pyramid level; `_l0 = _l * downsample`.
- `_n`: normalized, each axis of the full image scaled to [0, 1]; boxes are `[x1, y1, x2, y2]`.
- `_r`: pixels of a raster, the picture that a model sees.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import NamedTuple

from gigavqa.tiling.errors import RegionError
from gigavqa.tiling.region_grammar import PLACE_SCHEMES, RegionScheme, RegionText, describe_lack, parse_region

_LEAST_MICRONS, _MOST_MICRONS = 1e-6, 1e6
RegionResolver = Callable[[RegionText, "Size"], "Region"]
"""Finds the pixels of a region outside the image's own frame; raises RegionError."""


class Size(NamedTuple):
    """Width and height in pixels."""

    width: int
    height: int

    @property
    def area(self) -> int:
        """Number of pixels."""
        return self.width * self.height

    @property
    def resolvers(self) -> Mapping[RegionScheme, RegionResolver]:
        """What finds the pixels of places outside the image, by scheme: nothing, but in an `ImageFrame`."""
        return _NO_RESOLVERS

    @property
    def microns_per_pixel(self) -> "MicronsPerPixel | None":
        """How large a pixel is on the specimen: unknown, but in an `ImageFrame` whose file says it."""
        return None


class MicronsPerPixel(NamedTuple):
    """Width and height of a level-0 pixel on the specimen, in microns."""

    x: float
    y: float

    @classmethod
    def of(cls, x: float, y: float) -> "MicronsPerPixel | None":
        """Return what a file says, if it can be: between an atom's part and a metre."""
        return cls(x, y) if all(_LEAST_MICRONS <= side <= _MOST_MICRONS for side in (x, y)) else None

    def __str__(self) -> str:
        return f"{self.x:.4g}" if self.x == self.y else f"{self.x:.4g} x {self.y:.4g}"


class Region(NamedTuple):
    """A rectangle in level-0 pixels: left, top, width, height."""

    x: int
    y: int
    width: int
    height: int

    @property
    def size(self) -> Size:
        """Width and height, in level-0 pixels."""
        return Size(self.width, self.height)

    def __str__(self) -> str:
        return f"{self.x},{self.y},{self.width},{self.height}"


class ImageFrame(Size):
    """The size of an image whose file says where it lies, or how large pixels are, so that places have pixels in it.

    Equal to the size alone. It is what headers tell as an image's size, so that every door that takes a region takes
    places, too.
    """

    _resolvers: Mapping[RegionScheme, RegionResolver] = {}
    _microns: "MicronsPerPixel | None" = None

    @classmethod
    def of(
        cls,
        size: Size,
        resolvers: Mapping[RegionScheme, RegionResolver],
        microns_per_pixel: "MicronsPerPixel | None" = None,
    ) -> "ImageFrame":
        """Return the frame of an image of `size`, in which places of these schemes are found."""
        frame = cls(*size)
        frame._resolvers = resolvers
        frame._microns = microns_per_pixel
        return frame

    @property
    def microns_per_pixel(self) -> "MicronsPerPixel | None":
        return self._microns

    @property
    def resolvers(self) -> Mapping[RegionScheme, RegionResolver]:
        return self._resolvers


_NO_RESOLVERS: Mapping[RegionScheme, RegionResolver] = MappingProxyType({})


def resolve_region(text: str, size: Size) -> Region:
    """Turn `full`, `x,y,w,h` (level-0 pixels), `pct:x,y,w,h` or a place into a region of an image of `size`.

    Places are of the schemes to which an `ImageFrame` gives a meaning.
    Percentages are rounded outwards to whole pixels and clipped to the image.
    Raises RegionError for any other text, for an empty region, and for pixels outside the image: a region that IIIF
    would silently crop would be evidence that the model never saw. Source: IIIF Image API 3.0, section 4.1.
    """
    asked = parse_region(text)
    if asked.scheme == "full":
        return Region(0, 0, *size)
    if asked.scheme == "pixels":
        region = Region(*map(int, asked.numbers))
    elif asked.scheme == "pct":
        region = _from_percent(asked, size)
    elif resolver := size.resolvers.get(asked.scheme):
        region = resolver(asked, size)
    else:
        raise RegionError(
            f"region '{asked}' needs an image that says where it lies, and its file has {describe_lack(asked.scheme)}"
        )
    if region.width < 1 or region.height < 1:
        raise RegionError(f"region '{asked}' is empty in an image of {size.width}x{size.height}")
    if min(region.x, region.y) < 0 or region.x + region.width > size.width or region.y + region.height > size.height:
        raise RegionError(f"region '{asked}' reaches outside an image of {size.width}x{size.height}")
    return region


def canonical_region(text: str, size: Size) -> str:
    """Return a region in pixels, and a place as it is written: a raster records its pixels beside it.

    Raises RegionError as `resolve_region` does.
    """
    region = resolve_region(text, size)
    return text if parse_region(text).scheme in PLACE_SCHEMES else str(region)


def _from_percent(asked: RegionText, size: Size) -> Region:
    """Round percentages outwards, as they are written: what binary numbers make of them may lie a pixel beside."""
    x, y, w, h = map(Fraction, asked.text.removeprefix("pct:").split(","))
    if x + w > 100 or y + h > 100:
        raise RegionError(f"region '{asked}' reaches beyond 100 %")
    left, top = math.floor(x * size.width / 100), math.floor(y * size.height / 100)
    right = min(size.width, math.ceil((x + w) * size.width / 100))
    bottom = min(size.height, math.ceil((y + h) * size.height / 100))
    return Region(left, top, right - left, bottom - top)


def region_of_box(box: Sequence[float], size: Size, unit: float = 1000) -> Region:
    """Return the pixels of a box [x1, y1, x2, y2] in parts of the full image's sides, of which each has `unit`.

    The first corner is raised to 0 and the second lowered to `unit`; edges are cut to whole pixels towards 0, where
    `pct:` of the region grammar is rounded outwards: by a division first and in binary, as tools of benchmarks do it,
    which at times is a pixel less than exact. Raises RegionError for what is empty.
    """
    left, top = (
        int(max(0, part) / unit * side) if part < unit else side for part, side in zip(box[:2], size, strict=True)
    )
    right, bottom = (
        int(min(unit, part) / unit * side) if part > 0 else 0 for part, side in zip(box[2:], size, strict=True)
    )
    if right <= left or bottom <= top:
        raise RegionError(f"box {[*box]} shows nothing of an image of {size.width}x{size.height}")
    return Region(left, top, right - left, bottom - top)


def fit_longest_side(size: Size, longest: int) -> Size:
    """Scale a size down so that its longest side is at most `longest` pixels; never up, never below one pixel."""
    scale = longest / max(size)
    if scale >= 1:
        return size
    return Size(max(1, round(size.width * scale)), max(1, round(size.height * scale)))


def grid_region(size: Size, first: tuple[int, int], grid: tuple[int, int], span: tuple[int, int] = (1, 1)) -> Region:
    """Return the block of `span` (rows, columns) cells of a `grid` (rows, columns) whose upper-left cell is `first`.

    Rows and columns count from 1. Cells divide an image without gap or overlap: bounds are `side * k // count`. Raises
    RegionError where the block reaches out of the grid or holds no pixel.
    """
    (row, column), (rows, columns), (tall, wide) = first, grid, span
    if not (1 <= row <= row + tall - 1 <= rows and 1 <= column <= column + wide - 1 <= columns):
        raise RegionError(f"cell ({row}, {column}) is outside a grid of {rows} x {columns}")
    left, right = size.width * (column - 1) // columns, size.width * (column - 1 + wide) // columns
    top, bottom = size.height * (row - 1) // rows, size.height * (row - 1 + tall) // rows
    if right == left or bottom == top:
        raise RegionError(f"an image of {size.width}x{size.height} is too small for a grid of {rows} x {columns}")
    return Region(left, top, right - left, bottom - top)
