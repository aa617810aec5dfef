"""Writes tiled BigTIFFs: tiles in any order, each stored once wherever it stands, then a directory a level.

Source: BigTIFF's specification.
"""

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gigavqa.demo.canvas import replacing
from gigavqa.tiling.geometry import Size

TiffTag = tuple[int, str, Sequence[int] | NDArray[np.uint64]]
"""Number, type as `_TYPES` names it, and values; a rational number's value is `rational`'s."""
_TYPES = {"ascii": (2, "u1"), "short": (3, "<u2"), "long": (4, "<u4"), "rational": (5, "<u8"), "long8": (16, "<u8")}
_ENTRY, _INLINE = 20, 8


def rational(numerator: int, denominator: int) -> int:
    """Return a fraction as one value: its numerator in the lower half, its denominator in the upper one."""
    return numerator + (denominator << 32)


class PyramidLevel(NamedTuple):
    """A level's size, and which of the stored tiles stands at each place of it, by row and column."""

    size: Size
    numbers: NDArray[np.uint32]


class PyramidFile:
    """A pyramid that is being written; in memory are the places of its tiles alone."""

    def __init__(self, file: BinaryIO, size: Size, tile: int, step: int, smallest: int) -> None:
        self._file, self._tile = file, tile
        self._starts: list[int] = []
        self._lengths: list[int] = []
        self.levels: list[PyramidLevel] = []
        while not self.levels or max(self.levels[-1].size) > smallest:
            self.levels.append(
                PyramidLevel(size, np.zeros((-(-size.height // tile), -(-size.width // tile)), np.uint32))
            )
            size = Size(size.width // step, size.height // step)
        file.write(struct.pack("<2sHHHQ", b"II", 43, 8, 0, 0))

    def add(self, encoded: bytes) -> int:
        """Store a tile, and return its number."""
        self._starts.append(self._file.seek(0, 2))
        self._lengths.append(self._file.write(encoded))
        return len(self._starts) - 1

    def read(self, number: int) -> bytes:
        """Return a tile that was stored."""
        self._file.seek(self._starts[number])
        return self._file.read(self._lengths[number])

    def finish(self, tags_of: Callable[[int], Sequence[TiffTag]]) -> None:
        """Write the directories, with the tags that a level has for its tiles' encoding and whatever else."""
        starts, lengths = np.array(self._starts, np.uint64), np.array(self._lengths, np.uint64)
        link = 8
        for level, (size, numbers) in enumerate(self.levels):
            places = numbers.ravel()
            tags: list[TiffTag] = [
                (254, "long", [1 if level else 0]), (256, "long", [size.width]), (257, "long", [size.height]),
                (258, "short", [8, 8, 8]), (277, "short", [3]), (284, "short", [1]), (305, "ascii", b"gigavqa\0"),
                (322, "short", [self._tile]), (323, "short", [self._tile]),
                _smallest(324, starts[places]), _smallest(325, lengths[places]), *tags_of(level),
            ]  # fmt: skip
            link = _write_directory(self._file, sorted(tags, key=lambda tag: tag[0]), link)


@contextmanager
def new_pyramid(path: Path, size: Size, tile: int, step: int = 2, smallest: int = 2048) -> Iterator[PyramidFile]:
    """Give a pyramid of square tiles that takes its place at `path` once the block has ended well.

    Each level is smaller than the last by `step`; the last one has at most `smallest` pixels a side.
    """
    with replacing(path) as temporary, temporary.open("w+b") as file:
        yield PyramidFile(file, size, tile, step, smallest)


def _smallest(tag: int, values: NDArray[np.uint64]) -> TiffTag:
    """Return a tag in the smallest type that holds its values."""
    return (
        tag,
        next(kind for kind in ("short", "long", "long8") if values.max() <= np.iinfo(_TYPES[kind][1]).max),
        values,
    )


def _write_directory(file: BinaryIO, tags: Sequence[TiffTag], link: int) -> int:
    """Write a directory, whose place is written at `link`; gives the place of the link to the next one."""
    entries = []
    for tag, kind, values in tags:
        number, form = _TYPES[kind]
        packed = np.asarray([*values] if isinstance(values, bytes) else values, form).tobytes()
        if len(packed) > _INLINE:
            file.seek(file.seek(0, 2) + file.tell() % 2)
            place = file.tell()
            file.write(packed)
            packed = struct.pack("<Q", place)
        entries.append(struct.pack("<HHQ8s", tag, number, len(values), packed))
    start = file.seek(0, 2)
    file.write(struct.pack("<Q", len(entries)) + b"".join(entries) + bytes(_INLINE))
    file.seek(link)
    file.write(struct.pack("<Q", start))
    return start + _INLINE + _ENTRY * len(entries)
