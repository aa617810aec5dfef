"""What vLLM is told on which device, so that it depends on no feature of the CPU, and what a command line may add."""

import importlib.util
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from catalogue.entry import CatalogueEntry
from catalogue.load import load_catalogue, read_entry
from tests.workers.examples import ENTRY
from workers.engines.compat.torch_companions import repair_torch_companions
from workers.engines.vllm_arguments import (
    cpu_environment,
    engine_arguments,
    known_engine_arguments,
    parse_engine_arguments,
)
from workers.errors import EngineArgumentError
from workers.serving import served_models
from workers.settings import WorkerSettings

CATALOGUE = load_catalogue()
SMALL = [read_entry(path) for path in sorted((Path(__file__).parent / "families").glob("*.toml"))]
LATENT = {"deepseek-vl2", "kimi-vl"}


@pytest.mark.parametrize("entry", SMALL, ids=lambda entry: entry.id)
def test_the_attention_of_a_cpu_is_chosen(entry: CatalogueEntry) -> None:
    """Latent attention gets the backend that runs on every CPU; on a GPU vLLM chooses by itself."""
    wanted = "CPU_MLA" if entry.family in LATENT else "CPU_ATTN"
    assert engine_arguments(entry, "weights", is_cpu=True)["attention_backend"] == wanted
    assert "attention_backend" not in engine_arguments(entry, "weights", is_cpu=False)


@pytest.mark.parametrize("entry", SMALL, ids=lambda entry: entry.id)
def test_small_models_reckon_in_float32(entry: CatalogueEntry) -> None:
    """vLLM's kernels for AMX take bfloat16: no other choice depends on it. Its linear attention knows no other type."""
    dtype = engine_arguments(entry, "weights", is_cpu=True)["dtype"]
    assert dtype == ("bfloat16" if entry.family == "qwen3.5" else "float32")


@pytest.mark.parametrize("model_id", ["deepseek-vl2", "kimi-vl-a3b-thinking"])
def test_an_operators_own_choice_wins(model_id: str) -> None:
    """Whoever knows that a CPU has AMX can ask for its backend in the entry."""
    entry = CATALOGUE[model_id]
    own = entry.model_copy(update={"engine": entry.engine | {"attention_backend": "AMX_MLA"}})
    assert engine_arguments(own, "weights", is_cpu=True)["attention_backend"] == "AMX_MLA"


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


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("gpu_memory_utilization=0.8", ("gpu_memory_utilization", 0.8)),
        ("tensor-parallel-size=2", ("tensor_parallel_size", 2)),
        ("kv_cache_dtype=fp8", ("kv_cache_dtype", "fp8")),
        ("enforce_eager=True", ("enforce_eager", True)),
    ],
)
def test_values_of_the_command_line_are_read_as_json_and_else_as_text(text: str, value: tuple[str, Any]) -> None:
    """Also with the hyphens of vLLM's own command line."""
    assert tuple(parse_engine_arguments([text]).items()) == (value,)


@pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="no vLLM is installed")
def test_known_arguments_are_those_of_the_installed_vllm() -> None:
    """What its source declares is what its class takes."""
    from dataclasses import fields

    repair_torch_companions()
    from vllm.engine.arg_utils import AsyncEngineArgs

    assert known_engine_arguments() == {field.name for field in fields(AsyncEngineArgs)}


@pytest.mark.parametrize("text", ["model=other", "gpu_memory=0.8", "seed", "=1"])
def test_what_cannot_be_given_is_refused(text: str) -> None:
    """Arguments of the entry, unknown ones, and what is no pair."""
    with pytest.raises(EngineArgumentError):
        parse_engine_arguments([text])


def test_arguments_of_the_command_line_go_before_those_of_the_entry(tmp_path: Path) -> None:
    """Of the worker's own command line, for every model that it serves."""
    options = ["--model", ENTRY.id, "--engine", "simulated", "--engine-arg", "max_num_seqs=3"]
    (served,) = served_models(WorkerSettings.read(options, {"GIGAVQA_HOME": str(tmp_path)}))
    assert served.entry.engine == {**ENTRY.engine, "max_num_seqs": 3}
    assert served.max_requests == 3
