"""A small Ovis2.5 checkpoint. Tensors: vLLM, models/ovis2_5.py and siglip2navit.py, under the published names.

As the published one it names code that it would bring; here that code does not exist.
"""

from typing import Any

from gigavqa.catalogue.families import ovis
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
from tests.checkpoints.siglip import VISION, siglip_block, siglip_config

_PATCH, _STRIDE, _POSITIONS, _VOCABULARY = 16, 2, 256, 64
_TOWER = "visual_tokenizer.vit.vision_model"


def _config(token_ids: TokenIds) -> dict[str, Any]:
    language = text_config("qwen3", token_ids) | {"architectures": ["Qwen3ForCausalLM"]}
    return {
        "architectures": ["Ovis2_5"],
        "auto_map": {"AutoConfig": "configuration_ovis2_5.Ovis2_5_Config"},
        "model_type": "ovis2_5",
        "dtype": "float32",
        "tie_word_embeddings": False,
        "hidden_size": HIDDEN,
        "visual_vocab_size": _VOCABULARY,
        "llm_config": language,
        # One layer with windows of 112 pixels, and one that sees everything.
        "vit_config": siglip_config(_PATCH)
        | {
            "model_type": "siglip2_navit",
            "hidden_stride": _STRIDE,
            "num_patches": _POSITIONS,
            "window_size": 112,
            "fullatt_block_indexes": "1",
        },
    }


def _shapes() -> Shapes:
    yield "llm.lm_head.weight", (NUM_TOKENS, HIDDEN)
    yield from decoder("llm.model", *(dense_layer(qk_norm=True) for _ in range(LAYERS)))
    yield from add_prefix(f"{_TOWER}.embeddings.patch_embedding", linear(VISION, 3 * _PATCH**2))
    yield f"{_TOWER}.embeddings.position_embedding.weight", (_POSITIONS, VISION)
    for layer in range(LAYERS):
        yield from add_prefix(f"{_TOWER}.encoder.layers.{layer}", siglip_block())
    yield from add_prefix(f"{_TOWER}.post_layernorm", linear(VISION))
    yield "visual_tokenizer.head.0.weight", (_VOCABULARY - 4, VISION * _STRIDE**2)
    yield from add_prefix("visual_tokenizer.head.1", linear(_VOCABULARY - 4))
    yield "vte.weight", (_VOCABULARY, HIDDEN)


OVIS25 = CheckpointDesign(
    image="<image>\n",
    special_tokens=("<image>", "<video>", "<ovis_visual_atom>", "<|image_pad|>"),
    special_marks=ovis.OVIS25.marks.places,
    plain_marks=THINK_MARKS,
    config=_config,
    shapes=_shapes,
    processing={
        "preprocessor_config.json": {
            "image_processor_type": "SiglipImageProcessor",
            "resample": 2,
            "image_mean": [0.5, 0.5, 0.5],
            "image_std": [0.5, 0.5, 0.5],
        }
    },
    head="llm.lm_head.weight",
    distant_tokens={  # whose ids are fixed in vLLM
        "<ovis_image_start>": 151672,
        "<ovis_image_end>": 151673,
        "<ovis_video_start>": 151674,
        "<ovis_video_end>": 151675,
    },
)
