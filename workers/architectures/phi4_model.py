"""Phi-4-Reasoning-Vision with pixels as bytes."""

from typing import Any

import torch
from vllm.model_executor.models.phi4siglip import Phi4ForCausalLMV

from gigavqa.workers.architectures.pixel_table import INTERLEAVED, DeviceNormalization
from gigavqa.workers.architectures.processing import normalized_bytes, own_settings


class BytePhi4(DeviceNormalization, Phi4ForCausalLMV):  # type: ignore[misc]
    """vLLM's model, on the bytes that our image processor makes."""

    channel_axis = INTERLEAVED

    @staticmethod
    def normalized_bytes(config: Any) -> torch.Tensor:
        """As our image processor does it."""
        return normalized_bytes(own_settings(config.model, config.revision))
