"""DeepSeek-VL2 with pixels as bytes, and a vision tower of the size that the configuration states.

vLLM 0.32 makes the tower of the published checkpoints whatever the configuration says.
"""

from typing import Any

import numpy as np
import torch
from PIL import Image
from vllm.model_executor.models.deepseek_vl2 import (
    DeepseekVL2DummyInputsBuilder,
    DeepseekVL2MultiModalProcessor,
    DeepseekVL2ProcessingInfo,
    DeepseekVLV2ForCausalLM,
)
from vllm.multimodal import MULTIMODAL_REGISTRY
from vllm.transformers_utils.processor import get_processor_config
from vllm.transformers_utils.processors.deepseek_vl2 import DeepseekVLV2Processor, ImageTransform

from gigavqa.workers.architectures.pixel_table import DeviceNormalization, every_byte

_PUBLISHED_WIDTH = 1152
_GREY = (0.5, 0.5, 0.5)


class ByteTransform:
    """Stands where vLLM's processor normalizes a tile, and leaves its bytes; `mean` is the color of its padding."""

    def __init__(self, mean: tuple[float, float, float]) -> None:
        self.mean = mean

    def __call__(self, tile: Image.Image) -> torch.Tensor:
        """Return 3 x H x W."""
        return torch.from_numpy(np.array(tile)).permute(2, 0, 1)


class _ProcessingInfo(DeepseekVL2ProcessingInfo):  # type: ignore[misc]
    def get_hf_processor(self, **kwargs: object) -> DeepseekVLV2Processor:
        processor = super().get_hf_processor(**kwargs)
        if self.ctx.get_merged_mm_kwargs(kwargs).get("do_normalize") is False:
            processor.image_transform = ByteTransform(processor.image_transform.mean)
        return processor


@MULTIMODAL_REGISTRY.register_processor(
    DeepseekVL2MultiModalProcessor, info=_ProcessingInfo, dummy_inputs=DeepseekVL2DummyInputsBuilder
)
class SizedDeepseekVL2(DeviceNormalization, DeepseekVLV2ForCausalLM):  # type: ignore[misc]
    """vLLM's model, on bytes; a tower that is narrower than the published one is made as configured."""

    @staticmethod
    def normalized_bytes(config: Any) -> torch.Tensor:
        """As vLLM's processor does it."""
        settings = get_processor_config(config.model, revision=config.revision)
        mean, std = (tuple(settings.get(f"image_{name}") or _GREY) for name in ("mean", "std"))
        transform = ImageTransform(mean=mean, std=std, normalize=settings.get("normalize", True))
        values: torch.Tensor = transform(Image.fromarray(every_byte().permute(1, 2, 0).contiguous().numpy()))
        return values[:, 0]

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
