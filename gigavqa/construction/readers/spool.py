"""Marks of a file in whatever order it has them, given back by image, bounded in memory."""

import marshal
from array import array
from collections.abc import Iterator
from tempfile import SpooledTemporaryFile
from typing import Any

import numpy as np

from gigavqa.construction.readers.marks import Mark

_IN_MEMORY = 64 << 20
"""Bytes of marks, beyond which they lie in a temporary file."""
_AT_ONCE = 1 << 20


class MarkSpool:
    """Marks as bytes, on disk where they are many, and where each begins: 12 bytes a mark in memory."""

    def __init__(self) -> None:
        self._file = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - lives as long as this does
        self._images, self._begins = array("i"), array("q", [0])
        self._pending: list[bytes] = []
        self._pending_bytes = 0

    def add(self, image: int, mark: Mark) -> None:
        """Keep a mark of an image, which is known by its number."""
        content = marshal.dumps(tuple[Any, ...](mark))
        self._images.append(image)
        self._begins.append(self._begins[-1] + len(content))
        self._pending.append(content)
        self._pending_bytes += len(content)
        if self._pending_bytes > _AT_ONCE:
            self._write()

    def _write(self) -> None:
        self._file.seek(0, 2)
        self._file.write(b"".join(self._pending))
        self._pending.clear()
        self._pending_bytes = 0

    def counts(self) -> dict[int, int]:
        """Return how many marks each image has that has one."""
        images, counts = np.unique(np.frombuffer(self._images, np.int32), return_counts=True)
        return dict(zip(images.tolist(), counts.tolist(), strict=True))

    def groups(self, images: list[int]) -> Iterator[list[Mark]]:
        """Yield the marks of each of these images, in the order of the file."""
        self._write()
        of = np.frombuffer(self._images, np.int32)
        order = np.argsort(of, kind="stable")
        numbers = of[order]
        firsts = np.searchsorted(numbers, images, side="left").tolist()
        lasts = np.searchsorted(numbers, images, side="right").tolist()
        for first, last in zip(firsts, lasts, strict=True):
            yield [self._read(at) for at in order[first:last].tolist()]

    def _read(self, at: int) -> Mark:
        begin = self._begins[at]
        self._file.seek(begin)
        return Mark(*marshal.loads(self._file.read(self._begins[at + 1] - begin)))
