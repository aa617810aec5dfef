"""The GPUs that a model wants, and what fits smaller ones: by arithmetic, as `docs/plan.md` does it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, PositiveInt

_MIB = 1024
_GIB = 1 << 30
_REPORTED_SHARE = 0.9
"""Of its memory as it is sold, what a driver tells at least: 81,559 MiB of 80 GiB, 46,068 of 48."""


class SmallerGpuOption(BaseModel):
    """GPUs of less memory, and the context that a model has room for on them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    memory_gib: PositiveInt = Field(description="memory of each, as it is sold")
    max_model_len: PositiveInt = Field(description="context in tokens")


class GpuRequirement(BaseModel):
    """GPUs that hold a model with the context of its entry: estimated from the sizes of weights and KV cache."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    number: PositiveInt = 1
    memory_gib: PositiveInt = Field(description="memory of each, as it is sold")
    smaller: tuple[SmallerGpuOption, ...] = Field(default=(), description="what else holds it, with a shorter context")

    def lack(self, model: str, mib: float, command: Callable[[int], str]) -> str | None:
        """Say that GPUs of `mib` MiB together do not hold the entry `model`, and what to do; None when they do.

        `command` gives the one that writes an entry with a context of so many tokens.
        """
        if self._holds(self.memory_gib, mib):
            return None
        wanted = f"{self.number} x {self.memory_gib}" if self.number > 1 else str(self.memory_gib)
        said = f"'{model}' wants {wanted} GiB of GPU memory with its context, and {mib / _MIB:.0f} GiB are there"
        if contexts := [each.max_model_len for each in self.smaller if self._holds(each.memory_gib, mib)]:
            return f"{said}; `{command(max(contexts))}` writes an entry that fits"
        return f"{said}; choose a smaller model, or other GPUs (`gigavqa models` says what each wants)"

    def with_context(self, tokens: int, now: int) -> Self | None:
        """GPUs that hold the model with another context than `now`; None where nothing is known of a longer one."""
        if tokens > now:
            return None
        enough = [each for each in self.smaller if each.max_model_len >= tokens]
        least = min((each.memory_gib for each in enough), default=self.memory_gib)
        rest = tuple(each for each in self.smaller if each.memory_gib < least)
        return self.model_copy(update={"memory_gib": least, "smaller": rest})

    def _holds(self, gib: int, mib: float) -> bool:
        return mib >= _REPORTED_SHARE * self.number * gib * _MIB


@dataclass(frozen=True)
class GpuCard:
    """A GPU as its data sheet has it: memory as it is sold, and as CUDA tells it, dense bfloat16 FLOPs, bytes of memory
    a second, and ten times its compute capability.
    """

    title: str
    memory_gib: int
    memory_bytes: int
    flops: float
    bandwidth: float
    capability: int


GPU_CARDS: Mapping[str, GpuCard] = {
    "h100": GpuCard("H100 SXM 80 GB", 80, int(79.1 * _GIB), 989e12, 3.35e12, 90),
    "h200": GpuCard("H200 SXM 141 GB", 141, int(139.8 * _GIB), 989e12, 4.8e12, 90),
    "a100-80": GpuCard("A100 SXM 80 GB", 80, int(79.1 * _GIB), 312e12, 2.039e12, 80),
    "a100-40": GpuCard("A100 SXM 40 GB", 40, int(39.4 * _GIB), 312e12, 1.555e12, 80),
    "l40s": GpuCard("L40S 48 GB", 48, int(44.4 * _GIB), 362e12, 0.864e12, 89),
    "rtx4090": GpuCard("GeForce RTX 4090 24 GB", 24, int(23.5 * _GIB), 165e12, 1.008e12, 89),
}
"""By the name that `gigavqa plan --gpu` takes; sources in docs/plan.md."""
