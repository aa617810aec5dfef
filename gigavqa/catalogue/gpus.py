"""The GPUs that a model wants, and what fits smaller ones: by arithmetic, as `docs/operating.md` does it."""

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, PositiveInt

_MIB = 1024
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

    def lack(self, model: str, mib: float) -> str | None:
        """Say that GPUs of `mib` MiB together do not hold the entry `model`, and what to do; None when they do."""
        if self._holds(self.memory_gib, mib):
            return None
        wanted = f"{self.number} x {self.memory_gib}" if self.number > 1 else str(self.memory_gib)
        said = f"'{model}' wants {wanted} GiB of GPU memory with its context, and {mib / _MIB:.0f} GiB are there"
        if contexts := [each.max_model_len for each in self.smaller if self._holds(each.memory_gib, mib)]:
            return f"{said}; `gigavqa models add {model} --context {max(contexts)}` writes an entry that fits"
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
