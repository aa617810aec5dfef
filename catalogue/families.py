"""The model families that can be served from a bare checkpoint, by the `model_type` of its configuration."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Family:
    """What a family has in common; `min_pixels` and `max_pixels` hold where the checkpoint does not say."""

    name: str
    box_convention: Literal["unit", "thousand", "pixels"]
    patch_size: int
    min_pixels: int
    max_pixels: int
    chat_template: Mapping[str, Any] = field(default_factory=dict)


_QWEN25_VL = Family("qwen2.5-vl", "pixels", 14, 3136, 12845056)
_QWEN3_VL = Family("qwen3-vl", "thousand", 16, 65536, 16777216)
_QWEN35 = Family("qwen3.5", "thousand", 16, 65536, 16777216, {"enable_thinking": True})

FAMILIES: Mapping[str, Family] = {
    "qwen2_5_vl": _QWEN25_VL,
    "qwen3_vl": _QWEN3_VL,
    "qwen3_vl_moe": _QWEN3_VL,
    "qwen3_5": _QWEN35,
    "qwen3_5_moe": _QWEN35,
}
