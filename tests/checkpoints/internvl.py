"""Small InternVL checkpoints: 3.5 of the chat and of the -HF variant, the same architecture under two sets of names;
and the chat variant on Qwen2.5, which is that of 2.5 and 3.

Tensors: vLLM, models/internvl.py and intern_vit.py (chat); transformers, models/internvl/modeling_internvl.py (-HF).
"""

from dataclasses import replace
from typing import Any

from gigavqa.catalogue.families import internvl
from gigavqa.catalogue.families.family import THINK_MARKS
from gigavqa.workers.checkpoints.tensors import (
    HIDDEN,
    LAYERS,
    NUM_TOKENS,
    Shapes,
    TokenIds,
    add_prefix,
    decoder,
    dense_layer,
    linear,
    text_config,
)
from gigavqa.workers.checkpoints.writing import CheckpointDesign

MAX_TILES = 2
_TILE, _PATCH, _MERGE = 448, 14, 2
_VISION, _VISION_MLP, _VISION_HEADS, _VISION_LAYERS = 64, 128, 4, 2
_MERGED = _VISION * _MERGE**2
_POSITIONS = (_TILE // _PATCH) ** 2 + 1
_TOKENS_PER_TILE = (_TILE // _PATCH // _MERGE) ** 2
_TOKENS = ("<img>", "</img>", "<IMG_CONTEXT>", "<image>", "<video>")


def _hf_config(token_ids: TokenIds) -> dict[str, Any]:
    return {
        "architectures": ["InternVLForConditionalGeneration"],
        "model_type": "internvl",
        "dtype": "float32",
        "tie_word_embeddings": False,
        "image_token_id": token_ids["<IMG_CONTEXT>"],
        "image_seq_length": _TOKENS_PER_TILE,
        "downsample_ratio": 1 / _MERGE,
        "text_config": text_config("qwen3", token_ids),
        "vision_config": {
            "model_type": "internvl_vision",
            "hidden_size": _VISION,
            "intermediate_size": _VISION_MLP,
            "num_hidden_layers": _VISION_LAYERS,
            "num_attention_heads": _VISION_HEADS,
            "attention_bias": True,
            "image_size": [_TILE, _TILE],
            "patch_size": [_PATCH, _PATCH],
        },
    }


def _hf_shapes() -> Shapes:
    yield "language_model.lm_head.weight", (NUM_TOKENS, HIDDEN)
    yield from decoder("language_model.model", *(dense_layer(qk_norm=True) for _ in range(LAYERS)))
    yield "vision_tower.embeddings.cls_token", (1, 1, _VISION)
    yield "vision_tower.embeddings.position_embeddings", (1, _POSITIONS, _VISION)
    patches = linear(_VISION, 3, _PATCH, _PATCH)
    yield from add_prefix("vision_tower.embeddings.patch_embeddings.projection", patches)
    for layer in range(_VISION_LAYERS):
        yield from add_prefix(f"vision_tower.encoder.layer.{layer}", _hf_block())
    yield from add_prefix("multi_modal_projector.layer_norm", linear(_MERGED))
    yield from add_prefix("multi_modal_projector.linear_1", linear(HIDDEN, _MERGED))
    yield from add_prefix("multi_modal_projector.linear_2", linear(HIDDEN, HIDDEN))


def _hf_block() -> Shapes:
    yield "lambda_1", (_VISION,)
    yield "lambda_2", (_VISION,)
    yield from add_prefix("layernorm_before", linear(_VISION))
    yield from add_prefix("layernorm_after", linear(_VISION))
    for name in ("q_proj", "k_proj", "v_proj", "projection_layer"):
        yield from add_prefix(f"attention.{name}", linear(_VISION, _VISION))
    yield from add_prefix("mlp.fc1", linear(_VISION_MLP, _VISION))
    yield from add_prefix("mlp.fc2", linear(_VISION, _VISION_MLP))


_HF_PROCESSOR = {
    "processor_class": "InternVLProcessor",
    "image_processor_type": "GotOcr2ImageProcessorFast",
    "size": {"height": _TILE, "width": _TILE},
    "crop_to_patches": True,
    "min_patches": 1,
    "max_patches": MAX_TILES,
    "image_mean": [0.485, 0.456, 0.406],
    "image_std": [0.229, 0.224, 0.225],
}
_VIDEO_PROCESSOR = _HF_PROCESSOR | {"video_processor_type": "InternVLVideoProcessor"}
del _VIDEO_PROCESSOR["image_processor_type"]


def _chat_config(token_ids: TokenIds) -> dict[str, Any]:
    language = text_config("qwen3", token_ids) | {"architectures": ["Qwen3ForCausalLM"]}
    return {
        "architectures": ["InternVLChatModel"],
        "auto_map": {"AutoConfig": "configuration_internvl_chat.InternVLChatConfig"},  # which is not there
        "model_type": "internvl_chat",
        "dtype": "float32",
        "tie_word_embeddings": False,
        "downsample_ratio": 1 / _MERGE,
        "dynamic_image_size": True,
        "force_image_size": _TILE,
        "max_dynamic_patch": MAX_TILES,
        "min_dynamic_patch": 1,
        "ps_version": "v2",
        "select_layer": -1,
        "use_thumbnail": True,
        "llm_config": language,
        "vision_config": {
            "model_type": "intern_vit_6b",
            "hidden_size": _VISION,
            "intermediate_size": _VISION_MLP,
            "num_hidden_layers": _VISION_LAYERS,
            "num_attention_heads": _VISION_HEADS,
            "image_size": _TILE,
            "patch_size": _PATCH,
            "qkv_bias": True,
        },
    }


def _chat_shapes() -> Shapes:
    yield "language_model.lm_head.weight", (NUM_TOKENS, HIDDEN)
    yield from decoder("language_model.model", *(dense_layer(qk_norm=True) for _ in range(LAYERS)))
    yield "vision_model.embeddings.class_embedding", (1, 1, _VISION)
    yield "vision_model.embeddings.position_embedding", (1, _POSITIONS, _VISION)
    yield from add_prefix("vision_model.embeddings.patch_embedding", linear(_VISION, 3, _PATCH, _PATCH))
    for layer in range(_VISION_LAYERS):
        yield from add_prefix(f"vision_model.encoder.layers.{layer}", _chat_block())
    yield from add_prefix("mlp1.0", linear(_MERGED))
    yield from add_prefix("mlp1.1", linear(HIDDEN, _MERGED))
    yield from add_prefix("mlp1.3", linear(HIDDEN, HIDDEN))


def _chat_block() -> Shapes:
    yield "ls1", (_VISION,)
    yield "ls2", (_VISION,)
    yield from add_prefix("norm1", linear(_VISION))
    yield from add_prefix("norm2", linear(_VISION))
    yield from add_prefix("attn.qkv", linear(3 * _VISION, _VISION))
    yield from add_prefix("attn.proj", linear(_VISION, _VISION))
    yield from add_prefix("mlp.fc1", linear(_VISION_MLP, _VISION))
    yield from add_prefix("mlp.fc2", linear(_VISION, _VISION_MLP))


def _qwen2_config(token_ids: TokenIds) -> dict[str, Any]:
    """InternVL2.5 and InternVL3 on Qwen2.5, with the norms of the large tower, and fields as their files have them."""
    language = text_config("qwen2", token_ids) | {
        "architectures": ["Qwen2ForCausalLM"],
        "rope_theta": 500000.0,
        "rope_scaling": {"factor": 2.0, "rope_type": "dynamic", "type": "dynamic"},
    }
    del language["rope_parameters"]
    chat = _chat_config(token_ids)
    tower = chat["vision_config"] | {"qkv_bias": False, "qk_normalization": True, "norm_type": "rms_norm"}
    return chat | {"llm_config": language, "vision_config": tower}


def _qwen2_shapes() -> Shapes:
    yield "language_model.lm_head.weight", (NUM_TOKENS, HIDDEN)
    yield from decoder("language_model.model", *(dense_layer(bias=True) for _ in range(LAYERS)))
    for name, shape in _chat_shapes():
        if name.startswith("language_model.") or name.endswith(("norm1.bias", "norm2.bias", "attn.qkv.bias")):
            continue
        yield name, shape
        if name.endswith("attn.qkv.weight"):
            yield name.replace("qkv", "q_norm"), (_VISION,)
            yield name.replace("qkv", "k_norm"), (_VISION,)


INTERNVL_CHAT = CheckpointDesign(
    image="<image>\n",
    special_tokens=_TOKENS,
    special_marks=internvl.INTERNVL.marks.places,
    plain_marks=(*THINK_MARKS, *internvl.INTERNVL.marks.calls),
    config=_chat_config,
    shapes=_chat_shapes,
    processing={"preprocessor_config.json": {"image_processor_type": "CLIPImageProcessor", "crop_size": _TILE}},
    head="language_model.lm_head.weight",
)

INTERNVL_QWEN2 = replace(INTERNVL_CHAT, config=_qwen2_config, shapes=_qwen2_shapes)

INTERNVL_HF = CheckpointDesign(
    image="<IMG_CONTEXT>",
    special_tokens=_TOKENS,
    special_marks=internvl.INTERNVL.marks.places,
    plain_marks=(*THINK_MARKS, *internvl.INTERNVL.marks.calls),
    config=_hf_config,
    shapes=_hf_shapes,
    processing={
        "preprocessor_config.json": _HF_PROCESSOR,
        "video_preprocessor_config.json": _VIDEO_PROCESSOR,
        "processor_config.json": {"processor_class": "InternVLProcessor", "image_seq_length": _TOKENS_PER_TILE},
    },
    head="language_model.lm_head.weight",
    tokenizer={
        "start_image_token": "<img>",
        "end_image_token": "</img>",
        "context_image_token": "<IMG_CONTEXT>",
        "video_token": "<video>",
    },
)
