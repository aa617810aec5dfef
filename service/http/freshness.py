"""What is known of files, kept as long as they do not change."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Generic, TypeVar

Value = TypeVar("Value")
Stamp = tuple[tuple[str, int, int], ...]


def stamp(*paths: Path) -> Stamp:
    """Names, modification times and sizes: what changes when a file is written. Raises FileNotFoundError."""
    found = ((str(path), path.stat()) for path in paths)
    return tuple((name, status.st_mtime_ns, status.st_size) for name, status in found)


class Kept(Generic[Value]):
    """The last `limit` values by key and stamp. Thread-safe; a value that two threads miss at once is made twice."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._values: OrderedDict[Hashable, tuple[Hashable, Value]] = OrderedDict()

    def get(self, key: Hashable, current: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value of `key` if its stamp is still `current`, else make it."""
        with self._lock:
            if key in self._values and self._values[key][0] == current:
                self._values.move_to_end(key)
                return self._values[key][1]
        value = make()
        with self._lock:
            self._values[key] = (current, value)
            self._values.move_to_end(key)
            while len(self._values) > self._limit:
                self._values.popitem(last=False)
        return value
