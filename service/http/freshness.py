"""What is known of files, kept as long as they do not change."""

import threading
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Generic, TypeVar

from cachetools import LRUCache

Value = TypeVar("Value")
Stamp = tuple[tuple[str, int, int], ...]


def stamp(*paths: Path) -> Stamp:
    """Names, modification times and sizes: what changes when a file is written. Raises FileNotFoundError."""
    found = ((str(path), path.stat()) for path in paths)
    return tuple((name, status.st_mtime_ns, status.st_size) for name, status in found)


class Kept(Generic[Value]):
    """The last `limit` values by key and stamp. Thread-safe; a value that two threads miss at once is made twice."""

    def __init__(self, limit: int) -> None:
        self._lock = threading.Lock()
        self._values = LRUCache[Hashable, tuple[Hashable, Value]](limit)

    def get(self, key: Hashable, current: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value of `key` if its stamp is still `current`, else make it."""
        with self._lock:
            kept = self._values.get(key)
        if kept and kept[0] == current:
            return kept[1]
        value = make()
        with self._lock:
            self._values[key] = (current, value)
        return value
