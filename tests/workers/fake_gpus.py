"""Starts the real engine's front end in a process of its own, on a machine with GPUs that are a table."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

H100: dict[str, Any] = {"name": "NVIDIA H100 80GB HBM3", "bytes": 85_520_809_984, "capability": [9, 0]}
L40S: dict[str, Any] = {"name": "NVIDIA L40S", "bytes": 48_305_799_168, "capability": [8, 9]}
GB10: dict[str, Any] = {"name": "NVIDIA GB10", "bytes": None, "capability": [12, 1]}
V100: dict[str, Any] = {"name": "Tesla V100-SXM2-32GB", "bytes": 34_359_738_368, "capability": [7, 0]}
START = """
import asyncio, json, os, sys
from pathlib import Path
from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.workers.engines.vllm.compat.torch_companions import repair_torch_companions
from gigavqa.workers.engines.vllm.engine import VllmEngine

def tell(config, **_):
    import vllm.envs
    from vllm.utils.system_utils import get_mp_context
    scheduler, model, cache = config.scheduler_config, config.model_config, config.cache_config
    print("TOLD", json.dumps({
        "method": get_mp_context().get_start_method(),
        "v2": config.use_v2_model_runner,
        "worker": config.parallel_config.worker_cls,
        "device": str(config.device_config.device),
        "embeddings": scheduler.encoder_cache_size,
        "share": cache.gpu_memory_utilization,
        "batched": scheduler.max_num_batched_tokens,
        "chunked": scheduler.enable_chunked_prefill,
        "prefix": cache.enable_prefix_caching,
        "sleep": model.enable_sleep_mode,
        "graphs_leave": model.sleep_mode_offload_cudagraph,
        "eager": model.enforce_eager,
        "cores_in_process": not vllm.envs.VLLM_ENABLE_V1_MULTIPROCESSING,
    }), flush=True)
    raise RuntimeError("no kernels here")

async def main(texts, folders, sleep_bytes, triton):
    repair_torch_companions()
    from vllm.v1.engine.async_llm import AsyncLLM
    import vllm.config.vllm
    vllm.config.vllm.HAS_TRITON = triton
    AsyncLLM.from_vllm_config = tell
    for text, folder in zip(texts, folders):
        engine = VllmEngine(CatalogueEntry.model_validate_json(text), folder, sleep_bytes=sleep_bytes)
        try:
            await engine.start()
        except Exception as error:
            print("SAID", json.dumps([engine.info.device, str(error)]), flush=True)

if __name__ == "__main__":
    asyncio.run(main(*json.loads(sys.argv[1])))
"""


def start_on(
    gpus: Sequence[Mapping[str, Any]],
    entries: Sequence[Any],
    folders: Sequence[Path],
    place: Path,
    *,
    sleep_bytes: int = 0,
    variables: Mapping[str, str] | None = None,
) -> tuple[list[dict[str, Any]], list[tuple[str, str]]]:
    """Return how vLLM is configured for each entry, and the engine's device and what it ended with.

    The plugin and what runs are written into `place`.
    """
    about = place / "fake_gpus-1.dist-info"
    about.mkdir(parents=True, exist_ok=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: fake_gpus\nVersion: 1\n")
    plugin = "tests.workers.fake_cuda_platform:activate"
    (about / "entry_points.txt").write_text(f"[vllm.platform_plugins]\nfake_gpus = {plugin}\n")
    script = place / "start.py"
    script.write_text(START)
    paths = os.pathsep.join([str(place), *filter(None, sys.path)])
    environment = {**os.environ, "PYTHONPATH": paths, "FAKE_GPUS": json.dumps(gpus), **(variables or {})}
    asked = json.dumps([[entry.model_dump_json() for entry in entries], list(map(str, folders)), sleep_bytes, True])
    ended = subprocess.run(
        [sys.executable, str(script), asked], env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    told = [json.loads(line[5:]) for line in ended.stdout.splitlines() if line.startswith("TOLD ")]
    said = [json.loads(line[5:]) for line in ended.stdout.splitlines() if line.startswith("SAID ")]
    assert len(said) == len(entries), ended.stderr
    return told, [(device, text) for device, text in said]
