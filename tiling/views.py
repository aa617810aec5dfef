"""What to look at, declared: a view names an image, a region and a sizing rule, and holds no pixels."""

import re
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field, field_validator

from tiling.budgets.base import RasterPlan, VisualBudget
from tiling.errors import BudgetError, RegionError
from tiling.geometry import Region, Size, fit_longest_side, resolve_region

_LONGEST = re.compile(r"longest:([1-9]\d*)")


class View(BaseModel):
    """One picture that a model is to be shown.

    `region` follows the IIIF grammar in level-0 pixels of the oriented image (`full`, `x,y,w,h`, `pct:x,y,w,h`).
    `sizing` is `native` (the model family's own preprocessing of the region) or `longest:N` (an external downsampling
    of the region to a longest side of N pixels comes before it, as the condition V1 asks).
    """

    model_config = ConfigDict(frozen=True)

    image: str = Field(description="path of the image relative to the data root", examples=["plazas/images/plaza.jpg"])
    region: str = Field(default="full", examples=["full", "0,0,13376,7526", "pct:0,0,50,50"])
    sizing: str = Field(default="native", examples=["native", "longest:1024"])

    @field_validator("sizing")
    @classmethod
    def _known_rule(cls, text: str) -> str:
        if text != "native" and not _LONGEST.fullmatch(text):
            raise ValueError(f"sizing '{text}' is neither native nor longest:N")
        return text

    def downsampled(self, region_size: Size) -> Size:
        """Size that the region has before the model's native preprocessing, in pixels."""
        if match := _LONGEST.fullmatch(self.sizing):
            return fit_longest_side(region_size, int(match.group(1)))
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
        downsampled = view.downsampled(region.size)
        return PlannedView(region, downsampled, budget.plan(downsampled, num_images))
    except (RegionError, BudgetError) as error:
        raise type(error)(f"{view.image} ({size.width}x{size.height}): {error}") from error
