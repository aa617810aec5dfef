"""Pack bundles and responses for the state store: JSON under zstd."""

import threading
from typing import TypeVar

import zstandard
from pydantic import BaseModel

ModelT = TypeVar("ModelT", bound=BaseModel)

_LEVEL = 3
_local = threading.local()  # (de)compressors are costly to make and must not be shared between threads


def pack(model: BaseModel) -> bytes:
    """Pack a model; `unpack` gives an equal one."""
    return compress(model.model_dump_json().encode())


def unpack(kind: type[ModelT], packed: bytes) -> ModelT:
    """Unpack what `pack` made of a model of this class."""
    return kind.model_validate_json(decompress(packed))


def compress(raw: bytes) -> bytes:
    """Compress bytes at a level that costs tens of microseconds a response."""
    if not hasattr(_local, "compressor"):
        _local.compressor = zstandard.ZstdCompressor(level=_LEVEL)
    packed: bytes = _local.compressor.compress(raw)
    return packed


def decompress(packed: bytes) -> bytes:
    """Undo `compress`."""
    if not hasattr(_local, "decompressor"):
        _local.decompressor = zstandard.ZstdDecompressor()
    raw: bytes = _local.decompressor.decompress(packed)
    return raw
