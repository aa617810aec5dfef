"""A small Qwen3.5 checkpoint: a layer of linear attention and one of gated attention.

Tensors: transformers, models/qwen3_5/modeling_qwen3_5.py. vLLM's linear attention on CPUs wants heads of 64 or 128.
"""

from typing import Any

from gigavqa.catalogue.families import qwen
from gigavqa.catalogue.families.family import THINK_MARKS
from gigavqa.workers.checkpoints.qwen3_vl import (
    QWEN_TOKENS,
    processing_config,
    special_token_ids,
    vision_config,
    vision_tower,
)
from gigavqa.workers.checkpoints.tensors import (
    HIDDEN,
    MLP,
    NUM_TOKENS,
    ROPE,
    Shapes,
    TokenIds,
    add_prefix,
    attention,
    decoder,
    gated_mlp,
    norms,
    text_config,
)
from gigavqa.workers.checkpoints.writing import CheckpointDesign

_PATCH, _POSITIONS = 16, 256
_HEAD, _LINEAR_HEADS, _KERNEL = 64, 2, 4


def _config(token_ids: TokenIds) -> dict[str, Any]:
    rope = ROPE | {"mrope_section": [4, 2, 2], "mrope_interleaved": True, "partial_rotary_factor": 0.25}
    return {
        "architectures": ["Qwen3_5ForConditionalGeneration"],
        "model_type": "qwen3_5",
        "dtype": "float32",
        "tie_word_embeddings": False,
        **special_token_ids(token_ids),
        "text_config": text_config(
            "qwen3_5_text",
            token_ids,
            rope_parameters=rope,
            head_dim=_HEAD,
            layer_types=["linear_attention", "full_attention"],
            linear_conv_kernel_dim=_KERNEL,
            linear_key_head_dim=_HEAD,
            linear_value_head_dim=_HEAD,
            linear_num_key_heads=_LINEAR_HEADS,
            linear_num_value_heads=_LINEAR_HEADS,
        ),
        "vision_config": vision_config("qwen3_5", _PATCH) | {"num_position_embeddings": _POSITIONS},
    }


def _shapes() -> Shapes:
    yield "lm_head.weight", (NUM_TOKENS, HIDDEN)
    yield from decoder(
        "model.language_model",
        _layer("linear_attn", _linear_attention()),
        _layer("self_attn", attention(_HEAD, qk_norm=True, gated=True)),
    )
    yield from add_prefix("model.visual", vision_tower(_PATCH, _POSITIONS))


def _layer(name: str, mixer: Shapes) -> Shapes:
    yield from norms()
    yield from add_prefix(name, mixer)
    yield from add_prefix("mlp", gated_mlp(HIDDEN, MLP))


def _linear_attention() -> Shapes:
    width = _LINEAR_HEADS * _HEAD
    yield "A_log", (_LINEAR_HEADS,)
    yield "dt_bias", (_LINEAR_HEADS,)
    yield "conv1d.weight", (3 * width, 1, _KERNEL)
    yield "in_proj_qkv.weight", (3 * width, HIDDEN)
    yield "in_proj_z.weight", (width, HIDDEN)
    yield "in_proj_a.weight", (_LINEAR_HEADS, HIDDEN)
    yield "in_proj_b.weight", (_LINEAR_HEADS, HIDDEN)
    yield "norm.weight", (_HEAD,)
    yield "out_proj.weight", (HIDDEN, width)


QWEN3_5 = CheckpointDesign(
    image="<|vision_start|><|image_pad|><|vision_end|>",
    special_tokens=QWEN_TOKENS,
    special_marks=qwen.QWEN35.marks.places,
    plain_marks=(*THINK_MARKS, *qwen.QWEN35.marks.calls),
    config=_config,
    shapes=_shapes,
    processing=processing_config("Qwen3VL", _PATCH, min_pixels=65536, max_pixels=262144),
)
