"""MiniCPM-V on our image processor; vLLM 0.32 insists on that of the checkpoint, which is code."""

from vllm.model_executor.models.minicpmv import (
    MiniCPMV,
    MiniCPMVDummyInputsBuilder,
    MiniCPMVMultiModalProcessor,
    MiniCPMVProcessingInfo,
)
from vllm.multimodal import MULTIMODAL_REGISTRY

from gigavqa.workers.architectures.minicpmv_processor import MiniCPMVOwnProcessor


class _ProcessingInfo(MiniCPMVProcessingInfo):  # type: ignore[misc]
    def get_hf_processor(self, **kwargs: object) -> MiniCPMVOwnProcessor:
        processor: MiniCPMVOwnProcessor = self.ctx.get_hf_processor(MiniCPMVOwnProcessor, **kwargs)
        return processor


@MULTIMODAL_REGISTRY.register_processor(
    MiniCPMVMultiModalProcessor, info=_ProcessingInfo, dummy_inputs=MiniCPMVDummyInputsBuilder
)
class OwnMiniCPMV(MiniCPMV):  # type: ignore[misc]
    """vLLM's model, whose pictures our processor prepares."""
