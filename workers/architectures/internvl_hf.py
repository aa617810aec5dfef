"""InternVL in transformers' layout (the suffix -HF) with pixels as bytes."""

from typing import Any

import torch
from vllm.model_executor.models.interns1 import InternS1ForConditionalGeneration

from gigavqa.workers.architectures.pixel_table import DeviceNormalization, of_transformers


class ByteInternVL(DeviceNormalization, InternS1ForConditionalGeneration):  # type: ignore[misc]
    """vLLM's model, on bytes."""

    pixel_names = ("pixel_values", "pixel_values_videos")

    @staticmethod
    def normalized_bytes(config: Any) -> torch.Tensor:
        """As the image processor does it."""
        return of_transformers(config)
