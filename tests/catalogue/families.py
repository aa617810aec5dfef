"""Budgets with their families' processors, which the first test that asks for one imports: that takes seconds."""

from functools import cache
from typing import TYPE_CHECKING

import pytest

from gigavqa.catalogue.families.deepseek_vl2 import DeepseekVL2Budget
from gigavqa.catalogue.families.gemma4 import Gemma4Budget
from gigavqa.catalogue.families.glm4v import Glm4vBudget
from gigavqa.catalogue.families.idefics3 import Idefics3Budget
from gigavqa.catalogue.families.internvl import InternVLBudget
from gigavqa.catalogue.families.kimi_vl import KimiVLBudget
from gigavqa.catalogue.families.llava_onevision import LlavaOnevisionBudget
from gigavqa.catalogue.families.minicpmv import MiniCPMVBudget
from gigavqa.catalogue.families.mllama import MllamaBudget
from gigavqa.catalogue.families.ovis import OvisBudget
from gigavqa.catalogue.families.phi4 import Phi4VisionBudget
from gigavqa.catalogue.families.qwen import QwenBudget
from gigavqa.tiling.budgets.base import NativeBudget
from gigavqa.workers.engines.vllm.compat.torch_companions import repair_torch_companions

if TYPE_CHECKING:
    from tests.catalogue.processors import ProcessorFamily

PAPER = (
    QwenBudget(factor=32, min_pixels=65536, max_pixels=16777216),
    Glm4vBudget(max_pixels=19267584),
    InternVLBudget(max_tiles=128),
    InternVLBudget(layout="hf", max_tiles=128),
    Gemma4Budget(max_soft_tokens=1120),
    DeepseekVL2Budget(),
    MiniCPMVBudget(),
    Phi4VisionBudget(),
    KimiVLBudget(),
    LlavaOnevisionBudget(),
    Idefics3Budget(),
    MllamaBudget(),
    OvisBudget(),
)
"""The budgets of UltraVR's table 1, and of families beside it their published ones."""


@cache
def family_of(budget: NativeBudget) -> "ProcessorFamily":
    """Return the family of a budget; skips the test where vLLM and transformers are not installed."""
    repair_torch_companions()
    processors = pytest.importorskip("tests.catalogue.processors", reason="vLLM and transformers are not installed")
    found: ProcessorFamily = processors.family_of(budget)
    return found
