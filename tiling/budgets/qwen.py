"""Qwen2.5-VL, Qwen3-VL and Qwen3.5: both sides rounded to a multiple of one factor, the area kept within two limits."""

import math
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, PositiveInt

from tiling.budgets.base import RasterPlan
from tiling.errors import BudgetError
from tiling.geometry import Size

_MAX_ASPECT = 200


class QwenBudget(BaseModel):
    """`smart_resize` of the Qwen family; limits are areas in pixels, `factor` is patch size times merge size.

    Source: transformers, models/qwen2_vl/image_processing_qwen2_vl.py, `smart_resize`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["qwen"] = "qwen"
    factor: PositiveInt
    min_pixels: PositiveInt
    max_pixels: PositiveInt

    @property
    def max_visual_tokens(self) -> int:
        """The most visual tokens that one picture can cost."""
        return self.max_pixels // self.factor**2

    @property
    def effective_resolution(self) -> int:
        """Side, in pixels, of the largest square that keeps its resolution."""
        return math.isqrt(self.max_pixels)

    def plan(self, size: Size) -> RasterPlan:
        """Decide the raster for a picture of `size` pixels; raises BudgetError beyond an aspect ratio of 200."""
        raster = self._resize(size)
        return RasterPlan(raster, raster.area // self.factor**2)

    def processor_kwargs(self) -> dict[str, Any]:
        """Limits as the processor's `size`, which counts areas although its names speak of edges."""
        return {"size": {"shortest_edge": self.min_pixels, "longest_edge": self.max_pixels}}

    def _resize(self, size: Size) -> Size:
        if max(size) > _MAX_ASPECT * min(size):
            raise BudgetError(
                f"a picture of {size.width}x{size.height} is longer than {_MAX_ASPECT} times its breadth, which the "
                "Qwen processors refuse"
            )
        width, height = (round(side / self.factor) * self.factor for side in size)
        if width * height > self.max_pixels:
            scale = math.sqrt(size.area / self.max_pixels)
            width, height = (max(self.factor, math.floor(side / scale / self.factor) * self.factor) for side in size)
        elif width * height < self.min_pixels:
            scale = math.sqrt(self.min_pixels / size.area)
            width, height = (math.ceil(side * scale / self.factor) * self.factor for side in size)
        return Size(width, height)
