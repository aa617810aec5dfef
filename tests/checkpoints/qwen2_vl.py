"""Small Qwen2-VL and Qwen2.5-VL checkpoints.

Tensors: transformers, models/qwen2_vl and models/qwen2_5_vl, under the names of published checkpoints.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from gigavqa.catalogue.families import qwen
from gigavqa.workers.checkpoints.qwen3_vl import (
    FRAMES,
    MERGE,
    QWEN_TOKENS,
    VISION,
    VISION_HEADS,
    VISION_LAYERS,
    VISION_MLP,
    processing_config,
    special_token_ids,
    vision_config,
)
from gigavqa.workers.checkpoints.tensors import (
    HIDDEN,
    LAYERS,
    NUM_TOKENS,
    ROPE,
    Shapes,
    TokenIds,
    add_prefix,
    decoder,
    dense_layer,
    linear,
    text_config,
    weight,
)
from gigavqa.workers.checkpoints.writing import CheckpointDesign

_PATCH = 14


_VISION_CONFIG = {
    "model_type": "qwen2_vl",
    "depth": VISION_LAYERS,
    "embed_dim": VISION,
    "hidden_size": HIDDEN,
    "mlp_ratio": VISION_MLP // VISION,
    "num_heads": VISION_HEADS,
    "patch_size": _PATCH,
    "spatial_merge_size": MERGE,
    "temporal_patch_size": FRAMES,
}
_VISION_CONFIG_25 = vision_config("qwen2_5_vl", _PATCH) | {"fullatt_block_indexes": [1], "window_size": 112}
"""One layer with windows of 112 pixels, and one that sees everything."""


def _config(architecture: str, vision: Mapping[str, Any], token_ids: TokenIds) -> dict[str, Any]:
    kind = vision["model_type"]
    return {
        "architectures": [architecture],
        "model_type": kind,
        "dtype": "float32",
        "tie_word_embeddings": False,
        **special_token_ids(token_ids),
        "text_config": text_config(f"{kind}_text", token_ids, rope_parameters=ROPE | {"mrope_section": [4, 6, 6]}),
        "vision_config": dict(vision),
    }


def _shapes(norm: Callable[[int], Shapes], mlp: Mapping[str, tuple[int, int]]) -> Shapes:
    merged = VISION * MERGE**2
    yield "lm_head.weight", (NUM_TOKENS, HIDDEN)
    yield from decoder("model", *(dense_layer(bias=True) for _ in range(LAYERS)))
    yield "visual.patch_embed.proj.weight", (VISION, 3, FRAMES, _PATCH, _PATCH)
    for layer in range(VISION_LAYERS):
        block = f"visual.blocks.{layer}"
        yield from add_prefix(f"{block}.norm1", norm(VISION))
        yield from add_prefix(f"{block}.norm2", norm(VISION))
        yield from add_prefix(f"{block}.attn.qkv", linear(3 * VISION, VISION))
        yield from add_prefix(f"{block}.attn.proj", linear(VISION, VISION))
        for name, shape in mlp.items():
            yield from add_prefix(f"{block}.mlp.{name}", linear(*shape))
    yield from add_prefix("visual.merger.ln_q", norm(VISION))
    yield from add_prefix("visual.merger.mlp.0", linear(merged, merged))
    yield from add_prefix("visual.merger.mlp.2", linear(HIDDEN, merged))


_UP, _DOWN = (VISION_MLP, VISION), (VISION, VISION_MLP)
_design = partial(CheckpointDesign, image="<|vision_start|><|image_pad|><|vision_end|>", special_tokens=QWEN_TOKENS)
QWEN2_VL = _design(
    special_marks=qwen.QWEN2_VL.marks.places,
    config=partial(_config, "Qwen2VLForConditionalGeneration", _VISION_CONFIG),
    shapes=partial(_shapes, linear, {"fc1": _UP, "fc2": _DOWN}),
    processing=processing_config("Qwen2VL", _PATCH, min_pixels=3136, max_pixels=200704),
)
QWEN2_5_VL = _design(
    special_marks=qwen.QWEN25_VL.marks.places,
    plain_marks=qwen.QWEN25_VL.marks.calls,
    config=partial(_config, "Qwen2_5_VLForConditionalGeneration", _VISION_CONFIG_25),
    shapes=partial(_shapes, weight, {"gate_proj": _UP, "up_proj": _UP, "down_proj": _DOWN}),
    processing=processing_config("Qwen2_5_VL", _PATCH, min_pixels=3136, max_pixels=200704),
)
