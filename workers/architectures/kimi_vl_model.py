"""Kimi-VL with pixels as bytes."""

from typing import Any

import torch
from vllm.model_executor.models.kimi_vl import KimiVLForConditionalGeneration

from gigavqa.workers.architectures.kimi_vl import CHANNEL_AXIS
from gigavqa.workers.architectures.pixel_table import DeviceNormalization
from gigavqa.workers.architectures.processing import normalized_bytes, own_settings


class ByteKimiVL(DeviceNormalization, KimiVLForConditionalGeneration):  # type: ignore[misc]
    """vLLM's model, on the bytes that our image processor makes."""

    channel_axis = CHANNEL_AXIS

    @staticmethod
    def normalized_bytes(config: Any) -> torch.Tensor:
        """As our image processor does it."""
        return normalized_bytes(own_settings(config.model, config.revision))
