"""Check that a checkpoint's weights are there whole, by the headers of its safetensors, without reading the weights.

A header says where each tensor ends in its file, and an index which files there are: a cut or missing one is found in
milliseconds, which an engine finds after half a minute, or never. Source: safetensors, docs/format.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gigavqa.catalogue.checkpoints import PUT_WHOLE
from gigavqa.catalogue.errors import CheckpointInvalidError

_INDEX = "model.safetensors.index.json"
_SHARD = re.compile(r"(.*-)(\d+)(-of-)(\d+)(\.safetensors)")
_OTHER_FORMATS = ("*.bin", "*.pt", "*.pth")
"""What vLLM takes where there is no safetensors; nothing tells cheaply whether one is whole."""
_FORMATS_OF_FILES = ("auto", "hf", "safetensors")
_LENGTH_BYTES = 8
_MOST_HEADER_BYTES = 100_000_000


def require_weight_files(folder: Path, arguments: Mapping[str, Any]) -> None:
    """Raise CheckpointInvalidError, which names the file, where weights in a folder are missing, cut or none.

    By engine arguments that have vLLM load something else (`load_format=dummy`) nothing is asked.
    """
    if arguments.get("load_format", "auto") not in _FORMATS_OF_FILES:
        return
    files = sorted(path for path in folder.glob("*.safetensors") if path.is_file())
    if not files:
        if any(any(folder.glob(pattern)) for pattern in _OTHER_FORMATS):
            return
        raise CheckpointInvalidError(f"{folder}: no weights are there (*.safetensors); {PUT_WHOLE}")
    told = _files_by_index(folder)
    wanted = set(_files_by_numbers(files)) if told is None else told
    if missing := sorted(wanted - {file.name for file in files}):
        raise CheckpointInvalidError(
            f"{folder / missing[0]}: {len(missing)} of the {len(wanted)} files of its weights are missing, this one "
            f"first; {PUT_WHOLE}"
        )
    for file in files:
        if told is None or file.name in told:
            _require_whole(file)


def _files_by_index(folder: Path) -> set[str] | None:
    """Names of the files that the index says weights are in; None where there is no index."""
    path = folder / _INDEX
    if not path.is_file():
        return None
    try:
        return {str(name) for name in json.loads(path.read_bytes())["weight_map"].values()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise CheckpointInvalidError(f"{path}: weight_map names no files; {PUT_WHOLE}") from error


def _files_by_numbers(files: list[Path]) -> Iterator[str]:
    """Names of all files of a series of which there are some: `model-00002-of-00004.safetensors`."""
    for match in filter(None, (_SHARD.fullmatch(file.name) for file in files)):
        stem, number, between, count, suffix = match.groups()
        yield from (f"{stem}{each:0{len(number)}}{between}{count}{suffix}" for each in range(1, int(count) + 1))


def _require_whole(file: Path) -> None:
    size = file.stat().st_size
    with file.open("rb") as opened:
        length = int.from_bytes(opened.read(_LENGTH_BYTES), "little")
        if size < _LENGTH_BYTES or length > _MOST_HEADER_BYTES:
            raise CheckpointInvalidError(f"{file}: no file of safetensors; {PUT_WHOLE}")
        header = opened.read(length)
    ends = size if len(header) < length else _LENGTH_BYTES + length + _end_of_data(file, header)
    if len(header) < length or ends != size:
        there = f"{size:,} bytes" + (f", and its header tells of {ends:,}" if ends != size else " end in its header")
        raise CheckpointInvalidError(f"{file}: {there}: it was cut or changed; {PUT_WHOLE}")


def _end_of_data(file: Path, header: bytes) -> int:
    """Bytes of all tensors, by the header of a file."""
    try:
        tensors: dict[str, Any] = json.loads(header)
        return max((int(one["data_offsets"][1]) for name, one in tensors.items() if name != "__metadata__"), default=0)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as error:
        raise CheckpointInvalidError(f"{file}: its header tells of no tensors; {PUT_WHOLE}") from error
