"""A small Idefics3 checkpoint on Llama. Tensors: vLLM, models/idefics3.py, under the published names."""

from typing import Any

from gigavqa.catalogue.families import idefics3
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

_TILE, _PATCH, _MERGE, _COLUMNS = 112, 14, 2, 2
_PATCHES = (_TILE // _PATCH) ** 2
_TOWER = "model.vision_model"
_PLACES = [f"<row_{row}_col_{column}>" for row in range(1, _COLUMNS + 1) for column in range(1, _COLUMNS + 1)]


def _config(token_ids: TokenIds) -> dict[str, Any]:
    return {
        "architectures": ["Idefics3ForConditionalGeneration"],
        "model_type": "idefics3",
        "dtype": "float32",
        "tie_word_embeddings": False,
        "image_token_id": token_ids["<image>"],
        "scale_factor": _MERGE,
        "text_config": text_config("llama", token_ids),
        "vision_config": siglip_config(_PATCH) | {"model_type": "idefics3_vision", "image_size": _TILE},
    }


def _shapes() -> Shapes:
    yield "lm_head.weight", (NUM_TOKENS, HIDDEN)
    yield from decoder("model.text_model", *(dense_layer() for _ in range(LAYERS)))
    yield from add_prefix(f"{_TOWER}.embeddings.patch_embedding", linear(VISION, 3, _PATCH, _PATCH))
    yield f"{_TOWER}.embeddings.position_embedding.weight", (_PATCHES, VISION)
    for layer in range(2):
        yield from add_prefix(f"{_TOWER}.encoder.layers.{layer}", siglip_block())
    yield from add_prefix(f"{_TOWER}.post_layernorm", linear(VISION))
    yield "model.connector.modality_projection.proj.weight", (HIDDEN, VISION * _MERGE**2)


IDEFICS3 = CheckpointDesign(
    image="<image>",
    special_tokens=(
        "<image>",
        "<fake_token_around_image>",
        "<global-img>",
        *_PLACES,
        *idefics3.IDEFICS3.marks.ends,
    ),
    config=_config,
    shapes=_shapes,
    processing={
        "preprocessor_config.json": {
            "processor_class": "Idefics3Processor",
            "image_processor_type": "Idefics3ImageProcessor",
            "size": {"longest_edge": _COLUMNS * _TILE},
            "max_image_size": {"longest_edge": _TILE},
            "image_mean": [0.5, 0.5, 0.5],
            "image_std": [0.5, 0.5, 0.5],
        },
        "processor_config.json": {
            "processor_class": "Idefics3Processor",
            "image_seq_len": _PATCHES // _MERGE**2,
        },
    },
)
