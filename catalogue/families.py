"""The model families that can be served from a bare checkpoint, by the `model_type` of its configuration."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from catalogue import published
from tiling.budgets.registry import AnyBudget


@dataclass(frozen=True)
class Family:
    """What a family has in common; `budget` reads the limits that a checkpoint of it declares.

    `has_processing` says whether they stand in the files of its image processor, which must exist then; `remote_code`
    whether its tokenizer is code that comes with its checkpoints, which nothing here stands in for.
    """

    name: str
    box_convention: Literal["unit", "thousand", "pixels"]
    budget: Callable[[Mapping[str, Any], Mapping[str, Any]], AnyBudget]
    chat_template: Mapping[str, Any] = field(default_factory=dict)
    has_processing: bool = True
    remote_code: bool = False


_THINKING = {"enable_thinking": True}
_QWEN25_VL = Family("qwen2.5-vl", "pixels", published.qwen25)
_QWEN3_VL = Family("qwen3-vl", "thousand", published.qwen3)
_QWEN35 = Family("qwen3.5", "thousand", published.qwen3, _THINKING)
_GLM = Family("glm-4.5v", "thousand", published.glm4v, _THINKING)
_INTERNVL_CHAT = Family("internvl3.5-chat", "thousand", published.internvl_chat, has_processing=False)
_PHI4 = Family("phi-4-vision", "unit", published.phi4_vision, has_processing=False)

FAMILIES: Mapping[str, Family] = {
    "qwen2_5_vl": _QWEN25_VL,
    "qwen3_vl": _QWEN3_VL,
    "qwen3_vl_moe": _QWEN3_VL,
    "qwen3_5": _QWEN35,
    "qwen3_5_moe": _QWEN35,
    "glm4v": _GLM,
    "glm4v_moe": _GLM,
    "internvl": Family("internvl3.5", "thousand", published.internvl_hf),
    "internvl_chat": _INTERNVL_CHAT,
    "gemma4": Family("gemma-4", "thousand", published.gemma4, _THINKING),
    "deepseek_vl_v2": Family("deepseek-vl2", "thousand", published.deepseek_vl2, has_processing=False),
    "minicpmv": Family("minicpm-v-4.5", "thousand", published.minicpmv, _THINKING),
    "phi4-siglip": _PHI4,
    "Phi4ForCausalLMV": _PHI4,
    "kimi_vl": Family("kimi-vl", "unit", published.kimi_vl, remote_code=True),
}
"""By `model_type`, and by architecture where checkpoints disagree on it."""
