"""Gemma 4 with pixels as bytes."""

from typing import Any

import torch
from vllm.model_executor.models.gemma4_mm import Gemma4ForConditionalGeneration

from gigavqa.workers.architectures.pixel_table import INTERLEAVED, DeviceNormalization, of_transformers


class ByteGemma4(DeviceNormalization, Gemma4ForConditionalGeneration):  # type: ignore[misc]
    """vLLM's model, on bytes; the padding of its patches is 0 in both."""

    pixel_names = ("pixel_values", "pixel_values_videos")
    channel_axis = INTERLEAVED

    @staticmethod
    def normalized_bytes(config: Any) -> torch.Tensor:
        """As the image processor does it."""
        return of_transformers(config)
