"""A Qwen3-VL checkpoint of a million random weights: every part of the architecture, small enough for any CPU.

Tensor names and shapes: transformers, models/qwen3_vl/modeling_qwen3_vl.py.
"""

from typing import Any

from catalogue import marks
from workers.checkpoints.language import HIDDEN, LAYERS, ROPE, decoder, dense_layer, text_config
from workers.checkpoints.qwen_vision import (
    MERGE,
    QWEN_TOKENS,
    VISION,
    merger,
    processing,
    qwen_ids,
    tower,
    vision_config,
)
from workers.checkpoints.tensors import Shapes, prefixed
from workers.checkpoints.vocabulary import NUM_TOKENS
from workers.checkpoints.writing import Design, TokenIds

_PATCH, _POSITIONS = 16, 256


def _config(token_ids: TokenIds) -> dict[str, Any]:
    rope = ROPE | {"mrope_section": [4, 6, 6], "mrope_interleaved": True}
    return {
        "architectures": ["Qwen3VLForConditionalGeneration"],
        "model_type": "qwen3_vl",
        "dtype": "float32",
        "tie_word_embeddings": False,
        **qwen_ids(token_ids),
        "text_config": text_config("qwen3_vl_text", token_ids, rope_parameters=rope),
        "vision_config": vision_config("qwen3_vl_vision", _PATCH)
        | {"num_position_embeddings": _POSITIONS, "deepstack_visual_indexes": list(range(LAYERS))},
    }


def _shapes() -> Shapes:
    yield "lm_head.weight", (NUM_TOKENS, HIDDEN)
    yield from decoder("model.language_model", *(dense_layer(qk_norm=True) for _ in range(LAYERS)))
    yield from prefixed("model.visual", tower(_PATCH, _POSITIONS))
    for layer in range(LAYERS):
        yield from prefixed(f"model.visual.deepstack_merger_list.{layer}", merger(VISION * MERGE**2))


QWEN3_VL = Design(
    image="<|vision_start|><|image_pad|><|vision_end|>",
    special_tokens=QWEN_TOKENS,
    special_marks=marks.QWEN3_VL.places,
    plain_marks=(*marks.THINK, *marks.QWEN3_VL.calls),
    config=_config,
    shapes=_shapes,
    processing=processing("Qwen3VL", _PATCH, min_pixels=65536, max_pixels=262144),
    focus=1.0,  # the demo's answers stay what they are
)
