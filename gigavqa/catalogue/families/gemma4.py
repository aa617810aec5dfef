"""Gemma 4: every picture is scaled, up or down, until its soft tokens fill the budget."""

from typing import Any, ClassVar, Literal

from pydantic import PositiveInt

from gigavqa.catalogue.families.family import THINKING_TEMPLATE, Family, FamilyConfig, TextMarks, processing_fields
from gigavqa.tiling.budgets.base import NativeBudget
from gigavqa.tiling.budgets.resolver import PreprocessingDecision
from gigavqa.tiling.budgets.soft_tokens import fill_token_budget
from gigavqa.tiling.geometry import Size


class Gemma4Budget(NativeBudget):
    """`fill_token_budget` with at most `max_soft_tokens`, one for `pooling` x `pooling` patches.

    The processor knows 70, 140, 280, 560 and 1120 soft tokens; 280 (803 pixels square) is published, 1120 the paper's.
    """

    raster_factor: ClassVar[int] = 10

    kind: Literal["gemma4"] = "gemma4"
    max_soft_tokens: Literal[70, 140, 280, 560, 1120] = 280
    patch_size: PositiveInt = 16
    pooling: PositiveInt = 3

    @property
    def unit(self) -> int:
        """Side, in pixels, of the square that becomes one token."""
        return self.patch_size * self.pooling

    @property
    def max_visual_tokens(self) -> int:
        """The most visual tokens that one picture can cost."""
        return self.max_soft_tokens

    @property
    def max_pixels_kept(self) -> int:
        """Area, in pixels, of the largest picture that keeps its resolution."""
        return self.max_soft_tokens * self.unit**2

    def decide(self, size: Size, num_images: int = 1) -> PreprocessingDecision:
        """Scale to the budget's area, then round both sides down."""
        target = fill_token_budget(size, self.max_soft_tokens, self.unit)
        return PreprocessingDecision(target, target)

    def count_tokens(self, decision: PreprocessingDecision) -> int:
        """One token for each square of `unit` pixels."""
        return decision.target.area // self.unit**2

    def processor_kwargs(self) -> dict[str, Any]:
        """Return the budget is an argument of the processor."""
        return {"max_soft_tokens": self.max_soft_tokens}


def _declared_budget(config: FamilyConfig, processing: FamilyConfig) -> Gemma4Budget:
    """Gemma 4: the image processor's soft tokens."""
    fields = processing_fields(processing)
    return Gemma4Budget(
        max_soft_tokens=fields.number("max_soft_tokens", default=280),
        patch_size=fields.number("patch_size", default=16),
        pooling=fields.number("pooling_kernel_size", default=3),
    )


GEMMA4 = Family(
    "gemma-4",
    model_types=("gemma4",),
    architectures=("Gemma4ForConditionalGeneration",),
    box_convention="thousand",
    budget=_declared_budget,
    marks=TextMarks(
        thought=("<|channel>", "<channel|>"),
        calls=("<|tool_call>", "<tool_call|>", '<|"|>'),
        ends=("<turn|>", "<eos>"),
    ),
    chat_template=THINKING_TEMPLATE,
    sliding_attention=True,
)
FAMILIES = (GEMMA4,)
