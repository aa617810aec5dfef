"""A small Qwen2.5-VL checkpoint. Tensors: transformers, models/qwen2_5_vl, under the names of published checkpoints."""

from typing import Any

from gigavqa.catalogue.families import qwen
from gigavqa.workers.checkpoints.qwen3_vl import (
    FRAMES,
    MERGE,
    QWEN_TOKENS,
    VISION,
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
)
from gigavqa.workers.checkpoints.writing import CheckpointDesign

_PATCH = 14


def _config(token_ids: TokenIds) -> dict[str, Any]:
    text = text_config("qwen2_5_vl_text", token_ids, rope_parameters=ROPE | {"mrope_section": [4, 6, 6]})
    return {
        "architectures": ["Qwen2_5_VLForConditionalGeneration"],
        "model_type": "qwen2_5_vl",
        "dtype": "float32",
        "tie_word_embeddings": False,
        **special_token_ids(token_ids),
        "text_config": text,
        # One layer with windows of 112 pixels, and one that sees everything.
        "vision_config": vision_config("qwen2_5_vl", _PATCH) | {"fullatt_block_indexes": [1], "window_size": 112},
    }


def _shapes() -> Shapes:
    merged = VISION * MERGE**2
    yield "lm_head.weight", (NUM_TOKENS, HIDDEN)
    yield from decoder("model", *(dense_layer(bias=True) for _ in range(LAYERS)))
    yield "visual.patch_embed.proj.weight", (VISION, 3, FRAMES, _PATCH, _PATCH)
    for layer in range(VISION_LAYERS):
        yield from add_prefix(f"visual.blocks.{layer}", _block())
    yield "visual.merger.ln_q.weight", (VISION,)
    yield from add_prefix("visual.merger.mlp.0", linear(merged, merged))
    yield from add_prefix("visual.merger.mlp.2", linear(HIDDEN, merged))


def _block() -> Shapes:
    yield "norm1.weight", (VISION,)
    yield "norm2.weight", (VISION,)
    yield from add_prefix("attn.qkv", linear(3 * VISION, VISION))
    yield from add_prefix("attn.proj", linear(VISION, VISION))
    yield from add_prefix("mlp.gate_proj", linear(VISION_MLP, VISION))
    yield from add_prefix("mlp.up_proj", linear(VISION_MLP, VISION))
    yield from add_prefix("mlp.down_proj", linear(VISION, VISION_MLP))


QWEN2_5_VL = CheckpointDesign(
    image="<|vision_start|><|image_pad|><|vision_end|>",
    special_tokens=QWEN_TOKENS,
    special_marks=qwen.QWEN25_VL.marks.places,
    plain_marks=qwen.QWEN25_VL.marks.calls,
    config=_config,
    shapes=_shapes,
    processing=processing_config("Qwen2_5_VL", _PATCH, min_pixels=3136, max_pixels=200704),
)
