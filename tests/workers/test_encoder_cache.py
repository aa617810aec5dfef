"""What the vision encoder made of a picture's views is kept until all that is asked about the picture has seen it."""

import importlib.util
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.requests import Sampling
from gigavqa.workers.engines.encoder_cache import bytes_per_token, enlarge_encoder_cache
from gigavqa.workers.engines.engine import Message
from gigavqa.workers.engines.vllm.engine import VllmEngine
from tests.checkpoints.build import ensure_checkpoint
from tests.workers.examples import ENTRY
from tests.workers.rasters import raster

CATALOGUE = load_catalogue()
H100 = 80 * 10**9


def configured(hidden: int, *, levels: int = 0, batched_tokens: int = 32768) -> Any:
    """Of vLLM's configuration what the size depends on; `levels` deeper layers of the encoder reach the model."""
    vision = SimpleNamespace(deepstack_visual_indexes=list(range(levels))) if levels else SimpleNamespace()
    return SimpleNamespace(
        model_config=SimpleNamespace(
            hf_config=SimpleNamespace(vision_config=vision),
            get_inputs_embeds_size=lambda: hidden,
            dtype=SimpleNamespace(itemsize=2),
        ),
        scheduler_config=SimpleNamespace(encoder_cache_size=batched_tokens, max_num_batched_tokens=batched_tokens),
        cache_config=SimpleNamespace(gpu_memory_utilization=0.92),
    )


@pytest.mark.parametrize(
    ("model", "config", "token_bytes", "tokens"),
    [
        ("qwen3-vl-8b", configured(4096, levels=3), 32768, 131072),
        ("qwen3.5-27b", configured(5120), 10240, 131072),
    ],
)
def test_there_is_room_for_the_views_of_a_picture(model: str, config: Any, token_bytes: int, tokens: int) -> None:
    """As many as a prompt of 131072 tokens can show; what vLLM does not profile of them is left free on the device."""
    enlarge_encoder_cache(config, CATALOGUE[model], H100)
    assert bytes_per_token(config.model_config) == token_bytes
    assert config.scheduler_config.encoder_cache_size == tokens
    assert config.cache_config.gpu_memory_utilization == pytest.approx(0.92 - (tokens - 32768) * token_bytes / H100)


def test_small_views_take_no_more_room_than_a_slides_regions_need() -> None:
    """Sixteen of the largest size, where the context would hold many more."""
    config = configured(4096, levels=3, batched_tokens=2048)
    enlarge_encoder_cache(config, ENTRY.model_copy(update={"max_model_len": 131072}), H100)
    assert config.scheduler_config.encoder_cache_size == 16 * ENTRY.visual_budget.max_visual_tokens


def test_a_small_device_keeps_its_memory_for_the_model() -> None:
    """No more than six hundredths of it goes to the views."""
    config = configured(4096, levels=3, batched_tokens=17408)
    enlarge_encoder_cache(config, CATALOGUE["qwen3-vl-8b"], 24 * 10**9)
    assert config.scheduler_config.encoder_cache_size == int(0.06 * 24 * 10**9) // 32768
    assert config.cache_config.gpu_memory_utilization > 0.92 - 0.06


def test_it_never_gets_smaller_than_vllm_makes_it() -> None:
    """Else pictures that one step encodes would not fit; then nothing is taken from the KV cache."""
    config = configured(4096, levels=3, batched_tokens=131072)
    enlarge_encoder_cache(config, CATALOGUE["qwen3-vl-8b"], H100)
    assert config.scheduler_config.encoder_cache_size == 131072
    assert config.cache_config.gpu_memory_utilization == 0.92


@pytest.mark.engine
@pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vllm is not installed")
async def test_crops_are_encoded_once_for_both_their_prompts(tmp_path: Path) -> None:
    """Four crops alone, the full image, the next picture; then each crop behind the full image: six encoder runs.

    Another prefix makes the crops' tokens be prefilled again, so this is the encoder's cache and not the prefix cache.
    """
    # As on a GPU: a step has room for the largest picture and its text, five of them in all.
    small = {"enable_chunked_prefill": True, "max_num_batched_tokens": 0}
    entry = ENTRY.model_copy(update={"engine": ENTRY.engine | small})
    engine = VllmEngine(entry, str(ensure_checkpoint(entry.weights, tmp_path)))
    await engine.start()
    try:
        crops, full, following = [raster(f"crop-{n}") for n in range(4)], raster("full"), raster("following")
        sampling = Sampling(temperature=0.0, max_tokens=4)
        alone = [(crop,) for crop in crops]
        for number, shown in enumerate((*alone, (full,), (following,), *((full, crop) for crop in crops))):
            answer = await engine.generate([Message("user", (*shown, "How many?"))], sampling, str(number))
        stats = await engine.stats()
    finally:
        await engine.stop()
    assert 256 <= answer.usage.cached_tokens < 512 < answer.usage.prompt_tokens
    assert stats.processed_rasters == stats.encoder_runs == 6
