"""One contender in a process of its own: `python -m performance.gpu.contender NAME work.json result.json`.

`vllm` is vLLM's own throughput bench on the given pictures, in the shuffled order of its data sets or, as
`vllm-ordered`, one picture after the other; `expert` a script around vLLM's offline engine. `engine` is the worker's
engine fed in the product's order with keys for pictures, `service` all of it: gateway, state store and worker.
`sleep` switches two engines by hand, `shifts` has one worker serve a job over two models.
Loading and a first request are before what is measured.
"""

import asyncio
import functools
import json
import os
import random
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from gigavqa.contract.requests import Sampling
from gigavqa.contract.responses import Usage
from gigavqa.workers.engines.engine import EngineStats, Message, PromptRaster
from gigavqa.workers.engines.vllm.arguments import cpu_environment, engine_arguments, engine_environment
from gigavqa.workers.engines.vllm.compat.torch_companions import repair_torch_companions
from gigavqa.workers.engines.vllm.engine import VllmEngine
from performance.gpu.meter import MeasurementWindow
from performance.gpu.work import Workload, questions_of

_HOST_BYTES = 1 << 40


def run_engine(work: Workload) -> dict[str, Any]:
    """Return the worker's engine.

    One picture after the other, its first question before the others, many pictures at once.
    """
    return asyncio.run(_run_engine(work))


async def _run_engine(work: Workload) -> dict[str, Any]:
    engine = await _started(work, 0)
    await _ask(engine, work, work.warm_picture, ["Warm?"], 10**6)
    before, window, began = await engine.stats(), MeasurementWindow(), time.monotonic()
    slots = asyncio.Semaphore(max(1, work.at_once // work.questions))
    responses: list[float] = []
    used: list[Usage] = []

    async def play(number: int, picture: str) -> None:
        async with slots:
            first, *others = questions_of(picture, work.questions)
            used.extend(await _ask(engine, work, picture, [first], number))
            responses.append(time.monotonic() - began)
            used.extend(await _ask(engine, work, picture, others, number))

    await asyncio.gather(*(play(number, picture) for number, picture in enumerate(work.pictures)))
    took, after = window.close(), await engine.stats()
    await engine.stop()
    # Only a cache of pictures counts those that it lacks.
    processed = {"processed_pictures": after.processed_rasters - before.processed_rasters} if work.caches else {}
    return (
        took
        | processed
        | {
            "requests": len(work.requests),
            "first_response_seconds": min(responses),
            "prompt_tokens": sum(each.prompt_tokens for each in used),
            "cached_tokens": sum(each.cached_tokens for each in used),
            # Of the engine: beginnings that it asked for by itself are prefilled, too, and are no request's.
            "prefilled_tokens": _prefilled(after) - _prefilled(before),
            "output_tokens": after.generated_tokens - before.generated_tokens,
            "device": engine.info.device,
            "version": engine.info.version,
        }
    )


async def _started(work: Workload, model: int) -> VllmEngine:
    entry = work.models[model]
    engine = VllmEngine(entry, entry.weights, sleep_bytes=_HOST_BYTES if len(work.models) > 1 else 0)
    await engine.start()
    return engine


def _prefilled(stats: EngineStats) -> int:
    return stats.prompt_tokens - stats.cached_prompt_tokens


async def _ask(
    engine: VllmEngine, work: Workload, picture: str, questions: Sequence[str], priority: int
) -> Sequence[Usage]:
    raster = PromptRaster(picture, await asyncio.to_thread(_pixels, picture))
    sampling = Sampling(max_tokens=work.max_tokens, temperature=1.0, top_p=1.0, top_k=-1)
    answers = await asyncio.gather(
        *(
            engine.generate((Message("user", (raster, text)),), sampling, f"{picture}-{text}", priority)
            for text in questions
        )
    )
    return [answer.usage for answer in answers]


def _pixels(path: str) -> Any:
    with Image.open(path) as picture:
        return np.asarray(picture.convert("RGB"))


def run_vllm(work: Workload, *, ordered: bool = False) -> dict[str, Any]:
    """vLLM's throughput bench with its chat backend and our engine arguments."""
    os.environ.update(engine_environment(work.entry.weights) | dict(os.environ))
    repair_torch_companions()
    from vllm.benchmarks import throughput  # noqa: PLC0415 - after the repair, and in this contender alone
    from vllm.platforms import current_platform  # noqa: PLC0415

    is_cpu = bool(current_platform.is_cpu())
    if is_cpu:
        os.environ.update(cpu_environment(small=True) | dict(os.environ))
    result: dict[str, Any] = {"device": "cpu" if is_cpu else str(current_platform.get_device_name())}
    _measure(throughput, work, result)
    throughput.get_requests = lambda args, tokenizer: _bench_requests(work, ordered=ordered)
    throughput.main(_bench_arguments(throughput, work, is_cpu))
    return result


def _bench_arguments(throughput: Any, work: Workload, is_cpu: bool) -> Any:
    from vllm.utils.argparse_utils import FlexibleArgumentParser  # noqa: PLC0415 - see above

    parser = FlexibleArgumentParser()
    throughput.add_cli_args(parser)
    args = parser.parse_args(["--backend", "vllm-chat", "--dataset-path", work.folder])
    engine = engine_arguments(work.entry, work.entry.weights, is_cpu=is_cpu)
    own = {"allowed_local_media_path": "/", "max_num_seqs": engine.get("max_num_seqs", work.at_once)}
    for name, value in {**engine, **own}.items():
        setattr(args, name, value)
    return args


def _bench_requests(work: Workload, *, ordered: bool) -> list[Any]:
    """Return the work as the bench's own data sets of pictures have it: files that it opens, in a shuffled order."""
    from vllm.benchmarks.datasets import SampleRequest  # noqa: PLC0415 - see above

    requests = [
        SampleRequest(
            prompt=[{"role": "user", "content": [_url(picture), {"type": "text", "text": text}]}],
            prompt_len=1,
            expected_output_len=work.max_tokens,
        )
        for picture, text in work.requests
    ]
    if not ordered:
        random.Random(0).shuffle(requests)
    return requests


def _url(picture: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": f"file://{picture}"}}


def _measure(throughput: Any, work: Workload, result: dict[str, Any]) -> None:
    """Ask one more question before the bench begins, and take its time, tokens and counters; change nothing else."""
    name = "_run_vllm_chat_requests" if hasattr(throughput, "_run_vllm_chat_requests") else "run_vllm_chat"
    original: Callable[..., tuple[float, list[Any]]] = getattr(throughput, name)

    def measured(first: Any, *args: Any, **kwargs: Any) -> tuple[float, list[Any]]:
        if hasattr(first, "chat"):
            first.chat([[{"role": "user", "content": [_url(work.warm_picture), {"type": "text", "text": "Warm?"}]}]])
        before, window = _processed(first), MeasurementWindow()
        seconds, outputs = original(first, *args, **kwargs)
        took, after = window.close(), _processed(first)
        if work.caches and before is not None and after is not None:
            result["processed_pictures"] = after - before
        result.update(took | {"began": took["ended"] - seconds})
        result["requests"] = len(outputs)
        result["prompt_tokens"] = sum(len(each.prompt_token_ids or ()) for each in outputs)
        result["cached_tokens"] = sum(each.num_cached_tokens or 0 for each in outputs)
        result["output_tokens"] = sum(len(each.outputs[0].token_ids) for each in outputs)
        return seconds, outputs

    setattr(throughput, name, measured)


def _processed(llm: Any) -> int | None:
    """Pictures that were not in the cache of preprocessed ones, where this release counts them."""
    if not hasattr(llm, "get_metrics"):
        return None
    counted = {each.name: each.value for each in llm.get_metrics() if hasattr(each, "value")}
    names = ("vllm:mm_cache_queries", "vllm:mm_cache_hits")
    return int(counted[names[0]] - counted[names[1]]) if set(names) <= set(counted) else None


def run_sleep(work: Workload) -> dict[str, Any]:
    """Two engines take turns: seconds to sleep, to wake, and to the first answer; or to end and start on a CPU."""
    return asyncio.run(_run_sleep(work))


async def _run_sleep(work: Workload) -> dict[str, Any]:
    seconds: dict[str, list[float]] = {"start": [], "sleep": [], "wake": [], "end": [], "first answer": []}

    async def timed(name: str, call: Any) -> Any:
        began = time.monotonic()
        found = await call
        seconds[name].append(time.monotonic() - began)
        return found

    window, engines, slept = MeasurementWindow(), dict[int, VllmEngine](), 0
    seen = set[int]()
    for model in (0, 1, 0, 1):
        if model in seen and model not in engines:
            continue  # this device knows no sleep: one start of each says it all
        seen.add(model)
        if model in engines:
            await timed("wake", engines[model].wake())
        else:
            engines[model] = await timed("start", _started(work, model))
        await timed("first answer", _ask(engines[model], work, work.pictures[0], ["First?"], 0))
        if bytes_ := await timed("sleep", engines[model].sleep(_HOST_BYTES)):
            slept = max(slept, bytes_)
        else:
            seconds["sleep"].pop()
            await timed("end", engines.pop(model).stop())
    for engine in engines.values():
        await engine.stop()
    return window.close() | {"seconds": seconds, "slept_gib": slept / 2**30}


def main(name: str, work: str, result: str) -> None:
    """Play the work as this contender, and write what it took."""
    run: Callable[[Workload], dict[str, Any]]
    if name in {"service", "shifts"}:
        from performance.gpu.service import run_service, run_shifts  # noqa: PLC0415 - needs more packages

        run = {"service": run_service, "shifts": run_shifts}[name]
    elif name == "expert":
        from performance.gpu.expert import run_expert  # noqa: PLC0415 - vLLM in this process, without the worker's

        run = run_expert
    elif name in {"vllm", "vllm-ordered"}:
        run = functools.partial(run_vllm, ordered=name == "vllm-ordered")
    else:
        run = {"engine": run_engine, "sleep": run_sleep}[name]
    found = run(Workload.read(Path(work)))
    Path(result).write_text(json.dumps(found))


if __name__ == "__main__":
    # Without a spec, multiprocessing runs this file again in what it spawns.
    sys.modules["__main__"].__spec__ = None
    main(*sys.argv[1:])
    sys.stdout.flush()
    os._exit(0)
