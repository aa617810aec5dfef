"""Follows a new picture of 4 megapixels from its raster to what crosses into the engine's process, family by family.

    python -m performance.feeding                    # every family of the catalogue, on the CPU: about two minutes
    python -m performance.feeding --models gemma-4-26b --copies
    python -m performance.feeding --host             # all values normalized by the host's processors

The way is the worker's own: its prompt, vLLM's front end with the family's processor at the catalogue's budget, and
vLLM's serializer. Processors are those of small checkpoints of the same architecture, in bfloat16; no model is loaded.
Bytes are exact. Written is memory that was touched for the first time (page faults, allocations of 1 MiB and more), so
it counts copies of every library. Times are those of one thread and of this machine: compare them within one run.
"""

import argparse
import asyncio
import ctypes
import json
import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.catalogue.families.idefics3 import Idefics3Budget
from gigavqa.catalogue.families.internvl import InternVLBudget
from gigavqa.catalogue.families.llava_onevision import LlavaOnevisionBudget
from gigavqa.catalogue.load import load_catalogue
from gigavqa.tiling.geometry import Size
from gigavqa.workers.engines.engine import Message, PromptRaster
from gigavqa.workers.engines.vllm.arguments import cpu_environment, engine_arguments, engine_environment
from gigavqa.workers.engines.vllm.compat.torch_companions import repair_torch_companions
from gigavqa.workers.engines.vllm.prompts import render_prompt
from tests.checkpoints.build import ensure_checkpoint

CHECKPOINTS = {
    "qwen2.5-vl-7b": "qwen2.5-vl",
    "qwen3-vl-8b": "qwen3-vl",
    "qwen3.5-27b": "qwen3.5",
    "glm-4.5v": "glm-4.5v",
    "idefics3-8b": "idefics3",
    "internvl3.5-38b": "internvl3.5-hf",
    "internvl3.5-38b-chat": "internvl3.5",
    "gemma-4-26b": "gemma-4",
    "deepseek-vl2": "deepseek-vl2",
    "llava-onevision-7b": "llava-onevision",
    "minicpm-v-4.5": "minicpm-v-4.5",
    "ovis2.5-9b": "ovis2.5",
    "phi-4-reasoning-vision-15b": "phi-4-reasoning-vision",
    "kimi-vl-a3b-thinking": "kimi-vl",
}
"""A model of each family, and the small checkpoint of its architecture."""

_PICTURE = Size(2240, 1792)  # 4 megapixels, which no family enlarges
_RUNS = 5
_LARGE = 1 << 20
_PAGE = resource.getpagesize()
_REQUESTS_A_SECOND = 60


@dataclass(frozen=True)
class Copy:
    """An operation of torch that made a large tensor."""

    operation: str
    dtype: str
    num_bytes: int


@dataclass(frozen=True)
class Way:
    """What one raster took: bytes of the raster, of its values in the message, and of memory that was written."""

    model: str
    raster: Size
    raster_bytes: int
    sent_bytes: int
    sent_dtype: str
    written_bytes: int
    seconds: float
    copies: tuple[Copy, ...]


def main() -> None:
    """Print the table, or the copies one by one."""
    options = _options()
    _prepare_process()
    with tempfile.TemporaryDirectory(prefix="gigavqa-feeding-") as folder:
        ways = [_follow(name, Path(folder), on_host=options.host) for name in options.models]
    print(table(ways))
    if options.copies:
        print("\n".join(["", *(line for way in ways for line in _copy_lines(way))]))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", choices=list(CHECKPOINTS), default=list(CHECKPOINTS), metavar="MODEL")
    parser.add_argument("--copies", action="store_true", help="name every large tensor that torch makes")
    parser.add_argument("--host", action="store_true", help="with mm_device_do_normalize=false")
    return parser.parse_args()


def _prepare_process() -> None:
    """One thread, no huge pages, and each large block from the system: so a fault is a page that was never written."""
    os.environ.update(engine_environment("/") | cpu_environment(small=True) | {"OMP_NUM_THREADS": "1"})
    os.environ |= {"VLLM_ALLOW_LONG_MAX_MODEL_LEN": "1", "VLLM_LOGGING_LEVEL": "ERROR"}
    libc = ctypes.CDLL(None)
    if sys.platform != "linux" or libc.mallopt(-3, _LARGE) != 1 or libc.prctl(41, 1, 0, 0, 0) != 0:
        sys.exit("copies are counted by page faults, which takes Linux with glibc")
    repair_torch_companions()


def _follow(model: str, folder: Path, *, on_host: bool) -> Way:
    renderer, entry = _front_end(model, folder, on_host=on_host)
    size = entry.visual_budget.plan(_PICTURE).raster
    draw = np.random.default_rng(0)
    pixels = draw.integers(0, 255, (size.height, size.width, 3), np.uint8)

    def send(number: int) -> list[Any]:
        return asyncio.run(_message(renderer, entry, PromptRaster(f"raster-{number}", pixels)))

    buffers, copies = _traced(renderer, lambda: send(0))
    timed = [_measured(lambda number=number: send(number)) for number in range(1, _RUNS + 1)]
    large = [each for each in buffers if memoryview(each).nbytes >= _LARGE // 4]
    renderer.shutdown()
    sent = sum(memoryview(each).nbytes for each in large)
    return Way(
        model=model,
        raster=size,
        raster_bytes=pixels.nbytes,
        sent_bytes=sent,
        sent_dtype=_sent_dtype(copies, sent),
        written_bytes=min(written for written, _ in timed),
        seconds=min(seconds for _, seconds in timed),
        copies=copies,
    )


def _front_end(model: str, folder: Path, *, on_host: bool) -> tuple[Any, CatalogueEntry]:
    """Return vLLM's front end of a small checkpoint with the catalogue's budget and the published sizes."""
    from vllm.engine.arg_utils import AsyncEngineArgs  # noqa: PLC0415 - after the process is prepared
    from vllm.renderers import renderer_from_config  # noqa: PLC0415

    weights = folder / model
    shutil.copytree(ensure_checkpoint(f"built-in:{CHECKPOINTS[model]}", folder / "checkpoints"), weights)
    entry = load_catalogue()[model]
    _write_published_tile(weights, entry)
    arguments = engine_arguments(entry, str(weights), is_cpu=True) | {
        "dtype": "bfloat16",
        "tensor_parallel_size": 1,
        "mm_device_do_normalize": not on_host,
    }
    arguments.pop("revision")
    config = AsyncEngineArgs(**arguments).create_engine_config()
    return renderer_from_config(config), entry


def _write_published_tile(weights: Path, entry: CatalogueEntry) -> None:
    """Give families of tiles the tile of their budget, which the small checkpoints have smaller."""
    budget = entry.visual_budget
    if isinstance(budget, InternVLBudget):
        is_chat = budget.layout == "chat"
        side = budget.tile if is_chat else [budget.tile, budget.tile]
        own = {"force_image_size": side} if is_chat else {"image_seq_length": budget.tokens_per_tile}
        _change(weights / "config.json", own | {"vision_config": {"image_size": side}})
        processing = {"crop_size": side} if is_chat else {"size": {"height": budget.tile, "width": budget.tile}}
        _change(weights / "preprocessor_config.json", processing)
    elif isinstance(budget, Idefics3Budget):
        _change(weights / "config.json", {"vision_config": {"image_size": budget.tile}})
        _change(weights / "preprocessor_config.json", {"max_image_size": {"longest_edge": budget.tile}})
        _change(weights / "processor_config.json", {"image_seq_len": budget.tokens_per_tile})
    elif isinstance(budget, LlavaOnevisionBudget):
        sides = [budget.tile * number for number in range(1, budget.columns + 1)]
        canvases = {"image_grid_pinpoints": [[height, width] for height in sides for width in sides]}
        _change(weights / "config.json", canvases | {"vision_config": {"image_size": budget.tile}})
        size = {"size": {"height": budget.tile, "width": budget.tile}}
        _change(weights / "preprocessor_config.json", canvases | size)
        _change(weights / "processor_config.json", {"num_image_tokens": budget.side**2})


def _change(path: Path, changes: dict[str, Any]) -> None:
    """Change fields of a JSON file, and of objects in it."""
    content = json.loads(path.read_text())
    for name, value in changes.items():
        content[name] = content.get(name, {}) | value if isinstance(value, dict) else value
    path.write_text(json.dumps(content))


async def _message(renderer: Any, entry: CatalogueEntry, raster: PromptRaster) -> list[Any]:
    """Return the buffers that the engine's process is sent for a chat about one raster."""
    from vllm.v1.serial_utils import MsgpackEncoder  # noqa: PLC0415

    prompt = await render_prompt(SimpleNamespace(renderer=renderer), entry, [Message("user", (raster, "How many?"))])
    return list(MsgpackEncoder().encode(prompt["mm_kwargs"]))


def _measured(send: Any) -> tuple[int, float]:
    """Return bytes of memory that `send` wrote for the first time, and its CPU seconds."""
    faults, began = resource.getrusage(resource.RUSAGE_SELF).ru_minflt, time.process_time()
    kept = send()
    seconds = time.process_time() - began
    written = (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults) * _PAGE
    del kept
    return written, seconds


def _traced(renderer: Any, send: Any) -> tuple[list[Any], tuple[Copy, ...]]:
    """Return what `send` returns, and the large tensors that its processing made."""
    from torch.utils._python_dispatch import TorchDispatchMode  # noqa: PLC0415

    copies: list[Copy] = []

    class Trace(TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            made = func(*args, **(kwargs or {}))
            found = made if isinstance(made, tuple | list) else (made,)
            copies.extend(
                Copy(func.__name__, str(tensor.dtype).removeprefix("torch."), tensor.nbytes)
                for tensor in found
                if getattr(tensor, "nbytes", 0) >= _LARGE and not _is_view(func)
            )
            return made

    trace = Trace()
    thread = renderer._mm_executor  # one thread, which processes all pictures
    thread.submit(trace.__enter__).result()
    try:
        return send(), tuple(copies)
    finally:
        thread.submit(trace.__exit__, None, None, None).result()


def _is_view(func: Any) -> bool:
    """Whether an operation makes no memory of its own: a view, or a change in place."""
    return "view" in func.__name__ or any(each.alias_info is not None for each in func._schema.returns)


def _sent_dtype(copies: Sequence[Copy], sent: int) -> str:
    """The type of the last large tensor that is as large as what is sent, or the raster's own."""
    return next((each.dtype for each in reversed(copies) if each.num_bytes <= sent), "uint8")


def table(ways: Sequence[Way]) -> str:
    """Write a line for each model; times are those of the quickest new picture of the run, in multiples of it."""
    least = min(way.seconds for way in ways)
    lines = [
        "| model | raster | raster MB | sent as | sent MB | sent / raster | written MB | written / raster | CPU time "
        f"| CPU ms a picture | cores, {_REQUESTS_A_SECOND}/s, all new | cores, one in four new |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for way in ways:
        cores = way.seconds * _REQUESTS_A_SECOND
        cells = [
            way.model,
            f"{way.raster.width} x {way.raster.height}",
            f"{way.raster_bytes / 1e6:.1f}",
            way.sent_dtype,
            f"{way.sent_bytes / 1e6:.1f}",
            f"{way.sent_bytes / way.raster_bytes:.2f}",
            f"{way.written_bytes / 1e6:.0f}",
            f"{way.written_bytes / way.raster_bytes:.1f}",
            f"{way.seconds / least:.1f}x",
            f"{way.seconds * 1e3:.0f}",
            f"{cores:.2f}",
            f"{cores / 4:.2f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _copy_lines(way: Way) -> list[str]:
    of_torch = sum(each.num_bytes for each in way.copies)
    rest = way.written_bytes - of_torch
    made = [f"    {each.num_bytes / 1e6:8.1f} MB  {each.dtype:9} {each.operation}" for each in way.copies]
    return [f"{way.model}:", *made, f"    {rest / 1e6:8.1f} MB  by Pillow, NumPy and others"]


if __name__ == "__main__":
    main()
