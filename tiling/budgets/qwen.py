"""Qwen2.5-VL, Qwen3-VL and Qwen3.5: both sides rounded to a multiple of one factor, the area kept within two limits."""

from typing import Any, Literal

from pydantic import PositiveInt

from tiling.budgets.base import NativeBudget
from tiling.budgets.resolver import Decision
from tiling.budgets.smart_resize import smart_resize
from tiling.geometry import Size


class QwenBudget(NativeBudget):
    """`smart_resize` of the Qwen family; limits are areas in pixels, `factor` is patch size times merge size.

    Source: transformers, models/qwen2_vl/image_processing_qwen2_vl.py, `smart_resize`.
    """

    kind: Literal["qwen"] = "qwen"
    factor: PositiveInt
    min_pixels: PositiveInt
    max_pixels: PositiveInt

    @property
    def max_visual_tokens(self) -> int:
        """The most visual tokens that one picture can cost."""
        return self.max_pixels // self.factor**2

    @property
    def max_pixels_kept(self) -> int:
        """Area, in pixels, of the largest picture that keeps its resolution."""
        return self.max_pixels

    def decide(self, size: Size, num_images: int = 1) -> Decision:
        """Round both sides; raises BudgetError beyond an aspect ratio of 200."""
        target = smart_resize(size, self.factor, self.min_pixels, self.max_pixels)
        return Decision(target, target)

    def count_tokens(self, decision: Decision) -> int:
        """One token for each square of `factor` pixels."""
        return decision.target.area // self.factor**2

    def processor_kwargs(self) -> dict[str, Any]:
        """Limits as the processor's `size`, which counts areas although its names speak of edges."""
        return {"size": {"shortest_edge": self.min_pixels, "longest_edge": self.max_pixels}}
