"""A Qwen3-VL checkpoint of a million random weights: every part of the architecture, small enough for any CPU.

Tensor names and shapes: transformers, models/qwen3_vl/modeling_qwen3_vl.py.
"""

from typing import Any

from gigavqa.catalogue.families import qwen
from gigavqa.catalogue.families.family import THINK_MARKS
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

QWEN_TOKENS = ("<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>")
VISION, VISION_MLP, VISION_HEADS, VISION_LAYERS = 64, 128, 4, 2
MERGE, FRAMES = 2, 2
_PATCH, _POSITIONS = 16, 256


def _config(token_ids: TokenIds) -> dict[str, Any]:
    rope = ROPE | {"mrope_section": [4, 6, 6], "mrope_interleaved": True}
    return {
        "architectures": ["Qwen3VLForConditionalGeneration"],
        "model_type": "qwen3_vl",
        "dtype": "float32",
        "tie_word_embeddings": False,
        **special_token_ids(token_ids),
        "text_config": text_config("qwen3_vl_text", token_ids, rope_parameters=rope),
        "vision_config": vision_config("qwen3_vl_vision", _PATCH)
        | {"num_position_embeddings": _POSITIONS, "deepstack_visual_indexes": list(range(LAYERS))},
    }


def _shapes() -> Shapes:
    yield "lm_head.weight", (NUM_TOKENS, HIDDEN)
    yield from decoder("model.language_model", *(dense_layer(qk_norm=True) for _ in range(LAYERS)))
    yield from add_prefix("model.visual", vision_tower(_PATCH, _POSITIONS))
    for layer in range(LAYERS):
        yield from add_prefix(f"model.visual.deepstack_merger_list.{layer}", patch_merger(VISION * MERGE**2))


def special_token_ids(token_ids: TokenIds) -> dict[str, int]:
    """Return the ids of the special tokens, as the configuration names them."""
    return {
        "image_token_id": token_ids["<|image_pad|>"],
        "video_token_id": token_ids["<|video_pad|>"],
        "vision_start_token_id": token_ids["<|vision_start|>"],
        "vision_end_token_id": token_ids["<|vision_end|>"],
    }


def vision_config(model_type: str, patch: int) -> dict[str, Any]:
    """Configuration of the vision tower."""
    return {
        "model_type": model_type,
        "depth": VISION_LAYERS,
        "hidden_size": VISION,
        "intermediate_size": VISION_MLP,
        "num_heads": VISION_HEADS,
        "out_hidden_size": HIDDEN,
        "patch_size": patch,
        "spatial_merge_size": MERGE,
        "temporal_patch_size": FRAMES,
    }


def vision_tower(patch: int, positions: int) -> Shapes:
    """Yield the vision tower of Qwen3-VL and Qwen3.5, with its merger."""
    yield from add_prefix("patch_embed.proj", linear(VISION, 3, FRAMES, patch, patch))
    yield "pos_embed.weight", (positions, VISION)
    for layer in range(VISION_LAYERS):
        yield from add_prefix(f"blocks.{layer}", _block())
    yield from add_prefix("merger", patch_merger(VISION))


def patch_merger(norm: int) -> Shapes:
    """Yield what makes one token of four patches; `norm` values are normalized together."""
    merged = VISION * MERGE**2
    yield from add_prefix("norm", linear(norm))
    yield from add_prefix("linear_fc1", linear(merged, merged))
    yield from add_prefix("linear_fc2", linear(HIDDEN, merged))


def processing_config(name: str, patch: int, *, min_pixels: int, max_pixels: int) -> dict[str, Any]:
    """Preprocessing of images, and of videos as the processors ask for it; `name` is that of the family's classes."""
    config = {
        "processor_class": f"{name}Processor",
        "size": {"shortest_edge": min_pixels, "longest_edge": max_pixels},
        "patch_size": patch,
        "temporal_patch_size": FRAMES,
        "merge_size": MERGE,
        "image_mean": [0.5, 0.5, 0.5],
        "image_std": [0.5, 0.5, 0.5],
    }
    videos = "Qwen2VLVideoProcessor" if name.startswith("Qwen2") else "Qwen3VLVideoProcessor"
    return {
        "preprocessor_config.json": config | {"image_processor_type": "Qwen2VLImageProcessorFast"},
        "video_preprocessor_config.json": config | {"video_processor_type": videos},
    }


def _block() -> Shapes:
    yield from add_prefix("norm1", linear(VISION))
    yield from add_prefix("norm2", linear(VISION))
    yield from add_prefix("attn.qkv", linear(3 * VISION, VISION))
    yield from add_prefix("attn.proj", linear(VISION, VISION))
    yield from add_prefix("mlp.linear_fc1", linear(VISION_MLP, VISION))
    yield from add_prefix("mlp.linear_fc2", linear(VISION, VISION_MLP))


QWEN3_VL = CheckpointDesign(
    image="<|vision_start|><|image_pad|><|vision_end|>",
    special_tokens=QWEN_TOKENS,
    special_marks=qwen.QWEN3_VL.marks.places,
    plain_marks=(*THINK_MARKS, *qwen.QWEN3_VL.marks.calls),
    config=_config,
    shapes=_shapes,
    processing=processing_config("Qwen3VL", _PATCH, min_pixels=65536, max_pixels=262144),
    focus=1.0,  # the demo's answers stay what they are
)
