"""Size vLLM's cache of its vision encoder's outputs: what a picture's views need, not what one step computes.

vLLM 0.32 bounds both by `max_num_batched_tokens` and has no argument for the former. Its configuration is read only
when the engine is made (config/scheduler.py, multimodal/encoder_budget.py, v1/core/encoder_cache_manager.py).
"""

from typing import Any

from gigavqa.catalogue.entry import CatalogueEntry

_MAX_VIEWS = 16  # decision 0008
"""Views of the largest size that are kept: a slide's full image and up to fifteen of its regions."""
_MAX_MEMORY_SHARE = 0.06  # decision 0008
"""Of a device's memory, at most."""


def enlarge_encoder_cache(config: Any, entry: CatalogueEntry, device_bytes: int) -> None:
    """Let vLLM's `config` keep the views of a picture, in bytes that it otherwise gives to the KV cache.

    Only what one step encodes is part of vLLM's profile of its memory, so the rest is taken from what it may use.
    """
    scheduler, cache = config.scheduler_config, config.cache_config
    token_bytes = bytes_per_token(config.model_config)
    kept = max(scheduler.encoder_cache_size, encoder_cache_tokens(entry, token_bytes, device_bytes))
    cache.gpu_memory_utilization -= (kept - scheduler.encoder_cache_size) * token_bytes / device_bytes
    scheduler.encoder_cache_size = kept


def encoder_cache_tokens(entry: CatalogueEntry, token_bytes: int, device_bytes: int) -> int:
    """Visual tokens worth keeping: what one prompt can show, so that the next one shows it in another order."""
    views = min(_MAX_VIEWS * entry.visual_budget.max_visual_tokens, entry.max_model_len)
    return min(views, int(_MAX_MEMORY_SHARE * device_bytes) // token_bytes)


def bytes_per_token(model: Any) -> int:
    """Bytes of one visual token as vLLM's model configuration tells them: its embedding, and those of deeper levels."""
    vision = getattr(model.hf_config, "vision_config", None)
    levels = 1 + len(getattr(vision, "deepstack_visual_indexes", None) or ())
    return int(model.get_inputs_embeds_size() * levels * model.dtype.itemsize)
