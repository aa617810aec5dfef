"""Caches of what is known already: of files, kept as long as they do not change, and of answers, by their ETags."""

import re
import threading
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

from cachetools import LRUCache

Value = TypeVar("Value")
Stamp = tuple[tuple[str, int, int], ...]
_ETAG = re.compile(r'(?:W/)?("[\x21\x23-\x7e\x80-\xff]*")')  # RFC 9110, 8.8.3; compared weakly


def file_stamp(*paths: Path) -> Stamp:
    """Names, modification times and sizes: what changes when a file is written. Raises FileNotFoundError."""
    found = ((str(path), path.stat()) for path in paths)
    return tuple((name, status.st_mtime_ns, status.st_size) for name, status in found)


class StampedCache(Generic[Value]):
    """The last values by key and stamp, of `limit` together: so many, or by what `size_of` says of each.

    A value that is larger than the limit is kept alone. Thread-safe; a value that several threads miss at once is made
    by one of them.
    """

    def __init__(self, limit: int, size_of: Callable[[Value], int] = lambda value: 1) -> None:
        self._lock = threading.Lock()
        self._values = LRUCache[Hashable, tuple[Hashable, Value]](limit, lambda kept: min(limit, size_of(kept[1])))
        self._makers = WeakValueDictionary[Hashable, "_Turn"]()

    def get(self, key: Hashable, current: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value of `key` if its stamp is still `current`, else make it."""
        if kept := self._kept(key, current):
            return kept[0]
        with self._lock:
            turn = self._makers.setdefault(key, _Turn())
        with turn.lock:
            if kept := self._kept(key, current):
                return kept[0]
            value = make()
            with self._lock:
                self._values[key] = (current, value)
            return value

    def find(self, key: Hashable, current: Hashable) -> Value | None:
        """Return the value of `key` if it is kept and its stamp still `current`; it is not made."""
        kept = self._kept(key, current)
        return kept[0] if kept else None

    def _kept(self, key: Hashable, current: Hashable) -> tuple[Value] | None:
        with self._lock:
            kept = self._values.get(key)
        return (kept[1],) if kept and kept[0] == current else None


class _Turn:
    """The turn at making one value, which is there as long as somebody makes it or waits."""

    def __init__(self) -> None:
        self.lock = threading.Lock()


def etag_headers(tag: str) -> dict[str, str]:
    """Return the headers of an answer with this ETag. Weak: the bytes differ with their compression."""
    return {"ETag": f"W/{tag}", "Cache-Control": "no-cache"}


def immutable_headers(tag: str) -> dict[str, str]:
    """Return the headers of what never changes under its address."""
    return {"ETag": tag, "Cache-Control": "private, max-age=31536000, immutable"}


def matches_etag(tag: str, if_none_match: str | None) -> bool:
    """Return whether the client has the answer with this ETag, which comes in its quotes."""
    known = if_none_match or ""
    return known.strip() == "*" or tag in _ETAG.findall(known)
