"""DeepSeek-VL2 with a vision tower of the size that the configuration states.

vLLM 0.32 makes the tower of the published checkpoints whatever the configuration says.
"""

from typing import Any

import torch
from vllm.model_executor.models.deepseek_vl2 import (
    DeepseekVL2DummyInputsBuilder,
    DeepseekVL2MultiModalProcessor,
    DeepseekVL2ProcessingInfo,
    DeepseekVLV2ForCausalLM,
)
from vllm.multimodal import MULTIMODAL_REGISTRY

_PUBLISHED_WIDTH = 1152


@MULTIMODAL_REGISTRY.register_processor(
    DeepseekVL2MultiModalProcessor, info=DeepseekVL2ProcessingInfo, dummy_inputs=DeepseekVL2DummyInputsBuilder
)
class SizedDeepseekVL2(DeepseekVLV2ForCausalLM):  # type: ignore[misc]
    """vLLM's model; a tower that is narrower than the published one is made as configured."""

    def _init_vision_module(self, vision_config: Any, quant_config: Any, prefix: str = "") -> torch.nn.Module:
        if vision_config.width >= _PUBLISHED_WIDTH or vision_config.layers >= 24:
            return super()._init_vision_module(vision_config, quant_config, prefix)
        import timm

        return timm.create_model(
            vision_config.model_name,
            pretrained=False,
            num_classes=0,
            dynamic_img_size=True,
            dynamic_img_pad=True,
            embed_dim=vision_config.width,
            depth=vision_config.layers,
            num_heads=vision_config.heads,
            mlp_ratio=vision_config.mlp_ratio,
        ).to(dtype=torch.get_default_dtype())
