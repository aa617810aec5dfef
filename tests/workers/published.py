"""Published measurements of real engines, and loads that step the simulated engine through the same. Seconds."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from gigavqa.workers.engines.simulation.prompts import SimulatedPrompt
from gigavqa.workers.engines.simulation.roofline import Roofline, StepWork
from gigavqa.workers.engines.simulation.scheduler import Scheduler, SimulatedSequence

T = 16_384
"""Visual tokens of 4096 x 4096 pixels."""


@dataclass(frozen=True)
class SimulatedLoad:
    """Prompts and answers of so many tokens, without a common prefix, `at_once` at any time."""

    prompt: int
    answer: int
    at_once: int = 1
    number: int = 1


@dataclass(frozen=True)
class LoadRun:
    """What became of a load; seconds of the simulated machine. `first` and `token` are means over its sequences."""

    seconds: float
    first: float
    token: float
    tokens_per_second: float


def play(roofline: Roofline, load: SimulatedLoad) -> LoadRun:
    """Step through a load."""
    scheduler, now, begun, ended = Scheduler(roofline), 0.0, 0, list[tuple[SimulatedSequence, float]]()
    while len(ended) < load.number:
        while begun < load.number and begun - len(ended) < load.at_once:
            scheduler.add(SimulatedSequence(0, begun, _prompt(roofline, begun, load.prompt), load.answer))
            begun += 1
        now += scheduler.step(now)
        ended += [(sequence, now) for sequence in scheduler.finish(now)]
    firsts = [(sequence.first_token or 0.0) - (sequence.scheduled or 0.0) for sequence, _ in ended]
    decodes = [(end - (sequence.first_token or 0.0)) / max(1, load.answer - 1) for sequence, end in ended]
    tokens = load.number * (load.prompt + load.answer)
    return LoadRun(now, sum(firsts) / len(firsts), sum(decodes) / len(decodes), tokens / now)


def _prompt(roofline: Roofline, number: int, tokens: int) -> SimulatedPrompt:
    prompt = SimulatedPrompt(roofline.model.match_tokens)
    prompt.add_text(f"{number:04}" + "word" * (tokens - 1))
    return prompt


@dataclass(frozen=True)
class PublishedMeasurement:
    """A measurement of a real engine. `optimism` is how far the simulation may be ahead of it, and `slack` behind."""

    what: str
    source: str
    value: float
    unit: str
    simulate: Callable[[], float]
    optimism: float = 0.15
    slack: float = 0.15
    is_rate: bool = False

    @property
    def ahead(self) -> float:
        """By which share the simulated engine is faster; negative where it is slower."""
        return self.simulate() / self.value - 1 if self.is_rate else self.value / self.simulate() - 1


def _server(model: str, gpus: int = 1) -> Roofline:
    """As `vllm serve` is by default on an H100."""
    return replace(Roofline.of("h100", model, gpus), batched_tokens=8192)


_GPUSTACK = "gpustack, docs/performance-lab"
PUBLISHED = (
    PublishedMeasurement(
        "Qwen3.5-9B, first token of 32,000", f"{_GPUSTACK}/qwen3.5-9b/h100.md (vLLM 0.17.1)", 1.02, "s",
        lambda: play(_server("9b"), SimulatedLoad(32_000, 1)).first,
    ),
    PublishedMeasurement(
        "Qwen3.5-9B, one token, 17 at once at 1000 in, 2000 out", f"{_GPUSTACK}/qwen3.5-9b/h100.md", 0.0087, "s",
        lambda: play(_server("9b"), SimulatedLoad(1000, 2000, 17, 34)).token,
    ),
    PublishedMeasurement(
        "Qwen3.5-9B, 1024 in, 128 out", f"{_GPUSTACK}/qwen3.5-9b/h100.md (tuned; default 29,800)", 34_500, "tokens/s",
        lambda: play(_server("9b"), SimulatedLoad(1024, 128, 256, 1024)).tokens_per_second, optimism=0.25, is_rate=True,
    ),
    PublishedMeasurement(
        "Qwen3-32B on two, one chunk of 8192", "llm-d PR 2071 (`peakPrefillThroughput`)", 15_928, "tokens/s",
        lambda: 8192 / play(_server("32b", 2), SimulatedLoad(8192, 1)).first, is_rate=True,
    ),
    PublishedMeasurement(
        "vision encoder, 20 pictures of 1200 tokens", "sgl-project/sglang issue 18784 (Hopper, tuned)", 0.264, "s",
        lambda: Roofline().encoder_seconds((1200,) * 20),
    ),
    PublishedMeasurement(
        "Qwen3-14B, 32,000 in, 100 out", f"{_GPUSTACK}/qwen3-14b/h100.md (default; FP8 in SGLang 10,000)", 8_300,
        "tokens/s", lambda: play(_server("14b"), SimulatedLoad(32_000, 100, 7, 28)).tokens_per_second,
        optimism=0.7, is_rate=True,
    ),
)  # fmt: skip


def cold_first_token(model: str) -> float:
    """Seconds from a prompt of one new picture of T visual tokens and 200 of text to its first token, alone."""
    roofline = Roofline.of("h100", model)
    prompt = SimulatedPrompt(roofline.model.match_tokens)
    prompt.add_picture("new", T)
    prompt.add_text("word" * 200)
    scheduler = Scheduler(roofline)
    scheduler.add(SimulatedSequence(0, 0, prompt))
    return scheduler.step(0.0)


def decode_rate(model: str, sequences: int, context: int = 20_000) -> float:
    """Tokens a second of so many sequences that decode, each with a context of its own."""
    work = StepWork(decoding=sequences, context=sequences * context)
    return sequences / Roofline.of("h100", model).seconds(work)
