"""Idefics3 with pixels as bytes, and without the mask that says of each pixel that it is one."""

from collections.abc import Mapping
from typing import Any

import torch
from transformers import BatchFeature
from vllm.model_executor.models.idefics3 import (
    Idefics3DummyInputsBuilder,
    Idefics3ForConditionalGeneration,
    Idefics3MultiModalProcessor,
    Idefics3ProcessingInfo,
)
from vllm.multimodal import MULTIMODAL_REGISTRY

from gigavqa.workers.architectures.pixel_table import DeviceNormalization, of_transformers


class _ProcessingInfo(Idefics3ProcessingInfo):  # type: ignore[misc]
    def get_hf_processor(self, **kwargs: object) -> Any:
        processor = super().get_hf_processor(**kwargs)
        # Tiles are squares of one size: padding would copy them to float32, and tell of each pixel in eight bytes.
        processor.image_processor.do_pad = self.ctx.get_merged_mm_kwargs(kwargs).get("do_normalize") is not False
        return processor


class _Processor(Idefics3MultiModalProcessor):  # type: ignore[misc]
    def _postprocess_hf_mm_data(
        self,
        mm_data: Mapping[str, object],
        hf_processor_mm_kwargs: Mapping[str, object],
        processed_data: BatchFeature,
    ) -> BatchFeature:
        is_masked = not mm_data or "pixel_attention_mask" in processed_data
        if not is_masked:
            processed_data["pixel_attention_mask"] = torch.empty(0)  # which vLLM's own step looks for
        made = super()._postprocess_hf_mm_data(mm_data, hf_processor_mm_kwargs, processed_data)
        if not is_masked:
            del made["pixel_attention_mask"]
        return made


@MULTIMODAL_REGISTRY.register_processor(_Processor, info=_ProcessingInfo, dummy_inputs=Idefics3DummyInputsBuilder)
class ByteIdefics3(DeviceNormalization, Idefics3ForConditionalGeneration):  # type: ignore[misc]
    """vLLM's model, on bytes."""

    @staticmethod
    def normalized_bytes(config: Any) -> torch.Tensor:
        """As the image processor does it."""
        return of_transformers(config)

    def embed_multimodal(self, **inputs: Any) -> Any:
        """Encode pictures; without a mask every pixel is one."""
        pixels = inputs.get("pixel_values")
        if pixels is not None and "pixel_attention_mask" not in inputs:
            tiles, _, height, width = pixels.shape
            inputs["pixel_attention_mask"] = torch.ones(tiles, height, width, dtype=torch.bool, device=pixels.device)
        return super().embed_multimodal(**inputs)
