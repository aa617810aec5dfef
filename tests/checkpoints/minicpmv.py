"""Small checkpoints of MiniCPM-V 4.5, and of MiniCPM-o 2.6, which has Qwen2 instead of Qwen3.

Tensors: vLLM, models/minicpmv.py, idefics2_vision_model.py and resampler.py. As
the published ones they name code that they would bring; here that code does not exist.
"""

from dataclasses import replace
from typing import Any

from gigavqa.catalogue.families import minicpmv
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

MAX_SLICES = 4
_SLICE, _PATCH, _QUERIES = 448, 14, 64
_TOKENS = ("<unk>", "<image>", "</image>", "<slice>", "</slice>", "<image_id>", "</image_id>")


def _config(token_ids: TokenIds) -> dict[str, Any]:
    language = text_config("minicpmv", token_ids)
    return language | {
        "architectures": ["MiniCPMV"],
        "auto_map": {"AutoConfig": "configuration_minicpm.MiniCPMVConfig"},
        "version": 4.5,
        "query_num": _QUERIES,
        "image_size": _SLICE,
        "max_slice_num": MAX_SLICES,
        "drop_vision_last_layer": False,
        "vision_config": siglip_config(_PATCH) | {"model_type": "siglip_vision_model", "image_size": _SLICE},
    }


def _shapes() -> Shapes:
    yield "llm.lm_head.weight", (NUM_TOKENS, HIDDEN)
    yield from decoder("llm.model", *(dense_layer(qk_norm=True) for _ in range(LAYERS)))
    yield from add_prefix("vpm.embeddings.patch_embedding", linear(VISION, 3, _PATCH, _PATCH))
    yield "vpm.embeddings.position_embedding.weight", ((_SLICE // _PATCH) ** 2, VISION)
    for layer in range(LAYERS):
        yield from add_prefix(f"vpm.encoder.layers.{layer}", siglip_block())
    yield from add_prefix("vpm.post_layernorm", linear(VISION))
    yield from add_prefix("resampler", _resampler())


def _resampler() -> Shapes:
    """One cross attention from as many queries as a slice has tokens."""
    yield "query", (_QUERIES, HIDDEN)
    yield "proj", (HIDDEN, HIDDEN)
    yield "kv_proj.weight", (HIDDEN, VISION)
    yield "attn.in_proj_weight", (3 * HIDDEN, HIDDEN)
    yield "attn.in_proj_bias", (3 * HIDDEN,)
    yield from add_prefix("attn.out_proj", linear(HIDDEN, HIDDEN))
    for norm in ("ln_q", "ln_kv", "ln_post"):
        yield from add_prefix(norm, linear(HIDDEN))


MINICPM_V = CheckpointDesign(
    image="(<image>./</image>)\n",
    special_tokens=_TOKENS,
    special_marks=minicpmv.MINICPM_V.marks.places,
    plain_marks=(*THINK_MARKS, *minicpmv.MINICPM_V.marks.calls),
    config=_config,
    shapes=_shapes,
    processing={
        "preprocessor_config.json": {
            "auto_map": {
                "AutoProcessor": "processing_minicpmv.MiniCPMVProcessor",
                "AutoImageProcessor": "image_processing_minicpmv.MiniCPMVImageProcessor",
            },
            "max_slice_nums": MAX_SLICES,
            "scale_resolution": _SLICE,
            "patch_size": _PATCH,
            "image_feature_size": _QUERIES,
            "norm_mean": [0.5, 0.5, 0.5],
            "norm_std": [0.5, 0.5, 0.5],
        }
    },
    head="llm.lm_head.weight",
    tokenizer={
        "auto_map": {
            "AutoTokenizer": ["tokenization_qwen2.Qwen2Tokenizer", "tokenization_minicpmv_fast.MiniCPMVTokenizerFast"]
        },
        "tokenizer_class": "MiniCPMVTokenizerFast",
        "unk_token": "<unk>",
    },
)


def _omni_config(token_ids: TokenIds) -> dict[str, Any]:
    named = {"architectures": ["MiniCPMO"], "model_type": "minicpmo", "version": "2.6"}
    config = _config(token_ids) | named | {"auto_map": {"AutoConfig": "configuration_minicpm.MiniCPMOConfig"}}
    del config["head_dim"]
    return config


def _omni_shapes() -> Shapes:
    """Some of the audio encoder and of speech too, which is not to be loaded."""
    yield from (named for named in _shapes() if not named[0].startswith("llm.model."))
    yield from decoder("llm.model", *(dense_layer(bias=True) for _ in range(LAYERS)))
    for name in ("apm.conv1", "audio_projection_layer.linear1", "tts.projector.linear1"):
        yield from add_prefix(name, linear(HIDDEN, HIDDEN))


MINICPM_O = replace(
    MINICPM_V,
    special_marks=minicpmv.MINICPM_O.marks.places,
    plain_marks=minicpmv.MINICPM_O.marks.calls,
    config=_omni_config,
    shapes=_omni_shapes,
)
