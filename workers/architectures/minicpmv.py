"""MiniCPM-V and MiniCPM-o's sight on our image processor, with pixels as bytes; vLLM insists on checkpoints' code."""

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import torch
from vllm.model_executor.models.minicpmv import (
    MiniCPMV,
    MiniCPMVDummyInputsBuilder,
    MiniCPMVMultiModalProcessor,
    MiniCPMVProcessingInfo,
)
from vllm.multimodal import MULTIMODAL_REGISTRY

from gigavqa.workers.architectures.minicpmv_processor import CHANNEL_AXIS, MiniCPMVOwnProcessor
from gigavqa.workers.architectures.pixel_table import PixelTable, look_up_inputs
from gigavqa.workers.architectures.processing import normalized_bytes, own_settings

if not torch.backends.cuda.is_built():
    # vLLM 0.32 asks this before it resamples (models/minicpmv.py, line 228), and torch for a CPU raises.
    torch.cuda.is_current_stream_capturing = lambda: False


class _ProcessingInfo(MiniCPMVProcessingInfo):  # type: ignore[misc]
    def get_hf_processor(self, **kwargs: object) -> MiniCPMVOwnProcessor:
        processor: MiniCPMVOwnProcessor = self.ctx.get_hf_processor(MiniCPMVOwnProcessor, **kwargs)
        return processor


@MULTIMODAL_REGISTRY.register_processor(
    MiniCPMVMultiModalProcessor, info=_ProcessingInfo, dummy_inputs=MiniCPMVDummyInputsBuilder
)
class OwnMiniCPMV(MiniCPMV):  # type: ignore[misc]
    """vLLM's model, whose pictures our processor prepares; of MiniCPM-o 2.6 without its audio encoder and speech.

    `MiniCPMV` makes a model of the version that the configuration names, and its 2.6 leaves those weights out.
    """

    supports_mm_device_do_normalize: ClassVar[bool] = True

    def __new__(cls, *, vllm_config: Any, prefix: str = "") -> Any:
        """Make the model of the version that the configuration states, and have it take bytes."""
        model, config = super().__new__(cls, vllm_config=vllm_config, prefix=prefix), vllm_config.model_config
        values = normalized_bytes(own_settings(config.model, config.revision))
        model.pixel_table = PixelTable(values, config.dtype, CHANNEL_AXIS)
        model.embed_multimodal = partial(_embed_bytes, model, model.embed_multimodal)
        model.supports_encoder_cudagraph = False  # as of DeviceNormalization
        return model


def _embed_bytes(model: Any, embed: Callable[..., Any], **inputs: Any) -> Any:
    return embed(**inputs | look_up_inputs(model.pixel_table, inputs))
