"""Which version of an image lies on the disk, told by what the file system says of its files, without reading them."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_TICK_NS = 20_000_000
"""Longer than any clock that file systems of this machine set times by stands still."""
_COARSE_TICK_NS = 2_500_000_000
"""The same of file systems that count in seconds, or in pairs of them."""
_MOST_KEY_BYTES = 2**20


class Stamp(NamedTuple):
    """What a file system says of a file. Programs can set `modified_ns` back, and `changed_ns` only forward."""

    name: str
    device: int
    inode: int
    size: int
    modified_ns: int
    changed_ns: int


Version = tuple[Stamp, ...]
"""The stamps of an image's files, the named one first."""


def files_of(path: Path) -> tuple[Path, ...]:
    """The files that hold an image: itself, and of slides of several files those beside it that OpenSlide may read."""
    match path.suffix.lower():
        case ".mrxs":
            beside = _files_in(path.with_suffix(""))
        case ".dcm":
            beside = _files_in(path.parent)  # a series is found by what the files say, not by their names
        case ".vms" | ".vmu":
            beside = _named_in(path)
        case _:
            return (path,)
    return (path, *sorted(set(beside) - {path}))


def version_of(path: Path) -> Version:
    """Look at the files of an image. Raises OSError."""
    return tuple(_stamp(file, path) for file in files_of(path))


def is_settled(version: Version) -> bool:
    """Whether a change from now on would give another version: a file system's clock may stand still for a moment."""
    return seconds_until_settled(version) == 0


def seconds_until_settled(version: Version) -> float:
    """How long it takes until then."""
    now = time.time_ns()
    return max(_unsettled_ns(now - stamp.changed_ns, stamp) for stamp in version) / 1e9


def _unsettled_ns(age: int, stamp: Stamp) -> int:
    tick = _TICK_NS if stamp.changed_ns % 1_000_000_000 else _COARSE_TICK_NS
    if age < -_COARSE_TICK_NS:  # by a file server's clock that goes wrong, which says nothing
        return 0
    return min(tick, max(0, tick - age))


def _stamp(file: Path, image: Path) -> Stamp:
    stat = file.stat()
    name = file.relative_to(image.parent).as_posix()
    return Stamp(name, stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)


def _files_in(folder: Path) -> Iterator[Path]:
    return (file for file in folder.iterdir() if file.is_file()) if folder.is_dir() else iter(())


def _named_in(path: Path) -> Iterator[Path]:
    """The files beside a key file that it names as values."""
    with path.open(encoding="latin-1") as file:
        lines = file.read(_MOST_KEY_BYTES).splitlines()
    values = (line.partition("=")[2].strip() for line in lines)
    named = (path.parent / value for value in values if value and Path(value).name == value and "\0" not in value)
    return (file for file in named if file.is_file())
