"""An expert's own script around vLLM's offline engine: each picture decoded once, ahead, and named by a key."""

import os
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from PIL import Image

from gigavqa.workers.engines.vllm.arguments import cpu_environment, engine_arguments, engine_environment
from gigavqa.workers.engines.vllm.compat.torch_companions import repair_torch_companions
from performance.gpu.meter import MeasurementWindow
from performance.gpu.work import Workload, questions_of

_THREADS = 2
"""Pillow decodes without Python's lock; the engine waits for the first pictures anyway."""


def run_expert(work: Workload) -> dict[str, Any]:
    """All questions of as many pictures together as the other contenders have in flight, picture after picture."""
    os.environ.update(engine_environment(work.entry.weights) | dict(os.environ))
    repair_torch_companions()
    from vllm import LLM  # noqa: PLC0415 - after the repair
    from vllm.platforms import current_platform  # noqa: PLC0415

    is_cpu = bool(current_platform.is_cpu())
    if is_cpu:
        os.environ.update(cpu_environment(small=True) | dict(os.environ))
    llm = LLM(**engine_arguments(work.entry, work.entry.weights, is_cpu=is_cpu) | {"disable_log_stats": False})
    _ask(llm, work, [(work.warm_picture, ["Warm?"])], {work.warm_picture: _opened(work.warm_picture)})
    together = max(1, work.at_once // work.questions)
    window, outputs, first = MeasurementWindow(), list[Any](), 0.0
    began = time.monotonic()
    with ThreadPoolExecutor(_THREADS) as threads:
        opened: dict[str, Future[Any]] = {path: threads.submit(_opened, path) for path in work.pictures}
        for at in range(0, len(work.pictures), together):
            pictures = work.pictures[at : at + together]
            chats = [(path, questions_of(path, work.questions)) for path in pictures]
            outputs += _ask(llm, work, chats, {path: opened.pop(path).result() for path in pictures})
            first = first or time.monotonic() - began
    return window.close() | {
        "requests": len(outputs),
        "first_response_seconds": first,
        "prompt_tokens": sum(len(each.prompt_token_ids or ()) for each in outputs),
        "cached_tokens": sum(each.num_cached_tokens or 0 for each in outputs),
        "output_tokens": sum(len(each.outputs[0].token_ids) for each in outputs),
        "device": "cpu" if is_cpu else str(current_platform.get_device_name()),
    }


def _opened(path: str) -> Any:
    with Image.open(path) as picture:
        return picture.convert("RGB")


def _ask(llm: Any, work: Workload, asked: Sequence[tuple[str, Sequence[str]]], opened: dict[str, Any]) -> list[Any]:
    from vllm import SamplingParams  # noqa: PLC0415 - after the repair

    sampling = SamplingParams(max_tokens=work.max_tokens, temperature=1.0, top_p=1.0, top_k=-1)
    chats = [
        [{"role": "user", "content": [_shown(path, opened[path]), {"type": "text", "text": text}]}]
        for path, texts in asked
        for text in texts
    ]
    return list(llm.chat(chats, sampling, use_tqdm=False))


def _shown(path: str, picture: Any) -> dict[str, Any]:
    return {"type": "image_pil", "image_pil": picture, "uuid": path}
