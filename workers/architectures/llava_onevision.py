"""LLaVA-OneVision with pixels as bytes."""

from typing import Any

import torch
from vllm.model_executor.models.llava_onevision import LlavaOnevisionForConditionalGeneration

from gigavqa.workers.architectures.pixel_table import DeviceNormalization, of_transformers


class ByteLlavaOnevision(DeviceNormalization, LlavaOnevisionForConditionalGeneration):  # type: ignore[misc]
    """vLLM's model, on bytes; the tiles that pad several pictures to one number are seen by nobody."""

    pixel_names = ("pixel_values", "pixel_values_videos")
    channel_axis = -3  # of tiles, or of tiles of several pictures

    @staticmethod
    def normalized_bytes(config: Any) -> torch.Tensor:
        """As the image processor does it."""
        return of_transformers(config)
