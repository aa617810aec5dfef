"""Fields of a checkpoint's configurations under whichever name a family gives them; what is wrong is named."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from gigavqa.catalogue.errors import CheckpointInvalidError

_LARGEST = 1 << 32


class ConfigFields:
    """Fields of a file, or of a part of it, read under whichever name a family gives them."""

    def __init__(self, values: Mapping[str, Any], source: str, part: str = "") -> None:
        self.values = values
        self.source = source
        self._part = part

    def part(self, name: str) -> Self:
        """Return the fields of an object; none where it says nothing."""
        value = self.values.get(name)
        if not isinstance(value, Mapping | None):
            raise self.wrong(name, f"is {value!r}, and no object")
        return type(self)(value or {}, self.source, name)

    def has(self, name: str) -> bool:
        """Whether it says something under this name."""
        return self.values.get(name) is not None

    def number(self, *names: str, default: int | None = None) -> int:
        """Read a positive whole number, of one of these names; of two sides of a square, one."""
        name = next((each for each in names if self.has(each)), names[0])
        value = self.values.get(name, default)
        value = default if value is None else value
        if isinstance(value, list) and len(value) == 2 and value[0] == value[1]:
            value = value[0]
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _LARGEST:
            raise self.wrong(name, "is missing" if value is None else f"is {value!r}, and no positive whole number")
        if value == 0 and default != 0:
            raise self.wrong(name, "is 0, and no positive whole number")
        return value

    def ratio(self, name: str, default: float) -> float:
        """Read a number above 0, up to 1."""
        value = default if self.values.get(name) is None else self.values[name]
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
            raise self.wrong(name, f"is {value!r}, and no number above 0, up to 1")
        return value

    def count(self, name: str) -> int:
        """Count the entries of a list; 0 where there is none."""
        return len(self._list(name))

    def whole_numbers(self, name: str) -> set[int]:
        """Read a list of whole numbers; none where it says nothing."""
        values = self._list(name)
        if unread := [each for each in values if isinstance(each, bool) or not isinstance(each, int)]:
            raise self.wrong(name, f"holds {unread[0]!r}, and no whole number")
        return set(values)

    def _list(self, name: str) -> list[Any]:
        value = self.values.get(name, [])
        value = [] if value is None else value
        if not isinstance(value, list):
            raise self.wrong(name, f"is {value!r}, and no list")
        return value

    def wrong(self, name: str, fault: str) -> CheckpointInvalidError:
        """Return the error of a field."""
        field = f"{self._part}.{name}" if self._part else name
        file = Path(self.source).name
        return CheckpointInvalidError(f"{self.source}: {field} {fault}; take the {file} that the model came with")
