"""The model families that are known, each with all that is known of it in a file of its own."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from gigavqa.catalogue.families import (
    anthropic,
    deepseek_vl2,
    gemini,
    gemma4,
    glm4v,
    idefics3,
    internvl,
    kimi_vl,
    llava_onevision,
    minicpmv,
    mllama,
    openai,
    ovis,
    phi4,
    qwen,
    texts,
)
from gigavqa.catalogue.families.family import Family

_MODULES = (
    qwen,
    glm4v,
    internvl,
    gemma4,
    deepseek_vl2,
    minicpmv,
    phi4,
    kimi_vl,
    llava_onevision,
    idefics3,
    ovis,
    mllama,
    openai,
    anthropic,
    gemini,
    texts,
)

FAMILIES: Mapping[str, Family] = {family.name: family for module in _MODULES for family in module.FAMILIES}
"""By name."""

BY_MODEL_TYPE: Mapping[str, Family] = {each: family for family in FAMILIES.values() for each in family.model_types}
"""By the `model_type` of their configurations, and by architecture where checkpoints disagree on it."""

AnyBudget = Annotated[
    qwen.QwenBudget
    | glm4v.Glm4vBudget
    | internvl.InternVLBudget
    | gemma4.Gemma4Budget
    | deepseek_vl2.DeepseekVL2Budget
    | minicpmv.MiniCPMVBudget
    | phi4.Phi4VisionBudget
    | kimi_vl.KimiVLBudget
    | llava_onevision.LlavaOnevisionBudget
    | idefics3.Idefics3Budget
    | ovis.OvisBudget
    | mllama.MllamaBudget
    | openai.OpenAIPatchBudget
    | openai.OpenAITileBudget
    | anthropic.AnthropicBudget
    | gemini.GeminiTileBudget
    | gemini.GeminiSoftTokenBudget
    | texts.TextBudget,
    Field(discriminator="kind"),
]
"""The visual budget of any family, told by its `kind`: as a catalogue entry holds it."""
