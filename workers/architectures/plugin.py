"""Teaches vLLM the families whose published configuration or processor is code of the checkpoint.

That code never runs: what is registered here replaces it, written from the published behaviour, for small and for
full-size weights. Families that vLLM would normalize on the host take their pixels as bytes (`pixel_table`). A vLLM
plugin (entry point group `vllm.general_plugins`): it runs in each of the engine's processes.
"""

import functools
from importlib import import_module

from gigavqa.workers.engines.vllm.startup_progress import report_vllm_phases

_PACKAGE = "gigavqa.workers.architectures"
_CONFIGURATIONS = {
    "internlm2": "InternLM2Config",
    "internvl_chat": "InternVLChatConfig",
    "minicpmo": "MiniCPMOConfig",
    "minicpmv": "MiniCPMVConfig",
    "ovis2_5": "OvisConfig",
    "phi4-siglip": "Phi4VisionConfig",
}
_PROCESSORS = {
    "kimi_vl": "kimi_vl",
    "minicpmo": "minicpmv_processor",
    "minicpmv": "minicpmv_processor",
    "phi4-siglip": "phi4",
}
_MODELS = {
    "DeepseekVLV2ForCausalLM": "deepseek_vl2:SizedDeepseekVL2",
    "Gemma4ForConditionalGeneration": "gemma4:ByteGemma4",
    "Idefics3ForConditionalGeneration": "idefics3:ByteIdefics3",
    "InternVLChatModel": "internvl:ByteInternVLChat",
    "InternVLForConditionalGeneration": "internvl_hf:ByteInternVL",
    "KimiVLForConditionalGeneration": "kimi_vl_model:ByteKimiVL",
    "LlavaOnevisionForConditionalGeneration": "llava_onevision:ByteLlavaOnevision",
    "MiniCPMO": "minicpmv:OwnMiniCPMV",
    "MiniCPMV": "minicpmv:OwnMiniCPMV",
    "Ovis2_5": "ovis:ByteOvis",
    "Phi4ForCausalLMV": "phi4_model:BytePhi4",
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
    for model_type, module in _PROCESSORS.items():
        processor = import_module(f"{_PACKAGE}.{module}").PROCESSOR
        AutoProcessor.register(type(AutoConfig.for_model(model_type)), processor, exist_ok=True)
    # MiniCPM's own classes add attributes to what tokenizer.json says, which our processor does without.
    for model_type in ("minicpmo", "minicpmv"):
        config = type(AutoConfig.for_model(model_type))
        AutoTokenizer.register(config, tokenizer_class=PreTrainedTokenizerFast, exist_ok=True)
    for architecture, target in _MODELS.items():
        ModelRegistry.register_model(architecture, f"{_PACKAGE}.{target}")
