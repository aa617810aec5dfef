"""Views, the declaration of what to look at: a view names an image, a region and a sizing rule, and holds no pixels."""

import math
import operator
import re
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field, field_validator

from gigavqa.tiling.budgets.base import RasterPlan, VisualBudget
from gigavqa.tiling.displays.display import canonical_display
from gigavqa.tiling.errors import BudgetError, RegionError, quote_text
from gigavqa.tiling.geometry import MicronsPerPixel, Region, Size, fit_longest_side, resolve_region
from gigavqa.tiling.masks import canonical_mask, parse_mask
from gigavqa.tiling.slides.microns import scaled_to_microns

_LONGEST = re.compile(r"longest:([1-9]\d{0,8})", re.ASCII)
_FIT = re.compile(r"fit:([1-9]\d{0,3}):([1-9]\d{0,8}):([1-9]\d{0,8})(?::([1-9]\d{0,3}))?", re.ASCII)
_MICRONS = re.compile(r"mpp[:=](\d{1,6}(?:\.\d{1,9})?)", re.ASCII)
_MAX_ASPECT = 200
_MOST_PIXELS = 2**26


def check_sizing(text: str) -> str:
    """Return the one text of a sizing rule; raises ValueError for what is none, or may enlarge beyond 64 Mpx."""
    if text == "native" or _LONGEST.fullmatch(text):
        return text
    if (microns := _MICRONS.fullmatch(text)) and float(microns[1]) > 0:
        return f"mpp:{float(microns[1]):g}"
    fit = _FIT.fullmatch(text)
    if fit and int(fit[1]) ** 2 <= int(fit[3]) <= _MOST_PIXELS and int(fit[2]) <= int(fit[3]):
        return text
    raise ValueError(
        f"sizing '{quote_text(text)}' is none of native, longest:N, mpp:MICRONS and fit:FACTOR:LEAST:LARGEST[:SIDE]"
    )


def fit_area(size: Size, factor: int, least: int, largest: int, side: int = 1) -> Size:
    """Scale a size, up or down, to multiples of `factor` of an area between `least` and `largest`, in pixels.

    A side below `side` becomes `side` first. Sizes that are scaled are cut to whole pixels before they are rounded to
    the factor, as some clients do, where processors of models do not. Raises BudgetError beyond an aspect ratio of 200.
    """
    width, height = (max(side, each) for each in size)
    if max(width, height) > _MAX_ASPECT * min(width, height):
        raise BudgetError(f"{width}x{height} is longer than {_MAX_ASPECT} times its breadth")
    fitted = Size(*(max(factor, round(each / factor) * factor) for each in (width, height)))
    if fitted.area > largest:
        scale = math.sqrt(width * height / largest)
        return Size(*(max(factor, int(each / scale) // factor * factor) for each in (width, height)))
    if fitted.area < least:
        scale = math.sqrt(least / (width * height))
        return Size(*(-(-int(each * scale) // factor) * factor for each in (width, height)))
    return fitted


class View(BaseModel):
    """One picture that a model is to be shown.

    `region` follows the IIIF grammar in level-0 pixels of the oriented image (`full`, `x,y,w,h`, `pct:x,y,w,h`).
    `sizing` is `native` (the model family's own preprocessing of the region), `longest:N` (an external downsampling
    of the region to a longest side of N pixels comes before it, as the condition V1 asks), `mpp:MICRONS` (to pixels
    that are so large on the specimen, which never enlarges) or
    `fit_area:FACTOR:LEAST:LARGEST[:SIDE]` (an external scaling by `fit_area`, which may enlarge).
    """

    model_config = ConfigDict(frozen=True)

    image: str = Field(
        description="path of the image relative to the data root, or address of one elsewhere",
        examples=["plazas/images/plaza.jpg"],
    )
    region: str = Field(default="full", examples=["full", "0,0,13376,7526", "pct:0,0,50,50", "um:0,0,500,500"])
    sizing: str = Field(default="native", examples=["native", "longest:1024", "mpp:0.5"])
    show: str = Field(
        default="",
        exclude_if=operator.not_,
        description="how the image's samples become 8-bit colours; empty for as they are",
        examples=["bands=4,3,2 stretch=percentile:2:98"],
    )
    mask: str = Field(
        default="",
        exclude_if=operator.not_,
        description="what hides the view, or parts of it, at the same size; empty for nothing",
        examples=["black", "mean", "blur:32", "black@pct:10,10,5,5"],
    )
    pin: str = Field(
        default="",
        pattern="^(v[0-9a-f]{32})?$",
        exclude_if=operator.not_,
        description="of an image elsewhere, the version that was looked at when the job was checked",
    )

    @field_validator("show")
    @classmethod
    def _known_display(cls, text: str) -> str:
        return canonical_display(text)

    @field_validator("mask")
    @classmethod
    def _known_mask(cls, text: str) -> str:
        return canonical_mask(text)

    @field_validator("sizing")
    @classmethod
    def _known_rule(cls, text: str) -> str:
        return check_sizing(text)

    def downsampled(self, region_size: Size, microns: MicronsPerPixel | None = None) -> Size:
        """Size that a region, of pixels so large, has before the model's native preprocessing, in pixels.

        Raises BudgetError.
        """
        if match := _LONGEST.fullmatch(self.sizing):
            return fit_longest_side(region_size, int(match.group(1)))
        if match := _MICRONS.fullmatch(self.sizing):
            return scaled_to_microns(region_size, microns, float(match[1]))
        if match := _FIT.fullmatch(self.sizing):
            return fit_area(region_size, *(int(number) for number in match.groups() if number))
        return region_size


class PlannedView(NamedTuple):
    """A view's region in level-0 pixels, its size after the view's own sizing, and the raster that is made of it."""

    region: Region
    downsampled: Size
    plan: RasterPlan


def plan_view(size: Size, view: View, budget: VisualBudget, num_images: int = 1) -> PlannedView:
    """Decide what a view of an image of `size` becomes; raises RegionError and BudgetError, which name the image."""
    try:
        region = resolve_region(view.region, size)
        if view.mask:
            parse_mask(view.mask).hidden(size, region)
        downsampled = view.downsampled(region.size, size.microns_per_pixel)
        return PlannedView(region, downsampled, budget.plan(downsampled, num_images))
    except (RegionError, BudgetError) as error:
        raise type(error)(f"{view.image} ({size.width}x{size.height}): {error}") from error
