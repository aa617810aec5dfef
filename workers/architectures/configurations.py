"""Configurations that are published as code of the checkpoint: every field of config.json, and defaults for a few."""

from typing import Any

from transformers import AutoConfig, PreTrainedConfig
from transformers.models.llama.configuration_llama import LlamaConfig
from transformers.models.phi3.configuration_phi3 import Phi3Config
from transformers.models.qwen2.configuration_qwen2 import Qwen2Config
from transformers.models.qwen3.configuration_qwen3 import Qwen3Config
from transformers.models.siglip.configuration_siglip import SiglipVisionConfig

Fields = dict[str, Any]


class InternVisionConfig(PreTrainedConfig):  # type: ignore[misc]
    """The vision tower of InternVL's chat checkpoints."""

    model_type = "intern_vit_6b"

    def __init__(self, **fields: Any) -> None:
        defaults = {
            "num_channels": 3,
            "image_size": 448,
            "patch_size": 14,
            "norm_type": "layer_norm",
            "hidden_act": "gelu",
            "layer_norm_eps": 1e-6,
            "qkv_bias": True,
            "qk_normalization": False,
            "initializer_factor": 1.0,
        }
        super().__init__(**(defaults | fields))


class InternLM2Config(LlamaConfig):  # type: ignore[misc]
    """InternLM2, the language model of some InternVL2 and InternVL2.5: Llama's fields."""

    model_type = "internlm2"


class InternVLChatConfig(PreTrainedConfig):  # type: ignore[misc]
    """InternVL's chat checkpoints: the language model's configuration stands under `llm_config`."""

    model_type = "internvl_chat"

    def __init__(self, vision_config: Fields | None = None, llm_config: Fields | None = None, **fields: Any) -> None:
        self.vision_config = InternVisionConfig(**(vision_config or {}))
        self.text_config = AutoConfig.for_model(**({"model_type": "qwen3"} | (llm_config or {})))
        defaults = {
            "select_layer": -1,
            "force_image_size": None,
            "downsample_ratio": 0.5,
            "ps_version": "v2",
            "dynamic_image_size": True,
            "use_thumbnail": True,
            "min_dynamic_patch": 1,
            "max_dynamic_patch": 12,
            "tie_word_embeddings": False,
        }
        super().__init__(**(defaults | fields))


class MiniCPMVConfig(Qwen3Config):  # type: ignore[misc]
    """MiniCPM-V 4.5: Qwen3's fields, the vision tower's under `vision_config`, and those of the resampler."""

    model_type = "minicpmv"

    def __init__(self, vision_config: Fields | None = None, **fields: Any) -> None:
        vision = vision_config or {}
        self.vision_config = SiglipVisionConfig(**vision)
        defaults = {"version": 4.5, "query_num": 64, "image_size": 448, "drop_vision_last_layer": False}
        super().__init__(**(defaults | fields))


class MiniCPMOConfig(Qwen2Config):  # type: ignore[misc]
    """MiniCPM-o 2.6: Qwen2's fields, the vision tower's under `vision_config`, and those of the resampler."""

    model_type = "minicpmo"

    def __init__(self, vision_config: Fields | None = None, **fields: Any) -> None:
        self.vision_config = SiglipVisionConfig(**(vision_config or {}))
        defaults = {"version": 2.6, "query_num": 64, "image_size": 448, "drop_vision_last_layer": False}
        super().__init__(**(defaults | fields))


class SiglipNavitConfig(PreTrainedConfig):  # type: ignore[misc]
    """The vision tower of Ovis2.5."""

    model_type = "siglip2_navit"

    def __init__(self, **fields: Any) -> None:
        defaults = {
            "num_channels": 3,
            "num_patches": -1,
            "image_size": 512,
            "patch_size": 16,
            "temporal_patch_size": 1,
            "hidden_stride": 2,
            "window_size": 112,
            "fullatt_block_indexes": None,
            "hidden_act": "gelu_pytorch_tanh",
            "layer_norm_eps": 1e-6,
            "attention_dropout": 0.0,
            "use_rope": True,
            "preserve_original_pe": True,
        }
        super().__init__(**(defaults | fields))


class OvisConfig(PreTrainedConfig):  # type: ignore[misc]
    """Ovis2.5: the language model's configuration stands under `llm_config`, the tower's under `vit_config`."""

    model_type = "ovis2_5"

    def __init__(self, vit_config: Fields | None = None, llm_config: Fields | None = None, **fields: Any) -> None:
        self.vit_config = SiglipNavitConfig(**(vit_config or {}))
        self.text_config = AutoConfig.for_model(**({"model_type": "qwen3"} | (llm_config or {})))
        defaults = {"visual_vocab_size": 65536, "hidden_size": self.text_config.hidden_size}
        super().__init__(**(defaults | fields))


class Phi4VisionConfig(Phi3Config):  # type: ignore[misc]
    """Phi-4-Reasoning-Vision: Phi-3's fields, and SigLIP2's under `vision_config`."""

    model_type = "phi4-siglip"

    def __init__(self, vision_config: Fields | None = None, **fields: Any) -> None:
        self.vision_config = {"patch_size": 16} | (vision_config or {})
        defaults = {"mm_hidden_size": 1152, "min_num_patches": 256, "max_num_patches": 3600}
        super().__init__(**(defaults | fields))
