"""Names for the content of images: of all their bytes, read once for each version of a file."""

import hashlib
import os
import re
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from blake3 import blake3
from cachetools import LRUCache

from gigavqa.tiling.decode_threads import decode_pool
from gigavqa.tiling.files import FilePart, OpenFile, image_changed_error, write_whole
from gigavqa.tiling.opening import open_file
from gigavqa.tiling.versions import FileVersion, is_settled, is_unambiguous

WHOLE_BYTES = 256 * 2**20  # decision 0007
"""Up to so many bytes all are digested; the digests of larger images depend on it."""
DIGEST_PATTERN = r"(?:[0-9a-f]{64}|v?[0-9a-f]{32})"
"""A pattern of all digests that responses and pyramids were named by, those of earlier releases among them."""

_PIECES_CONTEXT = "gigavqa 2026-11-24 pieces of an image"
_PIECE_BYTES = 8 * 2**20
_BLOCK_BYTES = 256 * 1024
_DIGEST_VERSION = 1  # counts changes that give other digests of the same file
_SAMPLED_DIGEST_LENGTH = 32
_SAMPLES = 16  # whole reads cost more than views: decision 0007
_SAMPLE_BYTES = 64 * 1024
_MOST_SAMPLED_FILES = 256
_LEAST_KEPT_BYTES = 2**20  # less is digested sooner than looked up
_MAX_CACHED = 16384
_LOCKS = 64


def content_digest(path: Path) -> str:
    """Name the content of an image: no two different contents have one name.

    It is BLAKE3 of all bytes, in pieces of 8 MiB where there are more; and of the names too of a slide of several
    files. Beyond `WHOLE_BYTES` it is `v` and 32 digits, which name this version of this file: its name, inode, size,
    times and 16 samples; a copy has another. What was digested once is not read again while it stays the same
    (`store_digests`).

    Blocks. Raises ImageNotFoundError, ImageUnreadableError, ImageChangedError where the file does not stay the same
    meanwhile, and OSError.
    """
    with open_file(path) as file:
        return digest_of(file)


def digest_of(file: OpenFile) -> str:
    """Name the content of an open file, likewise; of a file elsewhere it names the version."""
    return file.stated_digest or _DIGEST_CACHE.of(file)


def require_content(file: OpenFile, digest: str) -> None:
    """Raise ImageChangedError where an open file has another content; what changes from now on will show.

    Blocks, if for a moment only where the content is known.
    """
    file.settle()
    if digest_of(file) != digest:
        raise image_changed_error(file.path)


def renew_digest(path: Path) -> bool:
    """Read anew what is digested whole and was once; returns whether the digest that was kept was of another content.

    So it is where somebody wrote through a mapping and no time of the file changed. Blocks, and raises as above.
    """
    with open_file(path) as file:
        return not file.is_remote and _DIGEST_CACHE.renew(file)


UNSEEN_CHANGE_MESSAGE = (
    "its content is another one, though no time of the file changed; `touch` it: services then look again"
)
"""What a person should know of a file whose digest was renewed."""


def matches_digest(path: Path, digest: str) -> bool:
    """Return whether a file is what somebody recorded by this digest, be it of an earlier release.

    Raises as that does.
    """
    with open_file(path) as file, file.unchanging():
        return file_matches_digest(file, digest)


def file_matches_digest(file: OpenFile, digest: str) -> bool:
    """Return the same of an open file."""
    if file.is_remote or not is_sampled_digest(digest):
        return digest_of(file) == digest
    stamp = file.version[0]
    alone = FilePart("", file, stamp.size)
    return _DIGEST_CACHE.sampled([alone], f"{stamp.size}:{stamp.modified_ns}") == digest


def is_sampled_digest(digest: str) -> bool:
    """Return whether a digest is of an earlier release, which read samples.

    Different contents of equal size may share it.
    """
    return len(digest) == _SAMPLED_DIGEST_LENGTH


def store_digests(folder: Path | None) -> None:
    """Keep the digests that this process makes, and facts that it finds out, in a folder.

    For the next process, and for others of the machine; nowhere without one.
    """
    _DIGEST_CACHE.folder = folder


def digest_folder() -> Path | None:
    """Return where digests and facts are kept, if anywhere."""
    return _DIGEST_CACHE.folder


def write_fact(place: Path, text: str) -> None:
    """Keep what is known of a file, whole or not at all; a disk that takes nothing costs the next process its time."""
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        write_whole(place, text)


def digested_bytes() -> int:
    """Bytes that this process has read so far to name contents."""
    return _DIGEST_CACHE.bytes_read


class _DigestCache:
    """Digests by path and version, in memory and in `folder`. Thread- and process-safe; one file is read by one."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        self.bytes_read = 0
        self._known: LRUCache[tuple[Path, FileVersion, int], str] = LRUCache(_MAX_CACHED)
        self._lock = threading.Lock()
        self._turns = [threading.Lock() for _ in range(_LOCKS)]

    def of(self, file: OpenFile) -> str:
        with self._turns[hash(file.path) % _LOCKS]:
            if not _is_small(file.version):
                file.settle()
            return self._recall(file) or self._make(file)

    def renew(self, file: OpenFile) -> bool:
        if not _is_small(file.version) or (known := self._recall(file)) is None:
            return False
        file.settle()
        return self._make(file) != known

    def sampled(self, parts: Sequence[FilePart], facts: str) -> str:
        """Digest 16 blocks of 64 KiB, evenly spaced from first byte to last, and what else is known.

        Of several files at least one of each; of very many, one of each of 16.
        """
        digest = hashlib.blake2b(facts.encode(), digest_size=_SAMPLED_DIGEST_LENGTH // 2)
        if len(parts) > _MOST_SAMPLED_FILES:
            parts = parts[:: -(-len(parts) // _SAMPLES)]
        samples = max(1, _SAMPLES // len(parts))
        for each in parts:
            with open(each.file, "rb") as file:  # noqa: PTH123 - a path of its own, or a descriptor's
                step = max(_SAMPLE_BYTES, (os.fstat(file.fileno()).st_size - _SAMPLE_BYTES) / max(1, samples - 1))
                for index in range(samples):
                    file.seek(round(index * step))
                    digest.update(block := file.read(_SAMPLE_BYTES))
                    self._count(len(block))
        return digest.hexdigest()

    def _make(self, file: OpenFile) -> str:
        settled = is_settled(file.version)
        with file.unchanging():
            digest = self._whole(file) if _is_small(file.version) else self._of_version(file)
        if settled:
            self._remember(file, digest)
        return digest

    def _of_version(self, file: OpenFile) -> str:
        facts = ":".join(str((s.name, s.inode, s.size, s.modified_ns, s.changed_ns)) for s in file.version)
        return f"v{self.sampled(file.parts, facts)}"

    def _whole(self, file: OpenFile) -> str:
        parts = file.parts
        pieces = [(part.file, start) for part in parts for start in range(0, part.size, _PIECE_BYTES)]
        if len(pieces) <= 1 and len(parts) == 1:
            return self._piece((file, 0)).hex()
        digests = decode_pool().map(self._piece, pieces)
        # In a mode of its own, so that no single piece has the digest of several.
        digest = blake3(derive_key_context=_PIECES_CONTEXT)
        for part in parts:
            name = part.name if len(parts) > 1 else ""
            digest.update(f"{name}\0{part.size}\0".encode(errors="surrogateescape"))
            for _ in range(0, part.size, _PIECE_BYTES):
                digest.update(next(digests))
        return digest.hexdigest()

    def _piece(self, piece: tuple[OpenFile | Path, int]) -> bytes:
        """Digest a file from a place on; smaller blocks stay in a core's own cache."""
        path, start = piece
        digest, block, left = blake3(), memoryview(bytearray(_BLOCK_BYTES)), _PIECE_BYTES
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123
            file.seek(start)
            while left and (length := file.readinto(block[:left])):
                digest.update(block[:length])
                left -= length
        self._count(_PIECE_BYTES - left)
        return digest.digest()

    def _count(self, num_bytes: int) -> None:
        with self._lock:
            self.bytes_read += num_bytes

    def _recall(self, file: OpenFile) -> str | None:
        with self._lock:
            known = self._known.get(file.key)
        if known is None and (place := self._place(file)):
            with suppress(OSError, UnicodeDecodeError):
                text = place.read_text("ascii")
                if re.fullmatch(DIGEST_PATTERN, text):
                    os.utime(place)  # used just now
                    known = text
                    self._learn(file, known)
        return known

    def _learn(self, file: OpenFile, digest: str) -> None:
        with self._lock:
            self._known[file.key] = digest

    def _remember(self, file: OpenFile, digest: str) -> None:
        self._learn(file, digest)
        if place := self._place(file):
            write_fact(place, digest)

    def _place(self, file: OpenFile) -> Path | None:
        version = file.version
        is_worth_it = sum(stamp.size for stamp in version) >= _LEAST_KEPT_BYTES
        if self.folder is None or not is_worth_it or not is_unambiguous(version):
            return None
        # Without the device: its number is another one after the next start of a machine.
        stamps = [(*stamp[:1], *stamp[2:]) for stamp in version]
        name = hashlib.blake2b(
            repr((_DIGEST_VERSION, WHOLE_BYTES, str(file.path), stamps)).encode(), digest_size=16
        ).hexdigest()
        return self.folder / name[:2] / f"{name}.digest"


def _is_small(version: FileVersion) -> bool:
    return sum(stamp.size for stamp in version) <= WHOLE_BYTES


_DIGEST_CACHE = _DigestCache()
