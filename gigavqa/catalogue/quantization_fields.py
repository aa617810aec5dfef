"""Fields of a checkpoint's quantization_config; what it lacks, or nobody knows, is named."""

import re
from collections.abc import Mapping
from typing import Any

from gigavqa.catalogue.errors import CheckpointInvalidError
from gigavqa.catalogue.module_names import ModuleNames

_BITS = (2, 3, 4, 8)
_GROUPS = (-1, 32, 64, 128)
"""That vLLM's kernels of AWQ and GPTQ take (marlin_utils.py)."""


class QuantizationFields:
    """The quantization_config of a checkpoint; what it lacks, or nobody knows, is an error that names it."""

    def __init__(self, values: Mapping[str, Any], source: str) -> None:
        self.values = values
        self._source = source

    def number(self, *names: str, default: int | None = None) -> int:
        """Read a whole number of one of these names."""
        value = next((self.values[name] for name in names if self.values.get(name) is not None), default)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.wrong(names[0], "is missing" if value is None else f"is {value!r}, and no whole number")
        return value

    def bits(self, *names: str, known: tuple[int, ...] = _BITS) -> int:
        """Read how many bits a weight has."""
        return self._one_of(known, self.number(*names), names[0])

    def group(self, *names: str) -> int:
        """Read how many weights of a row share a scale, 128 where nothing is said; 0 where all of a row do."""
        return max(0, self._one_of(_GROUPS, self.number(*names, default=128), names[0]))

    def _one_of(self, known: tuple[int, ...], value: int, name: str) -> int:
        if value not in known:
            raise self.wrong(name, f"is {value} (known: {', '.join(map(str, known))})")
        return value

    def names(self, *names: str) -> tuple[str, ...]:
        """Read a list of names of modules, under the first of these names that has one."""
        value = next((self.values[name] for name in names if self.values.get(name)), ())
        value = [each for part in value for each in (part if isinstance(part, list) else [part])]
        if not all(isinstance(each, str) for each in value):
            raise self.wrong(names[0], "is no list of names")
        try:
            ModuleNames(value)
        except re.error as error:
            raise self.wrong(names[0], f"has an expression that cannot be read ({error})") from error
        return tuple(value)

    def part(self, values: Any) -> "QuantizationFields":
        """Fields of an object in it."""
        if not isinstance(values, dict):
            raise CheckpointInvalidError(
                f"{self._source}: quantization_config is no object; take it as it was published"
            )
        return QuantizationFields(values, self._source)

    def wrong(self, name: str, fault: str) -> CheckpointInvalidError:
        """Return the error of a field."""
        return CheckpointInvalidError(
            f"{self._source}: quantization_config.{name} {fault}; its bytes are not known, so take a checkpoint "
            "that is not quantized, or quantized by one of the methods in docs/plan.md"
        )
