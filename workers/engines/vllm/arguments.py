"""Build vLLM's arguments and environment by the entry and the device, so that nothing is left to the machine.

And what else the command line may tell it, as `NAME=VALUE`, of the arguments that vLLM's AsyncEngineArgs knows.
"""

import ast
import functools
import importlib.util
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gigavqa.catalogue.entry import MAX_PROMPT_IMAGES, CatalogueEntry
from gigavqa.runtime.suggestions import did_you_mean
from gigavqa.tiling.decode_threads import usable_cores
from gigavqa.workers.errors import EngineArgumentError

_TEXT_TOKENS = 1024  # room for text beside the largest raster in one step of the scheduler
_RECURRENT_ARGUMENTS: dict[str, Any] = {
    "prefix_match_unit": 16,  # a block is as large as a state, 784 tokens with Qwen3.5-27B, and always of so many
    "watermark": 0.3,  # for what nobody uses now: states of views, and of chats between two turns
}
"""What families of linear attention find again of earlier prompts rests on: docs/decisions/0008-engine.md
has the figures."""
_COMPACT_JSON: dict[str, Any] = {"backend": "xgrammar", "disable_any_whitespace": True}
"""How answers are held to JSON: a model could write white space between fields to the end of its tokens.

The backend `auto` of vLLM 0.32 does not take it, and compiles every later schema with the backend that the first one
wanted: what that does not know, such as `multipleOf`, is not applied.
"""
_SHARED_RASTERS: dict[str, Any] = {"mm_processor_cache_type": "shm"}
"""Where several GPUs hold a model, each of their processes reads rasters there: docs/performance/feeding.md."""
_RESERVED_ARGUMENTS = frozenset(
    {
        "model",
        "revision",
        "served_model_name",
        "max_model_len",
        "trust_remote_code",
        "hf_overrides",
        "mm_processor_kwargs",
        "limit_mm_per_prompt",
        "scheduling_policy",
        "enable_sleep_mode",
    }
)
"""What jobs are checked against, or what requests rely on: of the catalogue's entry, or of this house."""


def engine_arguments(entry: CatalogueEntry, weights: str, *, is_cpu: bool, can_sleep: bool = False) -> dict[str, Any]:
    """Arguments of AsyncEngineArgs: what this house relies on, then the device's, then the entry's own."""
    family = entry.known_family
    arguments: dict[str, Any] = {
        "model": weights,
        "revision": entry.revision,
        "served_model_name": entry.id,
        "max_model_len": entry.max_model_len,
        "trust_remote_code": entry.trust_remote_code,
        "enable_prefix_caching": True,
        "enable_chunked_prefill": True,
        "enable_logging_iteration_details": True,  # how many rasters a step encodes; `telling` takes them over
        **({"prefix_cache_retention_interval": None} if family and family.sliding_attention else {}),
        "structured_outputs_config": _COMPACT_JSON,
        **(_RECURRENT_ARGUMENTS if family and family.linear_attention else {}),
        **(_cpu_arguments(entry) if is_cpu else {}),
        # The next engine asks for nearly all of the device's memory: of one that sleeps nothing should stay there.
        **({"sleep_mode_offload_cudagraph": True} if can_sleep else {}),
        **(_SHARED_RASTERS if _shares_memory(entry) and not is_cpu else {}),
        **entry.engine,
        **(_multimodal_arguments(entry) if entry.takes_pictures else {}),
        "hf_overrides": entry.visual_budget.config_overrides() | entry.engine.get("hf_overrides", {}),
        "scheduling_policy": "priority",
        "enable_sleep_mode": can_sleep,
    }
    whole = 0 if arguments["enable_chunked_prefill"] else entry.max_model_len
    asked = int(arguments.get("max_num_batched_tokens", 0))
    needed = entry.visual_budget.max_visual_tokens + _TEXT_TOKENS
    return arguments | {"max_num_batched_tokens": max(asked, whole, needed)}


def _shares_memory(entry: CatalogueEntry) -> bool:
    """Whether several processes of one machine, and no other, see the rasters: vLLM's own, not Ray's, have its lock."""
    backend, machines = entry.engine.get("distributed_executor_backend", "mp"), entry.engine.get("nnodes", 1)
    return entry.takes_pictures and entry.tensor_parallel_size > 1 and backend == "mp" and machines == 1


def _multimodal_arguments(entry: CatalogueEntry) -> dict[str, Any]:
    # Of the engine and not of a request: a request's own would make vLLM hash what a key already names. What the
    # entry says beside the budget's own was checked when it was read.
    own = entry.engine.get("mm_processor_kwargs", {})
    return {
        "limit_mm_per_prompt": entry.engine.get("limit_mm_per_prompt", {"image": MAX_PROMPT_IMAGES, "video": 0}),
        "mm_processor_kwargs": own | entry.visual_budget.processor_kwargs(),
    }


def engine_environment(weights: str) -> dict[str, str]:
    """Environment of every engine, where the operator's own does not say otherwise."""
    local = {"HF_HUB_OFFLINE": "1"} if Path(weights).is_dir() else {}
    return {
        "VLLM_LOGGING_LEVEL": "WARNING",
        "VLLM_NO_USAGE_STATS": "1",
        # Else tokens of broken weights, or of a cache that NaN got into, are recorded as an answer.
        "VLLM_COMPUTE_NANS_IN_LOGITS": "1",
        "TOKENIZERS_PARALLELISM": "false",
        # vLLM forks unless CUDA is initialised: with the worker's threads half-way, its locks and its signal handlers.
        "VLLM_WORKER_MULTIPROC_METHOD": "spawn",
        **local,
    }


def cpu_environment(*, small: bool) -> dict[str, str]:
    """Environment of an engine on a CPU."""
    # One core stays free for rendering; a small model does not gain from a second thread at all.
    threads = 1 if small else max(1, usable_cores() - 1)
    return {
        "VLLM_CPU_KVCACHE_SPACE": "1" if small else "4",  # GiB
        "OMP_NUM_THREADS": str(threads),
        # Threads bound to cores would wait for whatever else runs on these cores of a shared machine.
        "VLLM_CPU_OMP_THREADS_BIND": "nobind",
        # One process for the engine instead of two: the model runs inside of the scheduler's process.
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    }


def _cpu_arguments(entry: CatalogueEntry) -> dict[str, Any]:
    family = entry.known_family
    common = {
        "attention_backend": "CPU_ATTN",
        "enforce_eager": True,  # compiling for a CPU takes minutes and a C++ compiler
        # vLLM 0.32 dies on a CPU when the prompt of a seeded request is prefilled in parts.
        "enable_chunked_prefill": False,
    }
    if family and family.linear_attention:
        # vLLM 0.32 caches prefixes of linear attention only where it may prefill in parts, since states are kept where
        # parts end.
        return common | {
            "enable_chunked_prefill": True,
            "worker_cls": "gigavqa.workers.engines.vllm.cpu_worker.CPUWorker",
        }
    if family and family.latent_attention:
        # Left alone, vLLM takes AMX_MLA on CPUs that have AMX, which wants bfloat16 and heads of multiples of 32; this
        # one runs on every CPU, in blocks of 16 tokens and without a prefix cache.
        turning = {"custom_ops": ["-rotary_embedding"]}  # its kernel takes the heads of such queries for tokens (0.32)
        return common | {
            "attention_backend": "CPU_MLA",
            "enable_prefix_caching": False,
            "compilation_config": turning,
        }
    return common


def parse_engine_arguments(texts: Iterable[str]) -> dict[str, Any]:
    """Read arguments of the form `name=value`, the values as JSON where they are JSON and else as text.

    Raises EngineArgumentError for what vLLM does not know, and for what an entry of the catalogue has to say.
    """
    return dict(_parse(text) for text in texts)


def _parse(text: str) -> tuple[str, Any]:
    name, separator, value = text.partition("=")
    name = name.replace("-", "_")
    if not (separator and name):
        raise EngineArgumentError(f"--engine-arg '{text}' is not NAME=VALUE, such as gpu_memory_utilization=0.8")
    if name in _RESERVED_ARGUMENTS:
        raise EngineArgumentError(
            f"'{name}' is no argument of the engine's alone; write it into an entry of the catalogue "
            "(`gigavqa models add` makes one)"
        )
    known = known_engine_arguments()
    if known and name not in known:
        raise EngineArgumentError(f"vLLM has no engine argument '{name}'{did_you_mean(name, known)}")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, {"True": True, "False": False, "None": None}.get(value, value)


@functools.cache
def known_engine_arguments() -> frozenset[str]:
    """Names of the arguments of the installed vLLM, read from its source, since its import takes seconds.

    Empty where no vLLM is installed, or none that is written that way.
    """
    spec = importlib.util.find_spec("vllm")
    folders = spec.submodule_search_locations if spec else None
    path = Path(folders[0], "engine", "arg_utils.py") if folders else None
    if path is None or not path.is_file():
        return frozenset()
    classes = (node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.ClassDef))
    return frozenset(
        field.target.id
        for node in classes
        if node.name in {"EngineArgs", "AsyncEngineArgs"}
        for field in node.body
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
    )
