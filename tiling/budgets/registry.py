"""The visual budgets of all families, as one type that a catalogue entry can hold."""

from typing import Annotated

from pydantic import Field

from tiling.budgets.deepseek_vl2 import DeepseekVL2Budget
from tiling.budgets.gemma4 import Gemma4Budget
from tiling.budgets.glm4v import Glm4vBudget
from tiling.budgets.internvl import InternVLBudget
from tiling.budgets.kimi_vl import KimiVLBudget
from tiling.budgets.minicpmv import MiniCPMVBudget
from tiling.budgets.phi4 import Phi4VisionBudget
from tiling.budgets.qwen import QwenBudget

AnyBudget = Annotated[
    QwenBudget
    | Glm4vBudget
    | InternVLBudget
    | Gemma4Budget
    | DeepseekVL2Budget
    | MiniCPMVBudget
    | Phi4VisionBudget
    | KimiVLBudget,
    Field(discriminator="kind"),
]
"""Discriminated by `kind`."""
