"""A small Kimi-VL checkpoint. Tensors: vLLM, models/kimi_vl.py and moonvit.py."""

from typing import Any

from gigavqa.catalogue.families import kimi_vl
from gigavqa.workers.checkpoints.tensors import HIDDEN, Shapes, TokenIds, add_prefix, linear
from gigavqa.workers.checkpoints.writing import CheckpointDesign
from tests.checkpoints.language_mla import SIGMOID, mla_config, mla_decoder

MAX_PATCHES = 1024
_VISION, _VISION_MLP, _VISION_HEADS, _VISION_LAYERS = 64, 128, 4, 2
_PATCH, _MERGE, _POSITIONS = 14, 2, 32
_TOKENS = ("<|media_start|>", "<|media_content|>", "<|media_pad|>", "<|media_end|>")


def _config(token_ids: TokenIds) -> dict[str, Any]:
    return {
        "architectures": ["KimiVLForConditionalGeneration"],
        "model_type": "kimi_vl",
        "dtype": "float32",
        "tie_word_embeddings": False,
        "media_placeholder_token_id": token_ids["<|media_pad|>"],
        "text_config": mla_config(token_ids, SIGMOID),
        "vision_config": {
            "model_type": "moonvit",
            "hidden_size": _VISION,
            "intermediate_size": _VISION_MLP,
            "num_attention_heads": _VISION_HEADS,
            "num_hidden_layers": _VISION_LAYERS,
            "init_pos_emb_height": _POSITIONS,
            "init_pos_emb_width": _POSITIONS,
            "patch_size": _PATCH,
            "merge_kernel_size": [_MERGE, _MERGE],
        },
    }


def _shapes() -> Shapes:
    yield from mla_decoder("language_model", SIGMOID)
    yield from add_prefix("vision_tower.patch_embed.proj", linear(_VISION, 3, _PATCH, _PATCH))
    yield "vision_tower.patch_embed.pos_emb.weight", (_POSITIONS, _POSITIONS, _VISION)
    for layer in range(_VISION_LAYERS):
        yield from add_prefix(f"vision_tower.encoder.blocks.{layer}", _block())
    yield from add_prefix("vision_tower.encoder.final_layernorm", linear(_VISION))
    merged = _VISION * _MERGE**2
    yield from add_prefix("multi_modal_projector.pre_norm", linear(_VISION))
    yield from add_prefix("multi_modal_projector.linear_1", linear(merged, merged))
    yield from add_prefix("multi_modal_projector.linear_2", linear(HIDDEN, merged))


def _block() -> Shapes:
    yield from add_prefix("norm0", linear(_VISION))
    yield from add_prefix("norm1", linear(_VISION))
    yield from add_prefix("wqkv", linear(3 * _VISION, _VISION))
    yield from add_prefix("wo", linear(_VISION, _VISION))
    yield from add_prefix("mlp.fc0", linear(_VISION_MLP, _VISION))
    yield from add_prefix("mlp.fc1", linear(_VISION, _VISION_MLP))


KIMI_VL = CheckpointDesign(
    image="<|media_start|>image<|media_content|><|media_pad|><|media_end|>",
    special_tokens=_TOKENS,
    special_marks=kimi_vl.KIMI_VL.marks.ends[1:],  # the marks of its thought are spelled, not tokens
    config=_config,
    shapes=_shapes,
    processing={
        "preprocessor_config.json": {
            "auto_map": {"AutoProcessor": "processing_kimi_vl.KimiVLProcessor"},
            "patch_size": _PATCH,
            "in_token_limit": MAX_PATCHES,
            "merge_kernel_size": [_MERGE, _MERGE],
            "image_mean": [0.5, 0.5, 0.5],
            "image_std": [0.5, 0.5, 0.5],
        }
    },
    head="language_model.lm_head.weight",
)
