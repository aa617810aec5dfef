"""Checkpoints without weights, of published shapes and of tiny ones, for engines that load dummy weights.

Shapes: the `config.json` of Qwen/Qwen3-VL-8B-Instruct and of Qwen/Qwen3.5-27B. The tokenizer is our own, of a thousand
tokens: texts cost a few tokens more than with the published one, pictures exactly the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.catalogue.load import load_catalogue
from gigavqa.workers.checkpoints.qwen3_vl import QWEN3_VL, processing_config, special_token_ids
from gigavqa.workers.checkpoints.tensors import TokenIds
from gigavqa.workers.checkpoints.writing import CheckpointDesign, write_without_weights
from tests.checkpoints.qwen3_5 import QWEN3_5

_VISION = {
    "depth": 27,
    "hidden_size": 1152,
    "intermediate_size": 4304,
    "num_heads": 16,
    "num_position_embeddings": 2304,
    "patch_size": 16,
    "spatial_merge_size": 2,
    "temporal_patch_size": 2,
    "in_channels": 3,
    "hidden_act": "gelu_pytorch_tanh",
}
_TEXT = {"max_position_embeddings": 262144, "rms_norm_eps": 1e-6, "hidden_act": "silu", "dtype": "bfloat16"}
_LARGEST = {"min_pixels": 65536, "max_pixels": 16777216}


@dataclass(frozen=True)
class DummyModel:
    """A model that is served: a design, the catalogue's entry that it stands for, and bytes of the published
    weights.
    """

    design: CheckpointDesign
    entry: CatalogueEntry
    weights_bytes: int
    side: int
    """Of its largest square picture, in pixels."""


def models(*, tiny: bool) -> Mapping[str, DummyModel]:
    """Models by name. Tiny ones have the same architectures and run on any CPU."""
    catalogue = load_catalogue()
    if tiny:
        demo = catalogue["demo-qwen3-vl"]
        linear = demo.model_copy(update={"family": "qwen3.5", "engine": {**demo.engine, "dtype": "bfloat16"}})
        return {
            "qwen3-vl-tiny": DummyModel(QWEN3_VL, demo, 1 << 20, 512),
            "qwen3.5-tiny": DummyModel(QWEN3_5, linear, 1 << 20, 512),
        }
    return {
        "qwen3-vl-8b": DummyModel(_QWEN3_VL_8B, catalogue["qwen3-vl-8b"], 17_534_247_392, 4096),
        "qwen3.5-27b": DummyModel(_QWEN3_5_27B, catalogue["qwen3.5-27b"], 55_560_000_000, 4096),
    }


def write_model(name: str, model: DummyModel, folder: Path) -> CatalogueEntry:
    """Write a checkpoint folder and return an entry that serves it with dummy weights.

    The weights' file has a size and no content: an engine is told not to read it, and the worker sees from its size
    whether the weights fit into host memory while the engine sleeps.
    """
    folder.mkdir(parents=True, exist_ok=True)
    write_without_weights(model.design, folder)
    with (folder / "model.safetensors").open("wb") as file:
        file.truncate(model.weights_bytes)
    return model.entry.model_copy(
        update={
            "id": f"{name}-dummy",
            "title": f"{model.entry.title}, dummy weights",
            "weights": str(folder),
            "random_weights": True,
            "engine": {**model.entry.engine, "load_format": "dummy"},
        }
    )


def _qwen3_vl_8b(token_ids: TokenIds) -> dict[str, Any]:
    rope = {"rope_type": "default", "rope_theta": 5000000, "mrope_section": [24, 20, 20], "mrope_interleaved": True}
    text = {
        "model_type": "qwen3_vl_text",
        "vocab_size": 151936,
        "hidden_size": 4096,
        "intermediate_size": 12288,
        "num_hidden_layers": 36,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "rope_parameters": rope,
    }
    vision = {"model_type": "qwen3_vl", "out_hidden_size": 4096, "deepstack_visual_indexes": [8, 16, 24]}
    return _config("Qwen3VLForConditionalGeneration", "qwen3_vl", token_ids, text, vision)


def _qwen3_5_27b(token_ids: TokenIds) -> dict[str, Any]:
    rope = {
        "rope_type": "default",
        "rope_theta": 10000000,
        "mrope_section": [11, 11, 10],
        "mrope_interleaved": True,
        "partial_rotary_factor": 0.25,
    }
    text = {
        "model_type": "qwen3_5_text",
        "vocab_size": 248320,
        "hidden_size": 5120,
        "intermediate_size": 17408,
        "num_hidden_layers": 64,
        "num_attention_heads": 24,
        "num_key_value_heads": 4,
        "head_dim": 256,
        "attn_output_gate": True,
        "full_attention_interval": 4,
        "layer_types": [*["linear_attention"] * 3, "full_attention"] * 16,
        "linear_conv_kernel_dim": 4,
        "linear_key_head_dim": 128,
        "linear_value_head_dim": 128,
        "linear_num_key_heads": 16,
        "linear_num_value_heads": 48,
        "mamba_ssm_dtype": "float32",
        "rope_parameters": rope,
    }
    vision = {"model_type": "qwen3_5", "out_hidden_size": 5120, "deepstack_visual_indexes": []}
    return _config("Qwen3_5ForConditionalGeneration", "qwen3_5", token_ids, text, vision)


def _config(
    architecture: str, model_type: str, token_ids: TokenIds, text: Mapping[str, Any], vision: Mapping[str, Any]
) -> dict[str, Any]:
    ends = {"eos_token_id": token_ids["<|im_end|>"], "pad_token_id": token_ids["<|endoftext|>"]}
    return {
        "architectures": [architecture],
        "model_type": model_type,
        "dtype": "bfloat16",
        "tie_word_embeddings": False,
        **special_token_ids(token_ids),
        "text_config": {**_TEXT, **ends, "tie_word_embeddings": False, **text},
        "vision_config": {**_VISION, **vision},
    }


_QWEN3_VL_8B = replace(QWEN3_VL, config=_qwen3_vl_8b, processing=processing_config("Qwen3VL", 16, **_LARGEST))
_QWEN3_5_27B = replace(QWEN3_5, config=_qwen3_5_27b, processing=processing_config("Qwen3VL", 16, **_LARGEST))
