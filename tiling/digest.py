"""Names for the content of images: of all their bytes, read once for each version of a file."""

import hashlib
import os
import re
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

from cachetools import LRUCache

from tiling.errors import ImageChangedError
from tiling.versions import Version, files_of, seconds_until_settled, version_of

WHOLE_BYTES = 512 * 2**20
"""Up to so many bytes all are digested; the digests of larger images depend on it."""
DIGEST = r"(?:[0-9a-f]{64}|v?[0-9a-f]{32})"
"""A pattern of all digests that responses and pyramids were named by, those of earlier releases among them."""

_FORM = 1  # counts changes that give other digests of the same file
_OF_SAMPLES = 32
_SAMPLES = 16
_SAMPLE_BYTES = 64 * 1024
_LEAST_KEPT_BYTES = 2**20  # less is digested sooner than looked up
_KNOWN = 16384
_LOCKS = 64


def content_digest(path: Path) -> str:
    """Name the content of an image: no two different contents have one name.

    It is the SHA-256 of the file's bytes; of a slide of several files BLAKE2b of their names, sizes and bytes. Beyond
    `WHOLE_BYTES` it is `v` and 32 digits, which name this version of this file: its name, inode, size, times and 16
    samples; a copy has another. What was digested once is not read again while it stays the same (`keep_digests`).
    Blocks. Raises ImageChangedError where the file does not stay the same meanwhile, and OSError.
    """
    return _DIGESTS.of(path)


def has_digest(path: Path, digest: str) -> bool:
    """Whether a file is what somebody recorded by this digest, be it of an earlier release. Raises as that does."""
    if not is_of_samples(digest):
        return content_digest(path) == digest
    stat = path.stat()
    return _DIGESTS.sampled((path,), f"{stat.st_size}:{stat.st_mtime_ns}") == digest


def is_of_samples(digest: str) -> bool:
    """Whether a digest is of an earlier release, which read samples: different contents of equal size may share it."""
    return len(digest) == _OF_SAMPLES


def keep_digests(folder: Path) -> None:
    """Keep the digests that this process makes in a folder, for the next one and for others of the machine."""
    _DIGESTS.folder = folder


def digested_bytes() -> int:
    """Bytes that this process has read so far to name contents."""
    return _DIGESTS.bytes_read


class _Digests:
    """Digests by path and version, in memory and in `folder`. Thread- and process-safe; one file is read by one."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        self.bytes_read = 0
        self._known: LRUCache[tuple[Path, Version], str] = LRUCache(_KNOWN)
        self._lock = threading.Lock()
        self._turns = [threading.Lock() for _ in range(_LOCKS)]

    def of(self, path: Path) -> str:
        with self._turns[hash(path) % _LOCKS]:
            version = version_of(path)
            if known := self._recall(path, version):
                return known
            if not _is_small(version):
                time.sleep(seconds_until_settled(version))
                version = version_of(path)
            is_settled = seconds_until_settled(version) == 0
            digest = self._make(path, version)
            if version_of(path) != version:
                raise ImageChangedError(f"{path}: the image was replaced while it was being read")
            if is_settled:
                self._remember(path, version, digest)
            return digest

    def sampled(self, files: tuple[Path, ...], facts: str) -> str:
        """Digest 16 blocks of 64 KiB, evenly spaced from first byte to last, and what else is known."""
        digest = hashlib.blake2b(facts.encode(), digest_size=_OF_SAMPLES // 2)
        samples = max(1, _SAMPLES // len(files))
        for path in files:
            step = max(_SAMPLE_BYTES, (path.stat().st_size - _SAMPLE_BYTES) / max(1, samples - 1))
            with path.open("rb") as file:
                for index in range(samples):
                    file.seek(round(index * step))
                    self._read(file.read(_SAMPLE_BYTES), digest)
        return digest.hexdigest()

    def _make(self, path: Path, version: Version) -> str:
        if _is_small(version):
            return self._whole(path, version)
        facts = ":".join(str((s.name, s.inode, s.size, s.modified_ns, s.changed_ns)) for s in version)
        return f"v{self.sampled(files_of(path), facts)}"

    def _whole(self, path: Path, version: Version) -> str:
        # Another function where there are several: nobody can send one file with the digest of all of them.
        digest = hashlib.sha256() if len(version) == 1 else hashlib.blake2b(digest_size=32)
        for stamp in version:
            if len(version) > 1:
                digest.update(f"{stamp.name}\0{stamp.size}\0".encode(errors="surrogateescape"))
            with (path.parent / stamp.name).open("rb") as file:
                hashlib.file_digest(file, lambda: digest)
                self._count(file.tell())
        return digest.hexdigest()

    def _read(self, block: bytes, digest: "hashlib.blake2b") -> None:
        digest.update(block)
        self._count(len(block))

    def _count(self, num_bytes: int) -> None:
        with self._lock:
            self.bytes_read += num_bytes

    def _recall(self, path: Path, version: Version) -> str | None:
        with self._lock:
            known = self._known.get((path, version))
        if known is None and (place := self._place(path, version)):
            with suppress(OSError, UnicodeDecodeError):
                text = place.read_text("ascii")
                if re.fullmatch(DIGEST, text):
                    os.utime(place)  # used just now
                    known = text
                    self._learn(path, version, known)
        return known

    def _learn(self, path: Path, version: Version, digest: str) -> None:
        with self._lock:
            self._known[path, version] = digest

    def _remember(self, path: Path, version: Version, digest: str) -> None:
        self._learn(path, version, digest)
        if place := self._place(path, version):
            with suppress(OSError):  # a disk that takes nothing costs the next process its time
                place.parent.mkdir(parents=True, exist_ok=True)
                with tempfile.NamedTemporaryFile("w", dir=place.parent, suffix=".partial", delete=False) as file:
                    file.write(digest)
                Path(file.name).replace(place)

    def _place(self, path: Path, version: Version) -> Path | None:
        if self.folder is None or sum(stamp.size for stamp in version) < _LEAST_KEPT_BYTES:
            return None
        # Without the device: its number is another one after the next start of a machine.
        stamps = [(*stamp[:1], *stamp[2:]) for stamp in version]
        name = hashlib.blake2b(repr((_FORM, WHOLE_BYTES, str(path), stamps)).encode(), digest_size=16).hexdigest()
        return self.folder / name[:2] / f"{name}.digest"


def _is_small(version: Version) -> bool:
    return sum(stamp.size for stamp in version) <= WHOLE_BYTES


_DIGESTS = _Digests()
