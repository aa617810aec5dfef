"""Engine arguments of the command line."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from gigavqa.workers.engines.vllm.arguments import known_engine_arguments, parse_engine_arguments
from gigavqa.workers.engines.vllm.compat.torch_companions import repair_torch_companions
from gigavqa.workers.errors import EngineArgumentError
from gigavqa.workers.served_models import served_models
from gigavqa.workers.settings import WorkerSettings
from tests.workers.examples import ENTRY


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("gpu_memory_utilization=0.8", ("gpu_memory_utilization", 0.8)),
        ("tensor-parallel-size=2", ("tensor_parallel_size", 2)),
        ("kv_cache_dtype=fp8", ("kv_cache_dtype", "fp8")),
        ("enforce_eager=True", ("enforce_eager", True)),
    ],
)
def test_values_are_read_as_json_and_else_as_text(text: str, value: tuple[str, Any]) -> None:
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


def test_they_go_before_those_of_the_entry(tmp_path: Path) -> None:
    """Of the worker's own command line, for every model that it serves."""
    options = ["--model", ENTRY.id, "--engine", "simulated", "--engine-arg", "max_num_seqs=3"]
    (served,) = served_models(WorkerSettings.read(options, {"GIGAVQA_HOME": str(tmp_path)}))
    assert served.entry.engine == {**ENTRY.engine, "max_num_seqs": 3}
    assert served.max_requests == 3


def test_the_simulated_engine_says_what_it_ignores(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Of a GPU's memory it has none to share out; what its entry says for vLLM is nobody's mistake."""
    options = ["--model", ENTRY.id, "--engine", "simulated", "--engine-arg", "max_num_seqs=3"]
    for more in ([], ["--engine-arg", "watermark=0.4", "--engine-arg", "max-num-batched-tokens=64"]):
        served_models(WorkerSettings.read([*options, *more], {"GIGAVQA_HOME": str(tmp_path)}))
    assert caplog.messages == [
        "the simulated engine heeds max_num_seqs alone and ignores max_num_batched_tokens, watermark"
    ]
