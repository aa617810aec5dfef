"""A small LLaVA-OneVision checkpoint on Qwen2. Tensors: vLLM, models/llava_onevision.py, under the published names."""

from typing import Any

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
from tests.checkpoints.siglip import VISION, siglip_block, siglip_config

_TILE, _PATCH, _COLUMNS = 112, 14, 6
_TOKENS = (_TILE // _PATCH) ** 2
_CANVASES = [[rows * _TILE, columns * _TILE] for rows in range(1, _COLUMNS + 1) for columns in range(1, _COLUMNS + 1)]
_TOWER = "vision_tower.vision_model"


def _config(token_ids: TokenIds) -> dict[str, Any]:
    return {
        "architectures": ["LlavaOnevisionForConditionalGeneration"],
        "model_type": "llava_onevision",
        "dtype": "float32",
        "tie_word_embeddings": False,
        "image_token_index": token_ids["<image>"],
        "video_token_index": token_ids["<video>"],
        "image_grid_pinpoints": _CANVASES,
        "vision_aspect_ratio": "anyres_max_9",
        "vision_feature_layer": -1,
        "vision_feature_select_strategy": "full",
        "text_config": text_config("qwen2", token_ids) | {"architectures": ["Qwen2ForCausalLM"]},
        "vision_config": siglip_config(_PATCH)
        | {"model_type": "siglip_vision_model", "image_size": _TILE, "vision_use_head": False},
    }


def _shapes() -> Shapes:
    yield "language_model.lm_head.weight", (NUM_TOKENS, HIDDEN)
    yield from decoder("language_model.model", *(dense_layer(bias=True) for _ in range(LAYERS)))
    yield "image_newline", (HIDDEN,)
    yield from add_prefix(f"{_TOWER}.embeddings.patch_embedding", linear(VISION, 3, _PATCH, _PATCH))
    yield f"{_TOWER}.embeddings.position_embedding.weight", (_TOKENS, VISION)
    for layer in range(2):
        yield from add_prefix(f"{_TOWER}.encoder.layers.{layer}", siglip_block())
    yield from add_prefix(f"{_TOWER}.post_layernorm", linear(VISION))
    yield from add_prefix("multi_modal_projector.linear_1", linear(HIDDEN, VISION))
    yield from add_prefix("multi_modal_projector.linear_2", linear(HIDDEN, HIDDEN))


_IMAGES = {
    "processor_class": "LlavaOnevisionProcessor",
    "size": {"height": _TILE, "width": _TILE},
    "image_mean": [0.5, 0.5, 0.5],
    "image_std": [0.5, 0.5, 0.5],
}

LLAVA_ONEVISION = CheckpointDesign(
    image="<image>\n",
    special_tokens=("<image>", "<video>"),
    config=_config,
    shapes=_shapes,
    processing={
        "preprocessor_config.json": _IMAGES
        | {"image_processor_type": "LlavaOnevisionImageProcessor", "image_grid_pinpoints": _CANVASES},
        "video_preprocessor_config.json": _IMAGES | {"video_processor_type": "LlavaOnevisionVideoProcessor"},
        "processor_config.json": {
            "processor_class": "LlavaOnevisionProcessor",
            "num_image_tokens": _TOKENS,
            "vision_feature_select_strategy": "full",
            "vision_aspect_ratio": "anyres_max_9",
        },
    },
    head="language_model.lm_head.weight",
)
