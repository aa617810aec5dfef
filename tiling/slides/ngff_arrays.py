"""The headers of Zarr arrays, version 2 and 3: shape, samples and chunks, without a library that decodes them."""

import json
import re
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

from gigavqa.tiling.errors import ImageUnreadableError, ImageUnsupportedError
from gigavqa.tiling.pixel_types import SampleKind

_MOST_BYTES = 16 * 2**20
_MOST_CHUNK_BYTES = 64 * 2**20  # each thread that decodes holds one
_KINDS: dict[str, tuple[SampleKind, str]] = {
    "u": ("unsigned", "uint"),
    "i": ("signed", "int"),
    "f": ("floating point", "float"),
}
_MOST_SIDE = 2**31


class ArrayHeader(NamedTuple):
    """An array's shape, the shape of what is decoded at once, and its samples: `uint16`."""

    shape: tuple[int, ...]
    chunks: tuple[int, ...]
    dtype: str
    bits: int
    kind: SampleKind


def read_array_header(store: Path, name: str) -> ArrayHeader:
    """Read the header of an array in a store.

    Raises ImageUnreadableError for one that is not there or is none, and ImageUnsupportedError for samples that are no
    numbers and chunks too large to read a part of the image.
    """
    try:
        header = _parse(store, store / name)
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise ImageUnreadableError(f"{store}: the metadata of its array {name} are damaged: {error}") from error
    sides = (*header.shape, *header.chunks)
    if len(header.shape) != len(header.chunks) or not sides or not all(0 < side < _MOST_SIDE for side in sides):
        raise ImageUnreadableError(f"{store}: its array {name} has the shape {header.shape} in {header.chunks}")
    size = prod(header.chunks) * header.bits // 8
    if size > _MOST_CHUNK_BYTES:
        raise ImageUnsupportedError(
            f"{store}: chunks of {'x'.join(map(str, header.chunks))} ({size} bytes) are too large to read a part of "
            "the image; write it with chunks of 256 to 2048 pixels"
        )
    return header


def _parse(store: Path, folder: Path) -> ArrayHeader:
    if (told := read_json(store, folder / "zarr.json")) is not None:
        chunks = told["chunk_grid"]["configuration"]["chunk_shape"]
        for codec in told.get("codecs", ()):
            if codec.get("name") == "sharding_indexed":
                chunks = codec["configuration"]["chunk_shape"]
        bits, kind = _samples(store, re.fullmatch(r"(u)?(int|float)(8|16|32|64)", str(told["data_type"])))
        return ArrayHeader(tuple(map(int, told["shape"])), tuple(map(int, chunks)), _dtype(bits, kind), bits, kind)
    if (told := read_json(store, folder / ".zarray")) is not None:
        found = re.fullmatch(r"[<>|]([uif])([1248])", str(told["dtype"]))
        if found is None:
            raise ImageUnsupportedError(f"{store}: samples of type {told['dtype']} are not served")
        bits, kind = 8 * int(found[2]), _KINDS[found[1]][0]
        shape, chunks = tuple(map(int, told["shape"])), tuple(map(int, told["chunks"]))
        return ArrayHeader(shape, chunks, _dtype(bits, kind), bits, kind)
    raise ImageUnreadableError(f"{store}: its array {folder.relative_to(store)} is missing")


def _samples(store: Path, found: re.Match[str] | None) -> tuple[int, SampleKind]:
    if found is None:
        raise ImageUnsupportedError(f"{store}: its samples are no integers or floating-point numbers")
    kind: SampleKind = "unsigned" if found[1] else "signed" if found[2] == "int" else "floating point"
    return int(found[3]), kind


def _dtype(bits: int, kind: SampleKind) -> str:
    return next(name for told, name in _KINDS.values() if told == kind) + str(bits)


def read_json(store: Path, path: Path) -> dict[str, Any] | None:
    """Read a file of metadata, at most 16 MiB; None where there is none. Raises ImageUnreadableError."""
    try:
        with path.open("rb") as file:
            told = json.loads(file.read(_MOST_BYTES))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise ImageUnreadableError(f"{store}: {path.relative_to(store)}: {error}") from error
    if not isinstance(told, dict):
        raise ImageUnreadableError(f"{store}: {path.relative_to(store)} holds no metadata")
    return told
