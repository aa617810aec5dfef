"""The model families that can be served from a bare checkpoint, by the `model_type` of its configuration."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from catalogue import marks, published
from catalogue.entry import CatalogueEntry
from catalogue.marks import Marks
from tiling.budgets.registry import AnyBudget


@dataclass(frozen=True)
class Family:
    """What a family has in common; `budget` reads the limits that a checkpoint of it declares.

    `has_processing` says whether they stand in the files of its image processor, which must exist then; `remote_code`
    whether its tokenizer is code that comes with its checkpoints, which nothing here stands in for; `latent_attention`
    whether keys and values are cached as one latent vector (MLA), `linear_attention` whether some layers keep a state.
    """

    name: str
    box_convention: Literal["unit", "thousand", "pixels"]
    budget: Callable[[Mapping[str, Any], Mapping[str, Any]], AnyBudget]
    marks: Marks
    chat_template: Mapping[str, Any] = field(default_factory=dict)
    has_processing: bool = True
    remote_code: bool = False
    latent_attention: bool = False
    linear_attention: bool = False


_THINKING = {"enable_thinking": True}
_QWEN25_VL = Family("qwen2.5-vl", "pixels", published.qwen25, marks.QWEN25_VL)
_QWEN3_VL = Family("qwen3-vl", "thousand", published.qwen3, marks.QWEN3_VL)
_QWEN35 = Family("qwen3.5", "thousand", published.qwen3, marks.QWEN35, _THINKING, linear_attention=True)
_GLM = Family("glm-4.5v", "thousand", published.glm4v, marks.GLM4V, _THINKING)
_INTERNVL = Family("internvl3.5", "thousand", published.internvl_hf, marks.INTERNVL)
_INTERNVL_CHAT = Family("internvl3.5-chat", "thousand", published.internvl_chat, marks.INTERNVL, has_processing=False)
_GEMMA4 = Family("gemma-4", "thousand", published.gemma4, marks.GEMMA4, _THINKING)
_DEEPSEEK_VL2 = Family(
    "deepseek-vl2",
    "thousand",
    published.deepseek_vl2,
    marks.DEEPSEEK_VL2,
    has_processing=False,
    latent_attention=True,
)
_MINICPM_V = Family("minicpm-v-4.5", "thousand", published.minicpmv, marks.MINICPM_V, _THINKING)
_PHI4 = Family("phi-4-vision", "unit", published.phi4_vision, marks.PHI4_VISION, has_processing=False)
_KIMI_VL = Family("kimi-vl", "unit", published.kimi_vl, marks.KIMI_VL, remote_code=True, latent_attention=True)

FAMILIES: Mapping[str, Family] = {
    "qwen2_5_vl": _QWEN25_VL,
    "qwen3_vl": _QWEN3_VL,
    "qwen3_vl_moe": _QWEN3_VL,
    "qwen3_5": _QWEN35,
    "qwen3_5_moe": _QWEN35,
    "glm4v": _GLM,
    "glm4v_moe": _GLM,
    "internvl": _INTERNVL,
    "internvl_chat": _INTERNVL_CHAT,
    "gemma4": _GEMMA4,
    "deepseek_vl_v2": _DEEPSEEK_VL2,
    "minicpmv": _MINICPM_V,
    "phi4-siglip": _PHI4,
    "Phi4ForCausalLMV": _PHI4,
    "kimi_vl": _KIMI_VL,
}
"""By `model_type`, and by architecture where checkpoints disagree on it."""
_BY_NAME = {family.name: family for family in FAMILIES.values()}


def family_of(entry: CatalogueEntry) -> Family | None:
    """The family that an entry names; None for one that only its operator knows."""
    return _BY_NAME.get(entry.family)


def history_of(entry: CatalogueEntry, text: str) -> str:
    """What later turns of a chat with this model repeat of its own raw `text`; see `Marks.without_thought`."""
    family = family_of(entry)
    if family is None:
        return text
    return family.marks.without_thought(text, thinks=bool(entry.chat_template.get("enable_thinking")))
