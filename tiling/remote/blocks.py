"""Bytes of files elsewhere, kept on the disk in pages of 4 KiB: bounded, checked, and shared by all processes.

A segment holds up to 4 MiB of one version of a file, sparse, behind a table of its pages' checksums. A page without one
is not there, so that what a crash tore is fetched again; the least recently used segments leave for space.
"""

import logging
import os
import shutil
import struct
import threading
import time
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

log = logging.getLogger(__name__)

PAGE = 4096
_PAGES = 1024
_SEGMENT = PAGE * _PAGES
_TABLE = 4 * _PAGES
_BLOCKS, WHOLE = ".blocks", "whole"
_LOOKS = 16
"""The folder is looked through whenever a sixteenth of its bound was written, so that it is kept to that much."""
_LEAST_FREE_BYTES = 2 * 2**30
_USED_SECONDS = 60.0
_UNUSED_SECONDS = 30 * 24 * 3600.0

Span = tuple[int, int]
"""First byte, and the one behind the last."""


class BlockStore:
    """Pages of files below `folder`, by digest of their version; at most `capacity` bytes of them. Thread-safe."""

    def __init__(self, folder: Path, capacity: int) -> None:
        self.folder = folder
        self._capacity = capacity
        self._lock = threading.Lock()
        self._unlooked = capacity  # nobody knows yet what is there
        self._coming = 0

    def read(self, digest: str, span: Span) -> bytes | None:
        """Return these bytes of a version; None unless all of them are there as they were written."""
        parts = []
        for number, first, last in _segments(span):
            pages = self._pages(digest, number, first, last)
            if pages is None:
                return None
            parts.append(pages)
        lead = span[0] % PAGE
        return b"".join(parts)[lead : lead + span[1] - span[0]]

    def missing(self, digest: str, span: Span) -> list[Span]:
        """Return the spans of whole pages that must be fetched before these bytes can be read."""
        found: list[Span] = []
        for number, first, last in _segments(span):
            table = self._table(digest, number)
            for page in range(first, last):
                if not (table and table[page]):
                    start = number * _SEGMENT + page * PAGE
                    if found and found[-1][1] == start:
                        found[-1] = found[-1][0], start + PAGE
                    else:
                        found.append((start, start + PAGE))
        return found

    def put(self, digest: str, start: int, data: bytes) -> None:
        """Keep bytes from the start of a page on; the last page is complete, or the file's last.

        What the disk does not take is not kept.
        """
        try:
            if not self._make_room(len(data)):
                return
            for number, first, last in _segments((start, start + len(data))):
                offset = number * _SEGMENT + first * PAGE - start
                self._write(digest, number, first, data[offset : offset + (last - first) * PAGE])
        except OSError as error:
            log.warning("%s takes nothing: %s", self.folder, error)
        finally:
            with self._lock:
                self._coming -= len(data)

    def make_room(self, num_bytes: int) -> bool:
        """Return whether there is room for a file of so many bytes, now that older ones have left."""
        if num_bytes > self._capacity:
            return False
        has_room = self._make_room(num_bytes)
        with self._lock:
            self._coming -= num_bytes
        return has_room

    def use(self, digest: str) -> None:
        """Note that a version is in use."""
        with suppress(OSError):
            folder = self.folder / digest
            if folder.stat().st_mtime < time.time() - _USED_SECONDS / 2:
                os.utime(folder)

    def _table(self, digest: str, number: int) -> tuple[int, ...] | None:
        with suppress(OSError), self._path(digest, number).open("rb", buffering=0) as file:
            return _read_table(file.fileno())
        return None

    def _pages(self, digest: str, number: int, first: int, last: int) -> bytes | None:
        path = self._path(digest, number)
        try:
            with path.open("rb", buffering=0) as file:
                table = _read_table(file.fileno())
                data = os.pread(file.fileno(), (last - first) * PAGE, _TABLE + first * PAGE)
                if os.fstat(file.fileno()).st_mtime < time.time() - _USED_SECONDS:
                    os.utime(path)
        except OSError:
            return None
        data = data.ljust((last - first) * PAGE, b"\0")
        told = table[first:last]
        if not all(told):
            return None
        if told != tuple(_checksum(data[at : at + PAGE]) for at in range(0, len(data), PAGE)):
            log.warning("%s is damaged, and is deleted", path)
            path.unlink(missing_ok=True)
            return None
        return data

    def _write(self, digest: str, number: int, first: int, data: bytes) -> None:
        path = self._path(digest, number)
        path.parent.mkdir(parents=True, exist_ok=True)
        pages = [data[at : at + PAGE].ljust(PAGE, b"\0") for at in range(0, len(data), PAGE)]
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            os.pwrite(descriptor, b"".join(pages), _TABLE + first * PAGE)
            os.pwrite(descriptor, struct.pack(f"<{len(pages)}I", *map(_checksum, pages)), 4 * first)
        finally:
            os.close(descriptor)

    def _path(self, digest: str, number: int) -> Path:
        return self.folder / digest / f"{number}{_BLOCKS}"

    def _make_room(self, num_bytes: int) -> bool:
        with self._lock:
            self._coming += num_bytes
            self._unlooked += num_bytes
            if self._unlooked * _LOOKS > self._capacity:
                self.folder.mkdir(parents=True, exist_ok=True)
                self._evict(self._coming)
                self._unlooked = num_bytes
            return shutil.disk_usage(self.folder).free - num_bytes > _LEAST_FREE_BYTES

    def _evict(self, num_bytes: int) -> None:
        """Delete what was used least recently; a version's folder and record when nothing else is left of it."""
        kept, total = self._kept(), num_bytes
        total += sum(size for _, size, _ in kept)
        left = Counter(path.parent for _, _, path in kept)
        now = time.time()
        for used, size, path in sorted(kept):
            is_folder = path.parent == self.folder
            if total <= self._capacity * (_LOOKS - 1) // _LOOKS and not (is_folder and used < now - _UNUSED_SECONDS):
                continue
            if not is_folder:
                path.unlink(missing_ok=True)  # whoever has it open goes on reading it
                left[path.parent] -= 1
            elif used < now - _USED_SECONDS and not left[path]:
                shutil.rmtree(path, ignore_errors=True)
            else:
                continue
            total -= size

    def _kept(self) -> list[tuple[float, int, Path]]:
        """Time of last use, bytes on the disk and path of everything that is kept: of a version's folder with its
        record, and of what else is in it.
        """
        kept = []
        for folder in self.folder.iterdir():
            with suppress(OSError):
                used, size = folder.stat().st_mtime, _disk_bytes(folder)
                for path in folder.iterdir():
                    if path.suffix == _BLOCKS or path.name.startswith(WHOLE):
                        kept.append((path.stat().st_mtime, _disk_bytes(path), path))
                    else:
                        size += _disk_bytes(path)
                kept.append((used, size, folder))
        return kept


def _disk_bytes(path: Path) -> int:
    return path.stat().st_blocks * 512


def _segments(span: Span) -> Iterator[tuple[int, int, int]]:
    """Number of each segment that a span touches, its first page there, and the one behind its last."""
    start, stop = span[0] // PAGE, -(-span[1] // PAGE)
    for number in range(start // _PAGES, -(-stop // _PAGES)):
        base = number * _PAGES
        yield number, max(start - base, 0), min(stop - base, _PAGES)


def _read_table(descriptor: int) -> tuple[int, ...]:
    table = os.pread(descriptor, _TABLE, 0).ljust(_TABLE, b"\0")
    return struct.unpack(f"<{_PAGES}I", table)


def _checksum(page: bytes) -> int:
    return zlib.crc32(page) or 1
