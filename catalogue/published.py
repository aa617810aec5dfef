"""Visual budgets as checkpoints declare them, in config.json (`config`) and for their image processor (`processing`).

Each function reads one family's fields where its published checkpoints keep them; what they leave out is what the
family's processor assumes. A value of the wrong type is found by the budget itself.
"""

from collections.abc import Mapping
from typing import Any

from catalogue.errors import CheckpointInvalidError
from tiling.budgets.deepseek_vl2 import DeepseekVL2Budget
from tiling.budgets.gemma4 import Gemma4Budget
from tiling.budgets.glm4v import Glm4vBudget
from tiling.budgets.internvl import InternVLBudget
from tiling.budgets.kimi_vl import KimiVLBudget
from tiling.budgets.minicpmv import MiniCPMVBudget
from tiling.budgets.phi4 import Phi4VisionBudget
from tiling.budgets.qwen import QwenBudget

Config = Mapping[str, Any]


def qwen25(config: Config, processing: Config) -> QwenBudget:
    """Qwen2.5-VL: limits beside `size` in older checkpoints."""
    return _qwen(processing, patch_size=14, min_pixels=3136, max_pixels=12845056)


def qwen3(config: Config, processing: Config) -> QwenBudget:
    """Qwen3-VL and Qwen3.5."""
    return _qwen(processing, patch_size=16, min_pixels=65536, max_pixels=16777216)


def glm4v(config: Config, processing: Config) -> Glm4vBudget:
    """GLM-4.1V and GLM-4.5V: limits in `size`, in pixels of all frames."""
    size = processing.get("size") or {}
    return Glm4vBudget(
        factor=processing.get("patch_size", 14) * processing.get("merge_size", 2),
        frames=processing.get("temporal_patch_size", 2),
        min_pixels=size.get("shortest_edge", 12544),
        max_pixels=size.get("longest_edge", 11760000),
    )


def internvl_hf(config: Config, processing: Config) -> InternVLBudget:
    """InternVL with the suffix -HF: limits of the image processor."""
    size = processing.get("size") or {}
    return InternVLBudget(
        layout="hf",
        tile=size.get("height", 448),
        max_tiles=processing.get("max_patches", 12),
        tokens_per_tile=config.get("image_seq_length", 256),
    )


def internvl_chat(config: Config, processing: Config) -> InternVLBudget:
    """InternVL in its original layout: limits in config.json."""
    vision = config.get("vision_config") or {}
    tile = config.get("force_image_size") or vision.get("image_size", 448)
    patches = (tile // vision.get("patch_size", 14)) ** 2
    return InternVLBudget(
        layout="chat",
        tile=tile,
        max_tiles=config.get("max_dynamic_patch", 12),
        tokens_per_tile=round(patches * config.get("downsample_ratio", 0.5) ** 2),
    )


def gemma4(config: Config, processing: Config) -> Gemma4Budget:
    """Gemma 4: the image processor's soft tokens."""
    return Gemma4Budget(
        max_soft_tokens=processing.get("max_soft_tokens", 280),
        patch_size=processing.get("patch_size", 16),
        pooling=processing.get("pooling_kernel_size", 3),
    )


def deepseek_vl2(config: Config, processing: Config) -> DeepseekVL2Budget:
    """DeepSeek-VL2: a list of canvases, which must be all of up to a number of tiles."""
    canvases = {tuple(pair) for pair in config.get("candidate_resolutions") or processing["candidate_resolutions"]}
    tile = min(width for width, _ in canvases)
    most = max(width * height for width, height in canvases) // tile**2
    if canvases != {(c * tile, r * tile) for c in range(1, most + 1) for r in range(1, most // c + 1)}:
        raise CheckpointInvalidError(
            f"config.json: candidate_resolutions are not all canvases of up to {most} tiles of {tile} pixels"
        )
    return DeepseekVL2Budget(
        tile=tile,
        max_tiles=most,
        patch_size=(config.get("vision_config") or {}).get("patch_size", 14),
        downsample_ratio=(config.get("projector_config") or {}).get("downsample_ratio", 2),
    )


def minicpmv(config: Config, processing: Config) -> MiniCPMVBudget:
    """MiniCPM-V 4.5: limits of the image processor."""
    return MiniCPMVBudget(
        slice=processing.get("scale_resolution", 448),
        max_slices=processing.get("max_slice_nums", 9),
        patch_size=processing.get("patch_size", 14),
        tokens_per_slice=processing.get("image_feature_size", 64),
    )


def phi4_vision(config: Config, processing: Config) -> Phi4VisionBudget:
    """Phi-4-Reasoning-Vision: limits in config.json."""
    return Phi4VisionBudget(
        patch_size=(config.get("vision_config") or {}).get("patch_size", 16),
        min_patches=config.get("min_num_patches", 256),
        max_patches=config.get("max_num_patches", 3600),
    )


def kimi_vl(config: Config, processing: Config) -> KimiVLBudget:
    """Kimi-VL: limits of the image processor."""
    return KimiVLBudget(
        max_patches=processing.get("in_token_limit", 4096),
        patch_size=processing.get("patch_size", 14),
        merge=(processing.get("merge_kernel_size") or [2])[0],
    )


def _qwen(processing: Config, *, patch_size: int, min_pixels: int, max_pixels: int) -> QwenBudget:
    size = processing.get("size") or {}
    return QwenBudget(
        factor=processing.get("patch_size", patch_size) * processing.get("merge_size", 2),
        min_pixels=processing.get("min_pixels") or size.get("shortest_edge") or min_pixels,
        max_pixels=processing.get("max_pixels") or size.get("longest_edge") or max_pixels,
    )
