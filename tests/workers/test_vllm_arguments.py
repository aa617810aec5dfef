"""What vLLM is told on which device, and that it then depends on no feature of the CPU."""

import importlib.util
from pathlib import Path
from types import SimpleNamespace

import pytest

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.catalogue.load import load_catalogue, read_entry
from gigavqa.workers.engines.vllm.arguments import cpu_environment, engine_arguments, engine_environment

CATALOGUE = load_catalogue()
SMALL = [read_entry(path) for path in sorted((Path(__file__).parent / "families").glob("*.toml"))]
LATENT = {"deepseek-vl2", "kimi-vl"}


@pytest.mark.parametrize("entry", SMALL, ids=lambda entry: entry.id)
def test_the_attention_of_a_cpu_is_chosen(entry: CatalogueEntry) -> None:
    """Latent attention gets the backend that runs on every CPU; on a GPU vLLM chooses by itself."""
    wanted = "CPU_MLA" if entry.family in LATENT else "CPU_ATTN"
    assert engine_arguments(entry, "weights", is_cpu=True)["attention_backend"] == wanted
    assert "attention_backend" not in engine_arguments(entry, "weights", is_cpu=False)


@pytest.mark.parametrize("is_cpu", [True, False])
@pytest.mark.parametrize("entry", SMALL, ids=lambda entry: entry.id)
def test_sliding_windows_keep_all_that_they_saw(entry: CatalogueEntry, *, is_cpu: bool) -> None:
    """Others keep what vLLM keeps by itself: a state of linear attention is too large for every place."""
    kept = engine_arguments(entry, "weights", is_cpu=is_cpu).get("prefix_cache_retention_interval", 0)
    assert kept == (None if entry.family == "gemma-4" else 0)


@pytest.mark.parametrize("is_cpu", [True, False])
@pytest.mark.parametrize("entry", SMALL, ids=lambda entry: entry.id)
def test_prompts_are_matched_inside_blocks_for_linear_attention_alone(entry: CatalogueEntry, *, is_cpu: bool) -> None:
    """Its blocks are as large as a state, and leave room for states that nobody uses now."""
    told = engine_arguments(entry, "weights", is_cpu=is_cpu)
    is_linear = entry.family == "qwen3.5"
    assert (told.get("prefix_match_unit"), told.get("watermark")) == ((16, 0.3) if is_linear else (None, None))


@pytest.mark.parametrize("entry", SMALL, ids=lambda entry: entry.id)
def test_prompts_are_prefilled_in_parts_on_a_cpu_for_linear_attention_alone(entry: CatalogueEntry) -> None:
    """It has a prefix cache only then, and a worker that survives it; on a GPU all may be prefilled in parts."""
    on_cpu, on_gpu = (engine_arguments(entry, "weights", is_cpu=is_cpu) for is_cpu in (True, False))
    assert on_cpu["enable_chunked_prefill"] == ("worker_cls" in on_cpu) == (entry.family == "qwen3.5")
    assert on_cpu["enable_prefix_caching"] == (entry.family not in LATENT)
    assert on_gpu["enable_chunked_prefill"] and on_gpu["enable_prefix_caching"] and "worker_cls" not in on_gpu


@pytest.mark.parametrize("entry", SMALL, ids=lambda entry: entry.id)
def test_small_models_reckon_in_float32(entry: CatalogueEntry) -> None:
    """vLLM's kernels for AMX take bfloat16: no other choice depends on it. Its linear attention knows no other type."""
    dtype = engine_arguments(entry, "weights", is_cpu=True)["dtype"]
    assert dtype == ("bfloat16" if entry.family == "qwen3.5" else "float32")


def test_several_gpus_read_rasters_from_shared_memory() -> None:
    """One GPU gets them in its message, as do models of texts alone; an entry's own choice wins."""
    entry = CATALOGUE["glm-4.5v"]
    assert entry.tensor_parallel_size > 1
    assert engine_arguments(entry, "weights", is_cpu=False)["mm_processor_cache_type"] == "shm"
    assert "mm_processor_cache_type" not in engine_arguments(entry, "weights", is_cpu=True)
    for name in ("qwen3-vl-8b", "qwen3-32b"):
        assert "mm_processor_cache_type" not in engine_arguments(CATALOGUE[name], "weights", is_cpu=False)
    for change in ({"nnodes": 2}, {"distributed_executor_backend": "ray"}):
        spread = entry.model_copy(update={"engine": {**entry.engine, **change}})
        assert "mm_processor_cache_type" not in engine_arguments(spread, "weights", is_cpu=False)
    own = entry.model_copy(update={"engine": {**entry.engine, "mm_processor_cache_type": "lru"}})
    assert engine_arguments(own, "weights", is_cpu=False)["mm_processor_cache_type"] == "lru"


@pytest.mark.parametrize("model_id", ["deepseek-vl2", "kimi-vl-a3b-thinking"])
def test_an_operators_own_choice_wins(model_id: str) -> None:
    """Whoever knows that a CPU has AMX can ask for its backend in the entry."""
    entry = CATALOGUE[model_id]
    own = entry.model_copy(update={"engine": entry.engine | {"attention_backend": "AMX_MLA"}})
    assert engine_arguments(own, "weights", is_cpu=True)["attention_backend"] == "AMX_MLA"


def test_engines_are_spawned_on_every_device() -> None:
    """A fork would take the worker's signal handlers and half of its threads along."""
    assert engine_environment("weights")["VLLM_WORKER_MULTIPROC_METHOD"] == "spawn"


@pytest.mark.parametrize("entry", SMALL, ids=lambda entry: entry.id)
def test_an_engine_that_may_sleep_leaves_nothing_on_the_device(entry: CatalogueEntry) -> None:
    """CUDA graphs go with the weights, unless the operator says otherwise; others are not told of sleep."""
    sleeper = engine_arguments(entry, "weights", is_cpu=False, can_sleep=True)
    assert (sleeper["enable_sleep_mode"], sleeper["sleep_mode_offload_cudagraph"]) == (True, True)
    other = engine_arguments(entry, "weights", is_cpu=False)
    assert not other["enable_sleep_mode"] and "sleep_mode_offload_cudagraph" not in other
    own = entry.model_copy(update={"engine": {**entry.engine, "sleep_mode_offload_cudagraph": False}})
    assert not engine_arguments(own, "weights", is_cpu=False, can_sleep=True)["sleep_mode_offload_cudagraph"]


@pytest.mark.parametrize("entry", SMALL, ids=lambda entry: entry.id)
def test_an_entrys_word_to_the_processor_stands_beside_the_budgets(entry: CatalogueEntry) -> None:
    """Where pixels are worked on is the entry's to say; into what, the budget's."""
    own = entry.model_copy(update={"engine": {**entry.engine, "mm_processor_kwargs": {"device": "cuda"}}})
    told = engine_arguments(own, "weights", is_cpu=False)["mm_processor_kwargs"]
    assert told == {"device": "cuda", **entry.visual_budget.processor_kwargs()}


@pytest.mark.engine
@pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vllm is not installed")
@pytest.mark.parametrize("has_amx", [False, True])
@pytest.mark.parametrize("entry", SMALL, ids=lambda entry: entry.id)
def test_vllm_takes_the_choice_with_amx_and_without(
    entry: CatalogueEntry, monkeypatch: pytest.MonkeyPatch, *, has_amx: bool
) -> None:
    """Its CPU platform, told that the CPU has AMX, ends up with the same backend."""
    import torch
    from vllm.platforms.cpu import CpuPlatform
    from vllm.v1.attention.backends.registry import AttentionBackendEnum

    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: has_amx)
    chosen = AttentionBackendEnum[engine_arguments(entry, "weights", is_cpu=True)["attention_backend"]]
    asked = SimpleNamespace(use_sparse=False, use_mla=entry.family in LATENT)
    assert CpuPlatform.get_attn_backend_cls(chosen, asked) == chosen.get_path()


@pytest.mark.parametrize(("cores", "threads"), [(1, "1"), (2, "1"), (8, "7")])
def test_one_core_stays_free_for_rendering(monkeypatch: pytest.MonkeyPatch, cores: int, threads: str) -> None:
    """And a machine of one core still has a thread for the engine."""
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(cores)))
    assert cpu_environment(small=False)["OMP_NUM_THREADS"] == threads
    assert cpu_environment(small=True)["OMP_NUM_THREADS"] == "1"
