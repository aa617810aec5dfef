"""A file elsewhere, open as one here: whoever reads it by offsets gets ranges, whoever needs a path gets it whole."""

import io
import os
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import IO

from gigavqa.tiling.files import OpenFile
from gigavqa.tiling.remote.blocks import Span
from gigavqa.tiling.remote.images import RemoteImages, digest_at
from gigavqa.tiling.versions import FileVersion, stamp_of

_LEAST_WINDOW, _MOST_WINDOW = 16 * 1024, 256 * 1024


class RemoteFile(OpenFile):
    """One version of a file elsewhere. It never changes: bytes of another version are never returned.

    `descriptor`, and the path that it is, are of the whole file, which is fetched for whoever asks for them.
    """

    is_remote = True

    def __init__(self, path: Path, images: RemoteImages) -> None:
        self.path, self.folder_kind, self._place = path, None, None
        self._images = images
        self._remote = images.version_at(path)
        self._whole: int | None = None
        self._opening = threading.Lock()
        self.has_ranges = self._remote.has_ranges
        self.stated_digest = digest_at(path)
        self.version: FileVersion = (stamp_of(path.stat(), path.name)._replace(size=self._remote.size),)
        if not self._remote.has_ranges:
            self._open_whole()

    def __fspath__(self) -> str:
        return f"/proc/self/fd/{self._open_whole()}"

    @property
    def descriptor(self) -> int:
        """A descriptor of the whole file. Raises ImageTooLargeError, ImageUnavailableError and ImageReplacedError."""
        return self._open_whole()

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self._remote.size

    def read_at(self, offset: int, count: int) -> bytes:
        """Read bytes from an offset on, fewer at the end of the file."""
        if self._whole is not None:
            return os.pread(self._whole, count, offset)
        span = offset, min(offset + count, self.size)
        return self._images.read(self._remote, span) if span[0] < span[1] else b""

    def expect(self, spans: Iterable[Span]) -> None:
        """Begin to fetch what will be read soon."""
        if self._whole is None:
            self._images.begin(self._remote, spans)

    def has(self, span: Span) -> bool:
        """Return whether these bytes are here."""
        return self._whole is not None or self._images.has(self._remote, span)

    def fetch(self, span: Span) -> None:
        """Fetch these bytes, so that they are here. Raises as `read_at` does."""
        self._images.read(self._remote, span)

    def stream(self) -> IO[bytes]:
        """Return the file with a position of its own; each read of what is not here fetches some more behind it."""
        return io.BufferedReader(_RangeStream(self), 4096)

    @property
    def is_unchanged(self) -> bool:
        """Whether what was read is of this version, as it always is."""
        return True

    def settle(self) -> None:
        """Nothing has to settle."""

    def close(self) -> None:
        whole, self._whole = self._whole, None
        if whole is not None:
            os.close(whole)

    def _open_whole(self) -> int:
        with self._opening:
            if self._whole is None:
                self._whole = self._images.open_whole(self._remote)
            return self._whole


class _RangeStream(io.RawIOBase):
    """Reads of headers: small, and mostly one behind the other, so that what is fetched with each grows."""

    def __init__(self, file: RemoteFile) -> None:
        self._file = file
        self.name = str(file.path)
        self._at = 0
        self._window = _LEAST_WINDOW
        self._fetched = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._file.size}[whence]
        return self._at

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        count = max(0, min(len(buffer), self._file.size - self._at))
        if count and not self._file.has(span := (self._at, self._at + count)):
            is_next = 0 <= self._at - self._fetched < self._window
            self._window = min(2 * self._window, _MOST_WINDOW) if is_next else _LEAST_WINDOW
            self._fetched = min(max(span[1], self._at + self._window), self._file.size)
            self._file.fetch((self._at, self._fetched))
        data = self._file.read_at(self._at, count)
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)
