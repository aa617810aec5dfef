"""Language models that take texts alone, such as summarizers of what a search finds."""

from typing import Literal

from gigavqa.catalogue.families.family import (
    CHATML_END_MARKS,
    THINK_MARKS,
    TOOL_CALL_MARKS,
    Family,
    FamilyConfig,
    TextMarks,
)
from gigavqa.tiling.budgets.base import NativeBudget
from gigavqa.tiling.budgets.resolver import PreprocessingDecision
from gigavqa.tiling.errors import BudgetError
from gigavqa.tiling.geometry import Size


class TextBudget(NativeBudget):
    """The visual budget of a model that is shown no picture."""

    kind: Literal["text"] = "text"

    @property
    def max_visual_tokens(self) -> int:
        """None."""
        return 0

    @property
    def max_pixels_kept(self) -> int:
        """None."""
        return 0

    def decide(self, size: Size, num_images: int = 1) -> PreprocessingDecision:
        """Refuse every picture by a BudgetError."""
        raise BudgetError("the model takes texts alone, and is shown no picture; its entry has no visual budget")

    def count_tokens(self, decision: PreprocessingDecision) -> int:
        """None."""
        return 0


def _declared_budget(config: FamilyConfig, processing: FamilyConfig) -> TextBudget:
    return TextBudget()


QWEN3 = Family(
    "qwen3",
    model_types=("qwen3", "qwen3_moe"),
    architectures=("Qwen3ForCausalLM", "Qwen3MoeForCausalLM"),
    box_convention="unit",
    budget=_declared_budget,
    marks=TextMarks(thought=THINK_MARKS, calls=TOOL_CALL_MARKS, ends=CHATML_END_MARKS),
    has_processing=False,
    writes_json_calls=True,
)
FAMILIES = (QWEN3,)
