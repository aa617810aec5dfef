"""Starts the real engine's front end where GPUs are a table: in forks of a process that has imported vLLM."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import Any

H100: dict[str, Any] = {"name": "NVIDIA H100 80GB HBM3", "bytes": 85_520_809_984, "capability": [9, 0]}
L40S: dict[str, Any] = {"name": "NVIDIA L40S", "bytes": 48_305_799_168, "capability": [8, 9]}
GB10: dict[str, Any] = {"name": "NVIDIA GB10", "bytes": None, "capability": [12, 1]}
V100: dict[str, Any] = {"name": "Tesla V100-SXM2-32GB", "bytes": 34_359_738_368, "capability": [7, 0]}
START = """
import asyncio, gc, json, os, sys
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

async def main(texts, folders, sleep_bytes):
    for text, folder in zip(texts, folders):
        engine = VllmEngine(CatalogueEntry.model_validate_json(text), folder, sleep_bytes=sleep_bytes)
        try:
            await engine.start()
        except Exception as error:
            print("SAID", json.dumps([engine.info.device, str(error)]), flush=True)

def become(gpus, variables):
    from tests.workers import fake_cuda_platform
    import vllm.platforms
    os.environ.update(variables)
    fake_cuda_platform._GPUS[:] = gpus
    if not gpus:
        vllm.platforms._current_platform = fake_cuda_platform.NoPlatform()

if __name__ == "__main__":
    repair_torch_companions()
    from vllm.v1.engine.async_llm import AsyncLLM
    import vllm.config.vllm
    import vllm.engine.arg_utils
    from tests.workers.forked_engines import inspect_models_here
    inspect_models_here()
    vllm.config.vllm.HAS_TRITON = True
    AsyncLLM.from_vllm_config = tell
    gc.freeze()
    for line in sys.stdin:
        gpus, variables, *asked, log = json.loads(line)
        if os.fork() == 0:
            with open(log, "w") as file:
                os.dup2(file.fileno(), 2)
            become(gpus, variables)
            asyncio.run(main(*asked))
            sys.stdout.flush()
            os._exit(0)
        os.wait()
        print("ENDED", flush=True)
"""


class FakeMachine:
    """A process that has imported vLLM beside a table of GPUs; what it starts is a fork of it, with another table."""

    def __init__(self, place: Path) -> None:
        self._place = place
        about = place / "fake_gpus-1.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: fake_gpus\nVersion: 1\n")
        plugin = "tests.workers.fake_cuda_platform:activate"
        (about / "entry_points.txt").write_text(f"[vllm.platform_plugins]\nfake_gpus = {plugin}\n")
        script = place / "start.py"
        script.write_text(START)
        paths = os.pathsep.join([str(place), *filter(None, sys.path)])
        environment = {**os.environ, "PYTHONPATH": paths, "FAKE_GPUS": json.dumps([{**H100, "uuid": "GPU-a"}])}
        self._log = place / "log"
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, str(script)],
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )

    def start_on(
        self,
        gpus: Sequence[Mapping[str, Any]],
        entries: Sequence[Any],
        folders: Sequence[Path],
        *,
        sleep_bytes: int = 0,
        variables: Mapping[str, str] | None = None,
    ) -> tuple[list[dict[str, Any]], list[tuple[str, str]]]:
        """Return how vLLM is configured for each entry, and the engine's device and what it ended with."""
        assert self._process.stdin is not None and self._process.stdout is not None
        with tempfile.NamedTemporaryFile(dir=self._place) as log:
            texts = [entry.model_dump_json() for entry in entries]
            asked = [list(gpus), dict(variables or {}), texts, list(map(str, folders)), sleep_bytes, log.name]
            self._process.stdin.write(json.dumps(asked) + "\n")
            self._process.stdin.flush()
            lines = list(takewhile(lambda line: line != "ENDED\n", self._process.stdout))
            told = [json.loads(line[5:]) for line in lines if line.startswith("TOLD ")]
            said = [json.loads(line[5:]) for line in lines if line.startswith("SAID ")]
            assert len(said) == len(entries), Path(log.name).read_text() or self._log.read_text()
        return told, [(device, text) for device, text in said]

    def end(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()


@contextmanager
def machine(place: Path) -> Iterator[FakeMachine]:
    """A machine that does not outlive the block."""
    made = FakeMachine(place)
    try:
        yield made
    finally:
        made.end()
