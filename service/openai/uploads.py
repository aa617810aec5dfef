"""Pictures that clients send, each kept once by the SHA-256 of its bytes, where workers find them."""

import binascii
import hashlib
import os
import re
import secrets
import time
from collections.abc import Iterator
from pathlib import Path

import pybase64

from gigavqa.tiling.roots import UPLOAD_PREFIX

_FILE = re.compile(rf"{UPLOAD_PREFIX}files/(file-[A-Za-z0-9_-]+)")
_IN_BODY = re.compile(rf"{UPLOAD_PREFIX}sha256/[0-9a-f]{{2}}/[0-9a-f]{{64}}")
_PARTIAL_SECONDS = 6 * 3600.0


class Uploads:
    """The folder of uploads: `sha256/` holds pictures by digest, `partial/` what is still arriving.

    A file's time of access tells when it was used last. Its name is its identity: nobody digests it again.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._pictures = folder / "sha256"
        self._partial = folder / "partial"

    def arriving(self) -> "PendingUpload":
        """Begin to take something. Raises OSError."""
        self._partial.mkdir(parents=True, exist_ok=True)
        return PendingUpload(self._partial / secrets.token_hex(16))

    def keep(self, arrived: "PendingUpload") -> str:
        """Keep what has arrived by its digest; returns the name that views know it by. Raises OSError."""
        digest = arrived.close()
        path = self.path(digest)
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_file() and path.stat().st_size == arrived.size:
            arrived.drop()
        else:  # also in the place of what a power cut has left of it
            arrived.path.replace(path)
        os.utime(path)
        return f"{UPLOAD_PREFIX}{path.relative_to(self.folder).as_posix()}"

    def path(self, digest: str) -> Path:
        """Return where a picture lies."""
        return self._pictures / digest[:2] / digest

    def prune(self, most_bytes: int, unused_seconds: float) -> int:
        """Remove what was not used for so long, and then the longest unused ones beyond `most_bytes`; returns how many.

        Blocks. Raises OSError.
        """
        kept = sorted(self._kept(), reverse=True)
        oldest, total, removed = time.time() - unused_seconds, 0, 0
        for used_at, size, path in kept:
            total += size
            if used_at < oldest or total > most_bytes:
                path.unlink(missing_ok=True)
                removed += 1
        for left in self._partial.glob("*"):
            if left.stat().st_mtime < time.time() - _PARTIAL_SECONDS:
                left.unlink(missing_ok=True)
        return removed

    def _kept(self) -> Iterator[tuple[float, int, Path]]:
        for path in self._pictures.glob("??/*"):
            stat = path.stat()
            yield stat.st_atime, stat.st_size, path


class PendingUpload:
    """Something that comes in pieces: written down and digested as it does. `size` counts its bytes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        self._file = path.open("xb")
        self._digest = hashlib.sha256()
        self._base64 = b""

    def write(self, data: bytes) -> None:
        """Take further bytes. Raises OSError."""
        self._file.write(data)
        self._digest.update(data)
        self.size += len(data)

    def write_base64(self, text: bytes) -> None:
        """Take further bytes that come as base64, cut anywhere. Raises ValueError for what is none."""
        text = self._base64 + text
        whole = len(text) - len(text) % 4
        self._base64 = text[whole:]
        try:
            self.write(pybase64.b64decode(text[:whole], validate=True))
        except binascii.Error as error:
            raise ValueError(f"is not base64: {error}") from error

    def close(self) -> str:
        """End it; returns the SHA-256 of its bytes. Raises ValueError where base64 was cut short."""
        if self._base64:
            raise ValueError("is not base64: it ends within four characters")
        self._file.close()
        return self._digest.hexdigest()

    def drop(self) -> None:
        """Forget it; safe to call at any time."""
        self._file.close()
        self.path.unlink(missing_ok=True)


def decode_base64(text: str) -> bytes:
    """Decode base64 that is there as a whole. Raises ValueError."""
    return pybase64.b64decode(text, validate=True)


def as_sent(text: str) -> str:
    """Return a message in which uploads are called as whoever sent them knows them: by the id of a file, if any."""
    return _IN_BODY.sub("the picture", _FILE.sub(r"\1", text))
