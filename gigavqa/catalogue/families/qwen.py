"""Qwen2-VL to Qwen3.5: both sides rounded to a multiple of one factor, the area kept within two limits."""

from typing import Any, Literal

from pydantic import PositiveInt

from gigavqa.catalogue.families.family import (
    CHATML_END_MARKS,
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

    def decide(self, size: Size, num_images: int = 1) -> PreprocessingDecision:
        """Round both sides; raises BudgetError beyond an aspect ratio of 200."""
        target = smart_resize(size, self.factor, self.min_pixels, self.max_pixels)
        return PreprocessingDecision(target, target)

    def count_tokens(self, decision: PreprocessingDecision) -> int:
        """One token for each square of `factor` pixels."""
        return decision.target.area // self.factor**2

    def processor_kwargs(self) -> dict[str, Any]:
        """Limits as the processor's `size`, which counts areas although its names speak of edges."""
        return {"size": {"shortest_edge": self.min_pixels, "longest_edge": self.max_pixels}}


def _declared_25(config: FamilyConfig, processing: FamilyConfig) -> QwenBudget:
    """Qwen2-VL and Qwen2.5-VL: limits beside `size` in older checkpoints."""
    return _declared_budget(config, processing, patch_size=14, min_pixels=3136, max_pixels=12845056)


def _declared_3(config: FamilyConfig, processing: FamilyConfig) -> QwenBudget:
    """Read the budget that Qwen3-VL and Qwen3.5 declare."""
    return _declared_budget(config, processing, patch_size=16, min_pixels=65536, max_pixels=16777216)


def _declared_budget(
    config: FamilyConfig, processing: FamilyConfig, *, patch_size: int, min_pixels: int, max_pixels: int
) -> QwenBudget:
    fields = processing_fields(processing)
    size = fields.part("size")
    return QwenBudget(
        factor=token_side(config, processing, patch_size=patch_size),
        min_pixels=fields.number("min_pixels", default=size.number("shortest_edge", default=min_pixels)),
        max_pixels=fields.number("max_pixels", default=size.number("longest_edge", default=max_pixels)),
    )


_PLACES = ("<|object_ref_start|>", "<|object_ref_end|>", "<|box_start|>", "<|box_end|>")
QWEN2_VL = Family(
    "qwen2-vl",
    model_types=("qwen2_vl",),
    architectures=("Qwen2VLForConditionalGeneration",),
    box_convention="thousand",
    budget=_declared_25,
    marks=TextMarks(places=_PLACES, ends=CHATML_END_MARKS),
)
QWEN25_VL = Family(
    "qwen2.5-vl",
    model_types=("qwen2_5_vl",),
    architectures=("Qwen2_5_VLForConditionalGeneration",),
    box_convention="pixels",
    budget=_declared_25,
    # Its own checkpoints think not; many that were made of it do, MiMo-VL among them.
    marks=TextMarks(thought=THINK_MARKS, places=_PLACES, calls=TOOL_CALL_MARKS, ends=CHATML_END_MARKS),
    writes_json_calls=True,
)
QWEN3_VL = Family(
    "qwen3-vl",
    model_types=("qwen3_vl", "qwen3_vl_moe"),
    architectures=("Qwen3VLForConditionalGeneration", "Qwen3VLMoeForConditionalGeneration"),
    box_convention="thousand",
    budget=_declared_3,
    marks=TextMarks(thought=THINK_MARKS, places=_PLACES, calls=TOOL_CALL_MARKS, ends=CHATML_END_MARKS),
    writes_json_calls=True,
)
QWEN35 = Family(
    "qwen3.5",
    model_types=("qwen3_5", "qwen3_5_moe"),
    architectures=("Qwen3_5ForConditionalGeneration", "Qwen3_5MoeForConditionalGeneration"),
    box_convention="thousand",
    budget=_declared_3,
    marks=TextMarks(
        thought=THINK_MARKS, places=_PLACES, calls=TOOL_CALL_MARKS, ends=CHATML_END_MARKS, is_opened_by_prompt=True
    ),
    chat_template=THINKING_TEMPLATE,
    linear_attention=True,
)
FAMILIES = (QWEN2_VL, QWEN25_VL, QWEN3_VL, QWEN35)
