"""A small DeepSeek-VL2 checkpoint. Tensors: vLLM, models/deepseek_vl2.py; timm's vision transformer for the tower."""

from typing import Any

from gigavqa.catalogue.families import deepseek_vl2
from gigavqa.workers.checkpoints.tensors import HIDDEN, Shapes, TokenIds, add_prefix, linear
from gigavqa.workers.checkpoints.writing import CheckpointDesign
from tests.checkpoints.language_mla import SOFTMAX, mla_config, mla_decoder

MAX_TILES = 4
_VISION, _VISION_HEADS, _VISION_LAYERS, _VISION_RATIO = 64, 4, 2, 2
_TILE, _PATCH, _MERGE = 384, 14, 2
_POSITIONS = (378 // _PATCH) ** 2  # of the tower's own size; tiles are padded to whole patches
_GROUNDING_TOKENS = ("<|ref|>", "<|/ref|>", "<|det|>", "<|/det|>", "<|grounding|>")
_TOKENS = ("<image>", "<｜▁pad▁｜>", *_GROUNDING_TOKENS, "<|User|>", "<|Assistant|>")


def _resolutions() -> list[list[int]]:
    grids = [(c, r) for c in range(1, MAX_TILES + 1) for r in range(1, MAX_TILES // c + 1)]
    return [[c * _TILE, r * _TILE] for c, r in sorted(grids, key=lambda grid: grid[0] * grid[1])]


def _config(token_ids: TokenIds) -> dict[str, Any]:
    return {
        "architectures": ["DeepseekVLV2ForCausalLM"],
        "model_type": "deepseek_vl_v2",
        "dtype": "float32",
        "tile_tag": "2D",
        "global_view_pos": "head",
        "candidate_resolutions": _resolutions(),
        "language_config": mla_config(token_ids, SOFTMAX),
        "projector_config": {
            "model_type": "mlp_projector",
            "projector_type": "downsample_mlp_gelu",
            "input_dim": _VISION,
            "n_embed": HIDDEN,
            "depth": 2,
            "mlp_ratio": 1,
            "downsample_ratio": _MERGE,
        },
        "vision_config": {
            "model_type": "vision",
            "model_name": "vit_so400m_patch14_siglip_384.webli",
            "image_size": _TILE,
            "patch_size": _PATCH,
            "width": _VISION,
            "layers": _VISION_LAYERS,
            "heads": _VISION_HEADS,
            "mlp_ratio": _VISION_RATIO,
        },
    }


def _shapes() -> Shapes:
    yield from mla_decoder("language", SOFTMAX)
    yield "image_newline", (HIDDEN,)
    yield "view_seperator", (HIDDEN,)
    yield "vision.pos_embed", (1, _POSITIONS, _VISION)
    yield from add_prefix("vision.patch_embed.proj", linear(_VISION, 3, _PATCH, _PATCH))
    for layer in range(_VISION_LAYERS):
        yield from add_prefix(f"vision.blocks.{layer}", _block())
    yield from add_prefix("vision.norm", linear(_VISION))
    yield from add_prefix("vision.attn_pool", _pool())
    yield from add_prefix("projector.layers.0", linear(HIDDEN, _VISION * _MERGE**2))
    yield from add_prefix("projector.layers.2", linear(HIDDEN, HIDDEN))


def _block() -> Shapes:
    yield from add_prefix("norm1", linear(_VISION))
    yield from add_prefix("norm2", linear(_VISION))
    yield from add_prefix("attn.qkv", linear(3 * _VISION, _VISION))
    yield from add_prefix("attn.proj", linear(_VISION, _VISION))
    yield from add_prefix("mlp", _mlp())


def _pool() -> Shapes:
    """The pooling head, which published checkpoints have and nobody uses."""
    yield "latent", (1, 1, _VISION)
    yield from add_prefix("q", linear(_VISION, _VISION))
    yield from add_prefix("kv", linear(2 * _VISION, _VISION))
    yield from add_prefix("proj", linear(_VISION, _VISION))
    yield from add_prefix("norm", linear(_VISION))
    yield from add_prefix("mlp", _mlp())


def _mlp() -> Shapes:
    yield from add_prefix("fc1", linear(_VISION * _VISION_RATIO, _VISION))
    yield from add_prefix("fc2", linear(_VISION, _VISION * _VISION_RATIO))


DEEPSEEK_VL2 = CheckpointDesign(
    image="<image>\n",
    special_tokens=_TOKENS,
    special_marks=deepseek_vl2.DEEPSEEK_VL2.marks.ends,
    config=_config,
    shapes=_shapes,
    processing={
        "processor_config.json": {
            "processor_class": "DeepseekVLV2Processor",
            "candidate_resolutions": _resolutions(),
            "patch_size": _PATCH,
            "downsample_ratio": _MERGE,
            "image_mean": [0.5, 0.5, 0.5],
            "image_std": [0.5, 0.5, 0.5],
            "normalize": True,
            "image_token": "<image>",
            "pad_token": "<｜▁pad▁｜>",
            "add_special_token": False,
            "sft_format": "deepseek",
            "mask_prompt": False,
            "ignore_id": -100,
        }
    },
    head="language.lm_head.weight",
    tokenizer={"bos_token": "<|endoftext|>"},
)
