"""Tell versions of an image apart by the file system's metadata of its files, without reading them."""

import os
import select
import threading
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from blake3 import blake3

from gigavqa.tiling.errors import ImageUnsupportedError
from gigavqa.tiling.image_folders import folder_kind, main_file, walk_files

_TICK_NS = 20_000_000
"""Longer than any clock that file systems of this machine set times by stands still."""
_COARSE_TICK_NS = 2_500_000_000
"""The same of file systems that count in seconds, or in pairs of them."""
_SECOND_NS = 1_000_000_000
_MOST_KEY_BYTES = 2**20
_MOUNTS = Path("/proc/self/mountinfo")


class FileStamp(NamedTuple):
    """The file system's metadata of a file. Programs can set `modified_ns` back, and `changed_ns` only forward."""

    name: str
    device: int
    inode: int
    size: int
    modified_ns: int
    changed_ns: int


FileVersion = tuple[FileStamp, ...]
"""The stamps of an image's files, the named one first; of a Zarr store, of its metadata and of all its files in one."""

_MOST_STORED_FILES = 200_000


def is_one_of_several(name: str) -> bool:
    """Return whether an image of this name may have files beside it."""
    return name.lower().endswith((".mrxs", ".dcm", ".vms", ".vmu"))


def may_have_companions(path: Path) -> bool:
    """Return whether an image of this name may have files beside it, or is a folder of them."""
    return is_one_of_several(path.name) or path.is_dir()


def files_of(path: Path) -> tuple[Path, ...]:
    """Return the files that hold an image.

    Itself, and of slides of several files those beside it that OpenSlide may read; of a folder, all in it, the one that
    tells what it holds first. Raises ImageUnsupportedError where a Zarr store has too many files to look at each.
    """
    if (kind := folder_kind(path)) is not None:
        first = main_file(path)
        found = _stored_files(path) if kind == "zarr" else _files_in(path)
        return (first, *sorted(set(found) - {first}))
    match path.suffix.lower():
        case ".mrxs":
            beside = _files_in(path.with_suffix(""))
        case ".dcm":
            beside = _files_in(path.parent)  # a series is found by what the files say, not by their names
        case ".vms" | ".vmu":
            beside = _files_named_in(path)
        case _:
            return (path,)
    return (path, *sorted(set(beside) - {path}))


def version_of(path: Path) -> FileVersion:
    """Look at the files of an image. Raises OSError."""
    if folder_kind(path) == "zarr":
        return _store_version(path)
    return tuple(stamp_of(file.stat(), file.relative_to(path.parent).as_posix()) for file in files_of(path))


def is_settled(version: FileVersion) -> bool:
    """Return whether a change from now on would give another version.

    A file system's clock may stand still for a moment.
    """
    return seconds_until_settled(version) == 0


def seconds_until_settled(version: FileVersion) -> float:
    """Return how long it takes until then."""
    now = time.time_ns()
    return max(_unsettled_ns(now - stamp.changed_ns, stamp) for stamp in version) / 1e9


def is_unambiguous(version: FileVersion) -> bool:
    """Return whether no other file will ever have this version.

    Not so where changes are counted in seconds: in an image of files (squashfs, ISO 9660), which keeps no time of
    change, and of which another may be mounted in its place.
    """
    return all(stamp.changed_ns % _SECOND_NS for stamp in version)


def mounts() -> int:
    """Return a number that is another one whenever anything was mounted or unmounted since, in this process."""
    return _mount_table(os.getpid()).count()


class _MountWatch:
    """The kernel tells whoever holds the table open that it changed, once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 1
        self._poll: select.poll | None = None
        if _MOUNTS.exists():
            self._file = _MOUNTS.open("rb")
            self._poll = select.poll()
            self._poll.register(self._file, select.POLLPRI)

    def count(self) -> int:
        with self._lock:
            # Where there is no table, nothing is known of it.
            self._count += self._poll is None or bool(self._poll.poll(0))
            return self._count


@cache
def _mount_table(process: int) -> _MountWatch:
    """One for each process: of two that share an open file, the kernel tells one."""
    return _MountWatch()


def _unsettled_ns(age: int, stamp: FileStamp) -> int:
    tick = _TICK_NS if stamp.changed_ns % _SECOND_NS else _COARSE_TICK_NS
    if age < -_COARSE_TICK_NS:  # by a file server's clock that goes wrong, which says nothing
        return 0
    return min(tick, max(0, tick - age))


def stamp_of(stat: os.stat_result, name: str) -> FileStamp:
    """Return what was said of the file that an image calls so."""
    return FileStamp(name, stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)


def _stored_files(store: Path) -> list[Path]:
    found = [Path(entry.path) for entry, _ in zip(walk_files(store), range(_MOST_STORED_FILES + 1), strict=False)]
    _require_few(store, len(found))
    return found


def _require_few(store: Path, count: int) -> None:
    if count > _MOST_STORED_FILES:
        raise ImageUnsupportedError(
            f"{store}: has more than {_MOST_STORED_FILES:,} files, each of which is looked at to notice changes; write "
            "it in shards (Zarr 3) or in larger chunks"
        )


def _store_version(store: Path) -> FileVersion:
    """Return the stamp of a store's metadata, and one of all its files whose name digests the stamps of each."""
    digest, count, size, modified, changed = blake3(), 0, 0, 0, 0
    for entry in walk_files(store):
        stat = entry.stat()
        count, size = count + 1, size + stat.st_size
        _require_few(store, count)
        modified, changed = max(modified, stat.st_mtime_ns), max(changed, stat.st_ctime_ns)
        digest.update(repr((entry.path, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)).encode())
    first, folder = main_file(store), store.stat()
    every = FileStamp(digest.hexdigest(), folder.st_dev, folder.st_ino, size, modified, changed)
    return stamp_of(first.stat(), first.relative_to(store.parent).as_posix()), every


def _files_in(folder: Path) -> Iterator[Path]:
    return (file for file in folder.iterdir() if file.is_file()) if folder.is_dir() else iter(())


def _files_named_in(path: Path) -> Iterator[Path]:
    """Return the files beside a key file that it names as values."""
    with path.open(encoding="latin-1") as file:
        lines = file.read(_MOST_KEY_BYTES).splitlines()
    values = (line.partition("=")[2].strip() for line in lines)
    named = (path.parent / value for value in values if value and Path(value).name == value and "\0" not in value)
    return (file for file in named if file.is_file())
