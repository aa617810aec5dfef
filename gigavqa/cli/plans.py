"""Plan GPUs for a model and a workload: whether it fits, how fast it answers, and what that costs."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.catalogue.gpus import GPU_CARDS, GpuCard
from gigavqa.catalogue.model_commands import name_in_commands
from gigavqa.catalogue.shape_configs import shape_of
from gigavqa.catalogue.shapes import ModelShape
from gigavqa.cli.errors import ArgumentError
from gigavqa.cli.workloads import EvaluationLoad
from gigavqa.runtime.suggestions import did_you_mean
from gigavqa.workers.engines.vllm.arguments import engine_arguments
from gigavqa.workers.engines.vllm.division import divide, spread_over
from gigavqa.workers.engines.vllm.memory import GIB, MemoryFit, dtype_bytes, fits, kv_itemsize
from gigavqa.workers.engines.vllm.roofline import MOST_CHATS, EngineRoom, SpeedRange, speed_range

_SPREADS = tuple(1 << power for power in range(1, 7))


@dataclass(frozen=True)
class Placement:
    """One model on `count` cards: the catalogue's entry, the entry as it would be served, and what that takes."""

    published: CatalogueEntry
    entry: CatalogueEntry
    shape: ModelShape
    card: GpuCard
    count: int
    fit: MemoryFit

    @property
    def workers(self) -> int:
        """Workers that the GPUs hold."""
        return self.count // self.fit.number

    @property
    def holds(self) -> bool:
        """Whether the model fits the cards, and vLLM serves it there as it is quantized."""
        return self.fit.holds and self._refusal is None

    @property
    def _refusal(self) -> str | None:
        how = self.shape.quantization
        if how is None or self.card.capability >= how.least:
            return None
        return (
            f"vLLM 0.32 serves '{self.entry.id}' ({how.title}) from compute capability {how.least / 10} on, and "
            f"{self.card.title} has {self.card.capability / 10}; take newer GPUs, or another checkpoint"
        )

    @property
    def condition(self) -> str | None:
        """What `gigavqa up` has to be told to serve the model so; None where the entry says the same."""
        others = {name: value for name, value in self.entry.engine.items() if self.published.engine.get(name) != value}
        if not self.holds or self.fit.number == self.published.tensor_parallel_size:
            return None
        changes = [f"--engine-arg {name}={value}" for name, value in others.items()]
        return " ".join([f"gigavqa up --model {name_in_commands(self.published)}", *changes])

    def lack(self) -> str | None:
        """Say that the model does not fit, and what to do: more of this GPU, or a shorter context."""
        if self._refusal or self.fit.holds or not self.fit.is_divided:
            return self._refusal or self.fit.lack()
        own, remedies = fits(self.published, self.card.memory_bytes), []
        if enough := next((size for size in _SPREADS if size > self.count and self._holds_on(size)), None):
            remedies.append(f"spread it over more GPUs (--count {enough})")
        if own.number <= self.count and own.shorter_context:
            remedies.append(own.shorter_context)
        return f"{self.fit.reason}; {', or '.join(remedies) or 'take larger GPUs'}"

    def _holds_on(self, count: int) -> bool:
        return place(self.published, self.card, count).fit.holds

    @property
    def pictures_in_cache(self) -> int:
        """Pictures of the largest budget that the KV cache holds at once."""
        if not self.entry.takes_pictures:
            return 0
        return max(0, self.fit.kv_bytes) // self.fit.layout.kept_bytes(self.entry.visual_budget.max_visual_tokens)

    def share(self, workload: EvaluationLoad) -> int:
        """Requests of the worker that has most of them."""
        return -(-workload.scaled(workload.requests) // self.workers)

    def chats(self, workload: EvaluationLoad) -> int:
        """Chats that are answered at once by one worker where each has a picture of its own."""
        room = self.fit.kv_bytes // self.fit.layout.request_bytes(int(workload.context), self.fit.batched)
        most = int(self.entry.engine.get("max_num_seqs") or MOST_CHATS)
        return max(1, min(most, room, most if workload.is_endless else self.share(workload)))

    def hours(self, workload: EvaluationLoad) -> SpeedRange:
        """Hours of the workload on all GPUs."""
        itemsizes = dtype_bytes(self.entry), kv_itemsize(self.entry, self.shape)
        engine = EngineRoom(self.card, self.fit.number, self.chats(workload), self.fit.batched, *itemsizes)
        taken = speed_range(self.shape, workload.work, engine)
        part = 1 / self.workers if workload.is_endless else self.share(workload) / workload.requests
        return SpeedRange(*(each * part / 3600 for each in (taken.least, taken.best, taken.worst)))


_PRICED = 1_000
"""Requests that have a price together where no data set says how many there are."""
_GPUS_OF_A_MACHINE = 8
"""GPUs over which one worker is spread at most: those of one machine."""


def gpu_card(name: str) -> GpuCard:
    """Return the card of a name; raises ArgumentError."""
    if name.lower() in GPU_CARDS:
        return GPU_CARDS[name.lower()]
    raise ArgumentError(f"there is no GPU '{name}'{did_you_mean(name, GPU_CARDS) or ';'} name {', '.join(GPU_CARDS)}")


def place(entry: CatalogueEntry, card: GpuCard, count: int) -> Placement:
    """Spread a model over as many GPUs as its entry says, or over twice, four times as many where that has no room.

    Raises ShapeUnknownError and CheckpointInvalidError.
    """
    shape = shape_of(entry)
    own = entry.tensor_parallel_size
    within = min(count, _GPUS_OF_A_MACHINE)
    number = min(own, 1 << within.bit_length() - 1)
    while True:
        spread = entry if number == own else spread_over(entry, shape, number)
        fit = fits(spread, card.memory_bytes)
        next_size = number * 2
        if fit.holds or next_size > within or divide(spread_over(entry, shape, next_size), shape, next_size).parts:
            return Placement(entry, spread, shape, card, count, fit)
        number = next_size


def describe(placement: Placement, workload: EvaluationLoad, answer: int, price: float | None) -> dict[str, Any]:
    """Everything of a plan, each figure with how it is known; nothing of it was measured."""
    fit, entry = placement.fit, placement.entry
    memory = {
        "usable": (fit.usable, "computed"),
        "weights": (fit.weights, "computed"),
        "encoder cache": (fit.encoder_cache, "computed"),
        "activations": (fit.activations, "estimated"),
        "CUDA context": (fit.context, "assumed"),
        "KV cache": (fit.kv_bytes, "computed from these"),
    }
    described: dict[str, Any] = {
        "model": entry.id,
        "gpu": placement.card.title,
        "count": placement.count,
        "fits": placement.holds,
        "lack": placement.lack(),
        "condition": placement.condition,
        "shape": placement.shape.source,
        "parameters": placement.shape.parameters,
        "tensor_parallel_size": fit.number,
        "workers": placement.workers,
        "memory": {name: {"gib": round(size / GIB, 3), "known": known} for name, (size, known) in memory.items()},
        "kv": {
            "bytes_per_token": fit.layout.full_token,
            "bytes_per_token_in_window": fit.layout.window_token,
            "window": fit.layout.window,
            "bytes_of_states": fit.layout.states,
            "tokens": fit.kv_tokens,
            "pictures": placement.pictures_in_cache,
            "visual_tokens": entry.visual_budget.max_visual_tokens,
            "known": "computed",
        },
        "arguments": engine_arguments(entry, entry.weights, is_cpu=False),
    }
    if how := placement.shape.quantization:
        described["quantization"] = {
            "method": how.title,
            "bits": how.bits,
            "is_computed_in": how.native is not None and placement.card.capability >= how.native,
        }
    if not placement.holds:
        return described
    described["workload"] = workload.told() | {"known": "computed; tokens of texts and answers are assumed"}
    if workload.is_endless:
        described["workload"]["visual tokens"] = workload.visual_tokens
    narrow = [fit.narrowness] if fit.narrowness else []
    described["limits"] = [*narrow, *_limits(entry, workload, answer)]
    if not workload.work.generated:
        return described
    taken = placement.hours(workload)
    requests = workload.scaled(workload.requests)
    described["chats_at_once"] = placement.chats(workload)
    described["speed"] = {
        "requests_per_hour": [round(requests / hours, 1) for hours in (taken.worst, taken.best)],
        "requests_per_hour_at_most": round(requests / taken.least, 1),
        "hours": [taken.best, taken.worst],
        "hours_at_least": taken.least,
        "known": "computed",
    }
    if price is not None:
        times = _PRICED if workload.is_endless else 1
        described["price"] = [hours * placement.count * price * times for hours in (taken.best, taken.worst)]
        described["priced_requests"] = requests * times
    return described


def _limits(entry: CatalogueEntry, workload: EvaluationLoad, answer: int) -> Iterator[str]:
    """Yield what the entry allows less of than was asked for."""
    if answer > (most := entry.decoding.max_tokens):
        yield f"answers of {answer:,} tokens were asked for, and the entry allows {most:,} (decoding.max_tokens)"
    context = f"the context of {entry.max_model_len:,} tokens (max_model_len)"
    if workload.cut:
        cut = workload.scaled(workload.cut)
        shorter = f"{cut:,} answers are" if cut > 1 else "1 answer is"
        yield f"{shorter} shorter than asked for: {context} has no room for more"
    if workload.refused:
        refused = workload.scaled(workload.refused)
        turns, prompts = (f"{refused:,} turns", "their prompts fill") if refused > 1 else ("1 turn", "its prompt fills")
        yield f"{turns} would be refused, for {prompts} {context}"
