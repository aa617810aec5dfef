"""A Qwen3 checkpoint of random weights, which takes texts alone.

Tensor names and shapes: transformers, models/qwen3/modeling_qwen3.py.
"""

from typing import Any

from gigavqa.catalogue.families.family import THINK_MARKS
from gigavqa.workers.checkpoints.tensors import (
    HIDDEN,
    LAYERS,
    NUM_TOKENS,
    ROPE,
    Shapes,
    TokenIds,
    decoder,
    dense_layer,
    text_config,
)
from gigavqa.workers.checkpoints.writing import CheckpointDesign


def _config(token_ids: TokenIds) -> dict[str, Any]:
    return {
        "architectures": ["Qwen3ForCausalLM"],
        "dtype": "float32",
        **text_config("qwen3", token_ids, rope_parameters=ROPE),
    }


def _shapes() -> Shapes:
    yield "lm_head.weight", (NUM_TOKENS, HIDDEN)
    yield from decoder("model", *(dense_layer(qk_norm=True) for _ in range(LAYERS)))


QWEN3 = CheckpointDesign(
    image="",
    special_tokens=(),
    config=_config,
    shapes=_shapes,
    processing={},
    plain_marks=(*THINK_MARKS, "<tool_call>", "</tool_call>"),
)
