"""A small GLM-4.5V checkpoint: a dense layer and one of experts. Tensors: transformers, models/glm4v_moe."""

from typing import Any

from gigavqa.catalogue.families import glm4v
from gigavqa.catalogue.families.family import THINK_MARKS
from gigavqa.workers.checkpoints.tensors import (
    HIDDEN,
    NUM_TOKENS,
    ROPE,
    Shapes,
    TokenIds,
    add_prefix,
    attention,
    decoder,
    dense_layer,
    gated_mlp,
    linear,
    norms,
    text_config,
    weight,
)
from gigavqa.workers.checkpoints.writing import CheckpointDesign

_VISION, _VISION_MLP, _VISION_HEADS, _VISION_LAYERS = 64, 128, 4, 2
_PATCH, _MERGE, _FRAMES, _POSITIONS = 14, 2, 2, 576
_EXPERTS, _EXPERT_MLP = 4, 64
_TOKENS = (
    "[gMASK]",
    "<|begin_of_image|>",
    "<|end_of_image|>",
    "<|image|>",
    "<|begin_of_video|>",
    "<|end_of_video|>",
    "<|video|>",
)


def _config(token_ids: TokenIds) -> dict[str, Any]:
    return {
        "architectures": ["Glm4vMoeForConditionalGeneration"],
        "model_type": "glm4v_moe",
        "dtype": "float32",
        "tie_word_embeddings": False,
        "image_token_id": token_ids["<|image|>"],
        "image_start_token_id": token_ids["<|begin_of_image|>"],
        "image_end_token_id": token_ids["<|end_of_image|>"],
        "video_token_id": token_ids["<|video|>"],
        "video_start_token_id": token_ids["<|begin_of_video|>"],
        "video_end_token_id": token_ids["<|end_of_video|>"],
        "text_config": text_config(
            "glm4v_moe_text",
            token_ids,
            rope_parameters=ROPE | {"mrope_section": [2, 3, 3], "partial_rotary_factor": 0.5},
            use_qk_norm=False,  # vLLM reads it, and published configurations have it
            attention_bias=True,
            moe_intermediate_size=_EXPERT_MLP,
            n_routed_experts=_EXPERTS,
            n_shared_experts=1,
            num_experts_per_tok=2,
            first_k_dense_replace=1,
        ),
        "vision_config": {
            "model_type": "glm4v_moe",
            "depth": _VISION_LAYERS,
            "hidden_size": _VISION,
            "intermediate_size": _VISION_MLP,
            "num_heads": _VISION_HEADS,
            "out_hidden_size": HIDDEN,
            "image_size": 336,
            "patch_size": _PATCH,
            "spatial_merge_size": _MERGE,
            "temporal_patch_size": _FRAMES,
        },
    }


def _shapes() -> Shapes:
    yield "lm_head.weight", (NUM_TOKENS, HIDDEN)
    yield from decoder("model.language_model", dense_layer(bias=True), _expert_layer())
    yield from add_prefix("model.visual", _tower())


def _expert_layer() -> Shapes:
    yield from norms()
    yield from add_prefix("self_attn", attention(bias=True))
    yield "mlp.gate.weight", (_EXPERTS, HIDDEN)
    yield "mlp.gate.e_score_correction_bias", (_EXPERTS,)
    yield from add_prefix("mlp.shared_experts", gated_mlp(HIDDEN, _EXPERT_MLP))
    for expert in range(_EXPERTS):
        yield from add_prefix(f"mlp.experts.{expert}", gated_mlp(HIDDEN, _EXPERT_MLP))


def _tower() -> Shapes:
    yield from add_prefix("patch_embed.proj", linear(_VISION, 3, _FRAMES, _PATCH, _PATCH))
    yield "embeddings.position_embedding.weight", (_POSITIONS, _VISION)
    yield "post_conv_layernorm.weight", (_VISION,)
    yield "post_layernorm.weight", (_VISION,)
    for layer in range(_VISION_LAYERS):
        yield from add_prefix(f"blocks.{layer}", _block())
    yield from add_prefix("downsample", linear(HIDDEN, _VISION, _MERGE, _MERGE))
    yield "merger.proj.weight", (HIDDEN, HIDDEN)
    yield from add_prefix("merger.post_projection_norm", linear(HIDDEN))
    yield from add_prefix("merger", gated_mlp(HIDDEN, _VISION_MLP))


def _block() -> Shapes:
    yield "norm1.weight", (_VISION,)
    yield "norm2.weight", (_VISION,)
    yield from add_prefix("attn.qkv", weight(3 * _VISION, _VISION))
    yield from add_prefix("attn.proj", weight(_VISION, _VISION))
    yield from add_prefix("mlp", gated_mlp(_VISION, _VISION_MLP))


_PROCESSOR = {
    "processor_class": "Glm4vProcessor",
    # Areas, counted twice: once for each of a patch's two frames.
    "size": {"shortest_edge": 12544, "longest_edge": 401408},
    "patch_size": _PATCH,
    "merge_size": _MERGE,
    "temporal_patch_size": _FRAMES,
    "image_mean": [0.5, 0.5, 0.5],
    "image_std": [0.5, 0.5, 0.5],
}

GLM4V = CheckpointDesign(
    image="<|begin_of_image|><|image|><|end_of_image|>",
    special_tokens=_TOKENS,
    special_marks=(*(glm4v.GLM4V.marks.answer or ()), *glm4v.GLM4V.marks.ends[1:]),
    plain_marks=(*THINK_MARKS, *glm4v.GLM4V.marks.calls),
    config=_config,
    shapes=_shapes,
    processing={
        "preprocessor_config.json": _PROCESSOR | {"image_processor_type": "Glm4vImageProcessorFast"},
        "video_preprocessor_config.json": _PROCESSOR | {"video_processor_type": "Glm4vVideoProcessor"},
    },
    tokenizer={"image_token": "<|image|>", "video_token": "<|video|>"},
)
