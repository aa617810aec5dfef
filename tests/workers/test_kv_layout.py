"""The KV cache as vLLM lays it out: compared with vLLM's own grouping of the same layers."""

import importlib.util
from types import SimpleNamespace
from typing import Any

import pytest

from gigavqa.catalogue.errors import CheckpointInvalidError
from gigavqa.catalogue.shape_configs import read_shape
from gigavqa.catalogue.shapes import LanguageShape
from gigavqa.workers.engines.vllm.compat.torch_companions import repair_torch_companions
from gigavqa.workers.engines.vllm.kv_layout import kv_layout

BASE = {
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_attention_heads": 16,
    "num_key_value_heads": 4,
    "head_dim": 128,
    "vocab_size": 1000,
}
CONTEXT, BATCHED = 131072, 8192


def language(layers: int, **more: Any) -> LanguageShape:
    """A language model of so many layers."""
    return read_shape(BASE | {"num_hidden_layers": layers} | more, "config.json").language


def kinds(full: int, near: int) -> dict[str, Any]:
    """Layers of which so many see everything, and so many a window of 1,024 tokens."""
    return {"layer_types": ["full_attention"] * full + ["sliding_attention"] * near, "sliding_window": 1024}


MODELS = {
    "all see everything": language(24),
    "Gemma 3 27B, 10 and 52": language(62, **kinds(10, 52)),
    "Gemma 3 4B, 5 and 29": language(34, **kinds(5, 29)),
    "Gemma 4, wider heads": language(30, **kinds(5, 25), num_global_key_value_heads=1, global_head_dim=256),
    "pages that do not divide": language(30, **kinds(5, 25), num_global_key_value_heads=4, global_head_dim=192),
    "nearly as many": language(25, **kinds(13, 12)),
    "more that see everything": language(25, **kinds(20, 5)),
    "all see a window": language(24, sliding_window=1024),
}


def vllm_bytes(model: LanguageShape, number: int) -> int:
    """Bytes of one request of the whole context by vLLM's own specs and groups."""
    repair_torch_companions()
    import torch
    from vllm.v1.core import kv_cache_utils as utils
    from vllm.v1.kv_cache_interface import FullAttentionSpec, SlidingWindowSpec
    from vllm.v1.kv_cache_layout import KVCacheLayout

    specs: dict[str, Any] = {}
    for part in model.attention:
        fields = {"block_size": 16, "head_size": part.head, "dtype": torch.bfloat16}
        fields["num_kv_heads"] = max(1, part.kv_heads // number)
        for layer in range(part.layers):
            specs[f"{part.window}.{layer}"] = (
                SlidingWindowSpec(sliding_window=part.window, **fields) if part.window else FullAttentionSpec(**fields)
            )
    config: Any = SimpleNamespace(
        model_config=SimpleNamespace(max_model_len=CONTEXT),
        max_in_flight_tokens=2 * BATCHED,
        parallel_config=SimpleNamespace(decode_context_parallel_size=1, prefill_context_parallel_size=1),
        scheduler_config=SimpleNamespace(disable_hybrid_kv_cache_manager=False),
        cache_config=SimpleNamespace(get_resolved_kv_cache_layout=lambda: KVCacheLayout.LBNHC),
        attention_config=SimpleNamespace(hisparse_config=None),
        speculative_config=None,
    )
    groups = utils.get_kv_cache_groups(config, specs)
    return int(utils._max_memory_usage_bytes_from_groups(config, groups))


@pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vllm is not installed")
@pytest.mark.engine
@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("name", MODELS)
def test_a_request_takes_what_vllm_reserves_for_it(name: str, number: int) -> None:
    """To the byte: windows, padded groups of layers, padded pages, and blocks that begin inside of a window."""
    assert kv_layout(MODELS[name], number, 2).request_bytes(CONTEXT, BATCHED) == vllm_bytes(MODELS[name], number)


def test_layers_are_filled_up_to_groups_of_one_size() -> None:
    """52 and 10 layers are seven groups of ten: 8 of 70 are nobody's."""
    layout, token = kv_layout(MODELS["Gemma 3 27B, 10 and 52"], 1, 2), 2 * 4 * 128 * 2
    assert (layout.full_token, layout.window_token) == (10 * token, 60 * token)


@pytest.mark.parametrize(
    ("config", "windows"),
    [
        ({"sliding_window": 4096, "use_sliding_window": False}, {None}),
        ({"sliding_window": 4096, "max_window_layers": 28}, {None}),
        ({"sliding_window": 4096, "use_sliding_window": True, "max_window_layers": 4}, {None}),
        ({"sliding_window": 4096, "use_sliding_window": True, "max_window_layers": 0}, {4096}),
        ({"sliding_window": None}, {None}),
        ({"sliding_window": 4096}, {4096}),
        ({"sliding_window": 4096, "sliding_window_pattern": 2}, {None, 4096}),
    ],
    ids=str,
)
def test_layers_see_a_window_where_vllm_gives_them_one(config: dict[str, Any], windows: set[int | None]) -> None:
    """A Qwen says twice whether it slides; a Mistral slides in every layer."""
    assert {part.window for part in language(4, **config).attention} == windows


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({"sliding_window": 8, "use_sliding_window": True, "max_window_layers": 2}, "max_window_layers is 2 of 4"),
        ({"layer_types": ["chunked_attention"] * 4}, "layer_types names 'chunked_attention'"),
        ({"num_kv_shared_layers": 2}, "num_kv_shared_layers is 2"),
        ({"hidden_size_per_layer_input": 256}, "hidden_size_per_layer_input is 256"),
        ({"model_type": "gemma4"}, "hidden_size_per_layer_input is 256"),
        ({"attention_chunk_size": 8192}, "attention_chunk_size is 8192"),
    ],
    ids=str,
)
def test_a_cache_that_is_not_counted_is_refused(config: dict[str, Any], field: str) -> None:
    """Rather than counted as another one."""
    with pytest.raises(CheckpointInvalidError, match=field):
        language(4, **config)
