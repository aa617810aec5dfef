"""Ovis2.5 with pixels as bytes."""

from typing import Any

import torch
from vllm.model_executor.models.ovis2_5 import (
    Ovis2_5,
    Ovis2_5DummyInputsBuilder,
    Ovis2_5MultiModalProcessor,
    Ovis2_5ProcessingInfo,
)
from vllm.multimodal import MULTIMODAL_REGISTRY
from vllm.transformers_utils.processors.ovis2_5 import Ovis2_5Processor

from gigavqa.workers.architectures.pixel_table import PLANAR, DeviceNormalization, of_transformers


class ByteOvisProcessor(Ovis2_5Processor):  # type: ignore[misc]
    """vLLM's processor, whose image processor is told whether to normalize; vLLM's own tells it nothing but sizes."""

    def preprocess_multidata(self, *, do_normalize: bool = True, do_rescale: Any = None, **inputs: Any) -> Any:
        """Make patches, their placeholders and their grid."""
        if not do_normalize:
            self.image_processor.do_normalize = self.image_processor.do_rescale = False
        return super().preprocess_multidata(**inputs)


class _ProcessingInfo(Ovis2_5ProcessingInfo):  # type: ignore[misc]
    def get_hf_processor(self, **_: object) -> ByteOvisProcessor:
        tower = self.get_hf_config().vit_config
        names = ("patch_size", "hidden_stride", "temporal_patch_size")
        sizes = {name: getattr(tower, name) for name in names}
        processor: ByteOvisProcessor = self.ctx.get_hf_processor(ByteOvisProcessor, **sizes)
        return processor


@MULTIMODAL_REGISTRY.register_processor(
    Ovis2_5MultiModalProcessor, info=_ProcessingInfo, dummy_inputs=Ovis2_5DummyInputsBuilder
)
class ByteOvis(DeviceNormalization, Ovis2_5):  # type: ignore[misc]
    """vLLM's model, on bytes: rows are patches, and hold red, then green, then blue."""

    pixel_names = ("pixel_values", "video_pixel_values")
    channel_axis = PLANAR

    @staticmethod
    def normalized_bytes(config: Any) -> torch.Tensor:
        """As the image processor does it."""
        return of_transformers(config)
