"""What the checkpoints of the Qwen families share: their special tokens, vision tower and preprocessing."""

from typing import Any

from workers.checkpoints.language import HIDDEN
from workers.checkpoints.tensors import Shapes, linear, prefixed
from workers.checkpoints.writing import TokenIds

QWEN_TOKENS = ("<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>")
VISION, VISION_MLP, VISION_HEADS, VISION_LAYERS = 64, 128, 4, 2
MERGE, FRAMES = 2, 2


def qwen_ids(token_ids: TokenIds) -> dict[str, int]:
    """The ids of the special tokens, as the configuration names them."""
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


def tower(patch: int, positions: int) -> Shapes:
    """The vision tower of Qwen3-VL and Qwen3.5, with its merger."""
    yield from prefixed("patch_embed.proj", linear(VISION, 3, FRAMES, patch, patch))
    yield "pos_embed.weight", (positions, VISION)
    for layer in range(VISION_LAYERS):
        yield from prefixed(f"blocks.{layer}", _block())
    yield from prefixed("merger", merger(VISION))


def merger(norm: int) -> Shapes:
    """What makes one token of four patches; `norm` values are normalized together."""
    merged = VISION * MERGE**2
    yield from prefixed("norm", linear(norm))
    yield from prefixed("linear_fc1", linear(merged, merged))
    yield from prefixed("linear_fc2", linear(HIDDEN, merged))


def processing(name: str, patch: int, *, min_pixels: int, max_pixels: int) -> dict[str, Any]:
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
    yield from prefixed("norm1", linear(VISION))
    yield from prefixed("norm2", linear(VISION))
    yield from prefixed("attn.qkv", linear(3 * VISION, VISION))
    yield from prefixed("attn.proj", linear(VISION, VISION))
    yield from prefixed("mlp.linear_fc1", linear(VISION_MLP, VISION))
    yield from prefixed("mlp.linear_fc2", linear(VISION, VISION_MLP))
