"""vLLM's `LLM` as the peers start it: everybody's with the same arguments, environment and checkpoint."""

import os
from collections.abc import Sequence
from typing import Any

from performance.peers.lane import LapOutcome
from performance.peers.scenario import RaceItem, Scenario


def prepare_process(scenario: Scenario) -> None:
    """Prepare the process before vLLM is imported."""
    os.environ.update(scenario.environment)
    from gigavqa.workers.engines.vllm.compat.torch_companions import repair_torch_companions  # noqa: PLC0415 - imports torch

    repair_torch_companions()


def start_llm(scenario: Scenario) -> Any:
    """Start the engine and warm it up with a picture that is in no scenario."""
    prepare_process(scenario)
    from vllm import LLM  # noqa: PLC0415

    llm = LLM(**scenario.engine, disable_log_stats=False)
    warm_up(llm)
    return llm


def warm_up(llm: Any) -> None:
    """Let the engine do once what it does at its first request alone."""
    from PIL import Image  # noqa: PLC0415
    from vllm import SamplingParams  # noqa: PLC0415

    picture = {"type": "image_pil", "image_pil": Image.new("RGB", (640, 480))}
    chat = [{"role": "user", "content": [picture, {"type": "text", "text": "What is this?"}]}]
    llm.chat([chat], SamplingParams(max_tokens=4), use_tqdm=False)


def empty_caches(llm: Any) -> None:
    """Forget every picture and prefix."""
    llm.reset_mm_cache()
    llm.llm_engine.reset_encoder_cache()
    llm.reset_prefix_cache()


def sampling_of(items: Sequence[RaceItem]) -> list[Any]:
    """Return the sampling parameters of each item."""
    from vllm import SamplingParams  # noqa: PLC0415

    return [SamplingParams(**item.sampling) for item in items]


_COUNTERS = {
    "queries": "vllm:mm_cache_queries",
    "hits": "vllm:mm_cache_hits",
    "prompt": "vllm:prompt_tokens",
    "cached": "vllm:prefix_cache_hits",
}


class EngineCounters:
    """The engine's counters, from the making of this object on."""

    def __init__(self, llm: Any) -> None:
        self._llm = llm
        self._before = self._read()

    def tell(self, outcome: LapOutcome) -> None:
        """Add encoder runs (lookups of rasters that missed) and prefilled tokens to an outcome."""
        now = self._read()
        since = {name: now[name] - self._before[name] for name in now}
        outcome.encoder_runs = int(since["queries"] - since["hits"])
        outcome.prefilled_tokens = int(since["prompt"] - since["cached"])

    def _read(self) -> dict[str, float]:
        values = {metric.name: metric.value for metric in self._llm.get_metrics() if hasattr(metric, "value")}
        return {name: float(values.get(series, 0)) for name, series in _COUNTERS.items()}
