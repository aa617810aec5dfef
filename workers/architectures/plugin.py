"""Teaches vLLM the families whose published configuration or processor is code of the checkpoint.

That code never runs: what is registered here replaces it, written from the published behaviour, for small and for
full-size weights. A vLLM plugin (entry point group `vllm.general_plugins`): it runs in each of the engine's processes.
"""

import functools
from importlib import import_module

from gigavqa.workers.engines.vllm.startup_progress import report_vllm_phases

_PACKAGE = "gigavqa.workers.architectures"
_CONFIGURATIONS = {
    "internvl_chat": "InternVLChatConfig",
    "minicpmv": "MiniCPMVConfig",
    "phi4-siglip": "Phi4VisionConfig",
}
_MODELS = {
    "DeepseekVLV2ForCausalLM": "deepseek_vl2:SizedDeepseekVL2",
    "MiniCPMV": "minicpmv:OwnMiniCPMV",
}


@functools.cache
def register() -> None:
    """Register configurations, processors and models; models are imported only where they are served.

    Also makes the engine tell how far its start is.
    """
    from transformers import AutoConfig, AutoProcessor, AutoTokenizer, PreTrainedTokenizerFast
    from vllm import ModelRegistry
    from vllm.transformers_utils.configs.kimi_vl import KimiVLConfig

    report_vllm_phases()
    for model_type, name in _CONFIGURATIONS.items():
        AutoConfig.register(model_type, getattr(import_module(f"{_PACKAGE}.configurations"), name), exist_ok=True)
    AutoConfig.register("kimi_vl", KimiVLConfig, exist_ok=True)
    for module, config in {"phi4": "phi4-siglip", "kimi_vl": "kimi_vl", "minicpmv_processor": "minicpmv"}.items():
        processor = import_module(f"{_PACKAGE}.{module}").PROCESSOR
        AutoProcessor.register(type(AutoConfig.for_model(config)), processor, exist_ok=True)
    # MiniCPM's own class adds attributes to what tokenizer.json says, which our processor does without.
    minicpm = type(AutoConfig.for_model("minicpmv"))
    AutoTokenizer.register(minicpm, tokenizer_class=PreTrainedTokenizerFast, exist_ok=True)
    for architecture, target in _MODELS.items():
        ModelRegistry.register_model(architecture, f"{_PACKAGE}.{target}")
