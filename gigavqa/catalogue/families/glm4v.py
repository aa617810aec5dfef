"""GLM-4.5V: Qwen's rule on a picture that counts as two frames of a video."""

from typing import Any, Literal

from pydantic import PositiveInt

from gigavqa.catalogue.families.family import (
    THINK_MARKS,
    THINKING_TEMPLATE,
    TOOL_CALL_MARKS,
    Family,
    FamilyConfig,
    TextMarks,
    processing_fields,
    token_side,
)
from gigavqa.tiling.budgets.base import NativeBudget
from gigavqa.tiling.budgets.resolver import PreprocessingDecision
from gigavqa.tiling.budgets.smart_resize import smart_resize
from gigavqa.tiling.geometry import Size


class Glm4vBudget(NativeBudget):
    """`smart_resize` of GLM; limits are pixels of all `frames` together, `factor` is patch size times merge size.

    The paper's 12288 tokens need `max_pixels` 19267584; the published 9633792 gives at most 6144.
    Source: transformers, models/glm4v/image_processing_glm4v.py, `smart_resize`.
    """

    kind: Literal["glm4v"] = "glm4v"
    factor: PositiveInt = 28
    frames: PositiveInt = 2
    min_pixels: PositiveInt = 12544
    max_pixels: PositiveInt = 9633792

    @property
    def max_visual_tokens(self) -> int:
        """The most visual tokens that one picture can cost."""
        return self.max_pixels_kept // self.factor**2

    @property
    def max_pixels_kept(self) -> int:
        """Area, in pixels, of the largest picture that keeps its resolution."""
        return self.max_pixels // self.frames

    def decide(self, size: Size, num_images: int = 1) -> PreprocessingDecision:
        """Enlarge what is smaller than one factor, then round; raises BudgetError beyond an aspect ratio of 200."""
        if min(size) < self.factor:
            scale = max(self.factor / size.height, self.factor / size.width)
            size = Size(int(size.width * scale), int(size.height * scale))
        target = smart_resize(size, self.factor, self.min_pixels, self.max_pixels, self.frames)
        return PreprocessingDecision(target, target)

    def count_tokens(self, decision: PreprocessingDecision) -> int:
        """One token for each square of `factor` pixels."""
        return decision.target.area // self.factor**2

    def processor_kwargs(self) -> dict[str, Any]:
        """Limits as the processor's `size`, which counts areas although its names speak of edges."""
        return {"size": {"shortest_edge": self.min_pixels, "longest_edge": self.max_pixels}}


def _declared_budget(config: FamilyConfig, processing: FamilyConfig) -> Glm4vBudget:
    """GLM-4.1V and GLM-4.5V: limits in `size`, in pixels of all frames."""
    fields = processing_fields(processing)
    size = fields.part("size")
    return Glm4vBudget(
        factor=token_side(config, processing, patch_size=14),
        frames=fields.number("temporal_patch_size", default=2),
        min_pixels=size.number("shortest_edge", default=12544),
        max_pixels=size.number("longest_edge", default=11760000),
    )


GLM4V = Family(
    "glm-4.5v",
    model_types=("glm4v", "glm4v_moe"),
    architectures=("Glm4vForConditionalGeneration", "Glm4vMoeForConditionalGeneration"),
    box_convention="thousand",
    budget=_declared_budget,
    marks=TextMarks(
        thought=THINK_MARKS,
        answer=("<|begin_of_box|>", "<|end_of_box|>"),
        calls=(*TOOL_CALL_MARKS, "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"),
        ends=("<|endoftext|>", "<|user|>", "<|observation|>"),
    ),
    chat_template=THINKING_TEMPLATE,
)
FAMILIES = (GLM4V,)
