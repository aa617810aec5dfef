"""A small Gemma-4 checkpoint with experts, a sliding and a global layer. Tensors: transformers, models/gemma4."""

from typing import Any

from gigavqa.catalogue.families import gemma4
from gigavqa.workers.checkpoints.tensors import (
    HEAD,
    HEADS,
    HIDDEN,
    KV_HEADS,
    MLP,
    Shapes,
    TokenIds,
    add_prefix,
    decoder,
    gated_mlp,
    text_config,
)
from gigavqa.workers.checkpoints.writing import CheckpointDesign

MAX_SOFT_TOKENS = 280
_VISION, _VISION_MLP, _VISION_HEADS, _VISION_HEAD, _VISION_LAYERS = 64, 128, 4, 16, 2
_PATCH, _POOL, _POSITIONS = 16, 3, 1024
_EXPERTS, _EXPERT_MLP, _GLOBAL_HEAD = 4, 64, 64
_TOKENS = ("<bos>", "<|image>", "<|image|>", "<image|>", "<|video|>", "<|audio>", "<|audio|>", "<audio|>")


def _config(token_ids: TokenIds) -> dict[str, Any]:
    return {
        "architectures": ["Gemma4ForConditionalGeneration"],
        "model_type": "gemma4",
        "dtype": "float32",
        "tie_word_embeddings": True,
        "boi_token_id": token_ids["<|image>"],
        "eoi_token_id": token_ids["<image|>"],
        "image_token_id": token_ids["<|image|>"],
        "video_token_id": token_ids["<|video|>"],
        "boa_token_id": token_ids["<|audio>"],
        "eoa_token_index": token_ids["<audio|>"],
        "audio_token_id": token_ids["<|audio|>"],
        "vision_soft_tokens_per_image": MAX_SOFT_TOKENS,
        "audio_config": None,
        "text_config": text_config(
            "gemma4_text",
            token_ids,
            tie_word_embeddings=True,
            rope_parameters={
                "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
                "full_attention": {"rope_type": "proportional", "rope_theta": 1000000.0, "partial_rotary_factor": 0.25},
            },
            layer_types=["sliding_attention", "full_attention"],
            sliding_window=512,
            global_head_dim=_GLOBAL_HEAD,
            num_global_key_value_heads=KV_HEADS,
            attention_k_eq_v=True,
            hidden_size_per_layer_input=0,
            num_kv_shared_layers=0,
            final_logit_softcapping=30.0,
            enable_moe_block=True,
            num_experts=_EXPERTS,
            top_k_experts=2,
            moe_intermediate_size=_EXPERT_MLP,
        ),
        "vision_config": {
            "model_type": "gemma4_vision",
            "hidden_size": _VISION,
            "intermediate_size": _VISION_MLP,
            "num_hidden_layers": _VISION_LAYERS,
            "num_attention_heads": _VISION_HEADS,
            "num_key_value_heads": _VISION_HEADS,
            "head_dim": _VISION_HEAD,
            "patch_size": _PATCH,
            "pooling_kernel_size": _POOL,
            "position_embedding_size": _POSITIONS,
            "default_output_length": MAX_SOFT_TOKENS,
        },
    }


def _shapes() -> Shapes:
    yield from decoder("model.language_model", _layer(HEAD, has_values=True), _layer(_GLOBAL_HEAD, has_values=False))
    yield "model.embed_vision.embedding_projection.weight", (HIDDEN, _VISION)
    yield "model.vision_tower.patch_embedder.input_proj.weight", (_VISION, 3 * _PATCH**2)
    yield "model.vision_tower.patch_embedder.position_embedding_table", (2, _POSITIONS, _VISION)
    for layer in range(_VISION_LAYERS):
        yield from add_prefix(f"model.vision_tower.encoder.layers.{layer}", _block())


def _layer(head: int, *, has_values: bool) -> Shapes:
    """One layer; a global one has no projection for values, which are its keys."""
    yield "layer_scalar", (1,)
    yield from _norms(HIDDEN)
    for name in ("post_feedforward_layernorm_1", "post_feedforward_layernorm_2", "pre_feedforward_layernorm_2"):
        yield f"{name}.weight", (HIDDEN,)
    yield "self_attn.q_proj.weight", (HEADS * head, HIDDEN)
    yield "self_attn.k_proj.weight", (KV_HEADS * head, HIDDEN)
    if has_values:
        yield "self_attn.v_proj.weight", (KV_HEADS * head, HIDDEN)
    yield "self_attn.o_proj.weight", (HIDDEN, HEADS * head)
    yield "self_attn.q_norm.weight", (head,)
    yield "self_attn.k_norm.weight", (head,)
    yield from add_prefix("mlp", gated_mlp(HIDDEN, MLP))
    yield "router.scale", (HIDDEN,)
    yield "router.per_expert_scale", (_EXPERTS,)
    yield "router.proj.weight", (_EXPERTS, HIDDEN)
    yield "experts.gate_up_proj", (_EXPERTS, 2 * _EXPERT_MLP, HIDDEN)
    yield "experts.down_proj", (_EXPERTS, HIDDEN, _EXPERT_MLP)


def _norms(width: int) -> Shapes:
    for name in ("input", "post_attention", "pre_feedforward", "post_feedforward"):
        yield f"{name}_layernorm.weight", (width,)


def _block() -> Shapes:
    yield from _norms(_VISION)
    for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
        yield f"self_attn.{name}.linear.weight", (_VISION, _VISION)
    yield "self_attn.q_norm.weight", (_VISION_HEAD,)
    yield "self_attn.k_norm.weight", (_VISION_HEAD,)
    for name, shape in gated_mlp(_VISION, _VISION_MLP):
        yield f"mlp.{name.replace('.weight', '.linear.weight')}", shape


_IMAGES = {
    "image_processor_type": "Gemma4ImageProcessor",
    "patch_size": _PATCH,
    "pooling_kernel_size": _POOL,
    "max_soft_tokens": MAX_SOFT_TOKENS,
    "image_seq_length": MAX_SOFT_TOKENS,
}

GEMMA4 = CheckpointDesign(
    image="<|image|>",
    special_tokens=_TOKENS,
    special_marks=(*gemma4.GEMMA4.marks.written, *gemma4.GEMMA4.marks.ends),
    config=_config,
    shapes=_shapes,
    processing={
        "processor_config.json": {
            "processor_class": "Gemma4Processor",
            "image_seq_length": MAX_SOFT_TOKENS,
            "image_processor": _IMAGES,
            "video_processor": {"video_processor_type": "Gemma4VideoProcessor"},
            "feature_extractor": {"feature_extractor_type": "Gemma4AudioFeatureExtractor"},
        },
        "preprocessor_config.json": _IMAGES | {"processor_class": "Gemma4Processor"},
    },
    head="model.language_model.embed_tokens.weight",
    tokenizer={
        "bos_token": "<bos>",
        "image_token": "<|image|>",
        "boi_token": "<|image>",
        "eoi_token": "<image|>",
        "audio_token": "<|audio|>",
        "boa_token": "<|audio>",
        "eoa_token": "<audio|>",
    },
)
