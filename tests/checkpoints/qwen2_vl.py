"""A small Qwen2-VL checkpoint. Tensors: transformers, models/qwen2_vl, under the names of published checkpoints."""

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
    return {
        "architectures": ["Qwen2VLForConditionalGeneration"],
        "model_type": "qwen2_vl",
        "dtype": "float32",
        "tie_word_embeddings": False,
        **special_token_ids(token_ids),
        "text_config": text_config("qwen2_vl_text", token_ids, rope_parameters=ROPE | {"mrope_section": [4, 6, 6]}),
        "vision_config": {
            "model_type": "qwen2_vl",
            "depth": VISION_LAYERS,
            "embed_dim": VISION,
            "hidden_size": HIDDEN,
            "mlp_ratio": VISION_MLP // VISION,
            "num_heads": VISION_HEADS,
            "patch_size": _PATCH,
            "spatial_merge_size": MERGE,
            "temporal_patch_size": FRAMES,
        },
    }


def _shapes() -> Shapes:
    merged = VISION * MERGE**2
    yield "lm_head.weight", (NUM_TOKENS, HIDDEN)
    yield from decoder("model", *(dense_layer(bias=True) for _ in range(LAYERS)))
    yield "visual.patch_embed.proj.weight", (VISION, 3, FRAMES, _PATCH, _PATCH)
    for layer in range(VISION_LAYERS):
        yield from add_prefix(f"visual.blocks.{layer}", _block())
    yield from add_prefix("visual.merger.ln_q", linear(VISION))
    yield from add_prefix("visual.merger.mlp.0", linear(merged, merged))
    yield from add_prefix("visual.merger.mlp.2", linear(HIDDEN, merged))


def _block() -> Shapes:
    yield from add_prefix("norm1", linear(VISION))
    yield from add_prefix("norm2", linear(VISION))
    yield from add_prefix("attn.qkv", linear(3 * VISION, VISION))
    yield from add_prefix("attn.proj", linear(VISION, VISION))
    yield from add_prefix("mlp.fc1", linear(VISION_MLP, VISION))
    yield from add_prefix("mlp.fc2", linear(VISION, VISION_MLP))


QWEN2_VL = CheckpointDesign(
    image="<|vision_start|><|image_pad|><|vision_end|>",
    special_tokens=QWEN_TOKENS,
    special_marks=qwen.QWEN2_VL.marks.places,
    config=_config,
    shapes=_shapes,
    processing=processing_config("Qwen2VL", _PATCH, min_pixels=3136, max_pixels=200704),
)
