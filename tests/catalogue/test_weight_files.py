"""A checkpoint's weights that are missing, cut or a pointer are found by their headers, in one sentence each."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from gigavqa.catalogue.checkpoints import folder_checkpoint
from gigavqa.catalogue.errors import CheckpointInvalidError
from gigavqa.catalogue.weight_files import require_weight_files

SHARDS = [f"model-0000{number}-of-00003.safetensors" for number in (1, 2, 3)]
FIRST = SHARDS[0]
INDEX = "model.safetensors.index.json"
WHOLE = "put the published checkpoint's files there, whole"
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 4806904\n"
TERABYTE = 10**12


def write_shards(folder: Path, *, index: bool = True) -> Path:
    """Write three files of weights, each of one tensor, and their index."""
    for name in SHARDS:
        save_file({name: np.zeros((64, 64), np.float32)}, folder / name, metadata={"format": "pt"})
    if index:
        (folder / INDEX).write_text(json.dumps({"weight_map": {name: name for name in SHARDS}}))
    return folder


def write_header(file: Path, header: bytes) -> None:
    """Write a file of nothing but a header and its length."""
    file.write_bytes(len(header).to_bytes(8, "little") + header)


def require_whole(folder: Path) -> None:
    """All that `gigavqa up` and a worker ask of the files, before vLLM is imported."""
    folder_checkpoint(folder).require_whole()
    require_weight_files(folder, {})


@pytest.mark.parametrize("index", [True, False], ids=["with an index", "without"])
def test_weights_that_are_whole_are_taken(tmp_path: Path, *, index: bool) -> None:
    """In several files or one, and in formats that no header tells of."""
    require_whole(write_shards(tmp_path, index=index))
    (tmp_path / "other").mkdir()
    save_file({"one": np.zeros(3, np.int8)}, tmp_path / "other" / "model.safetensors")
    require_whole(tmp_path / "other")
    (tmp_path / "other" / "model.safetensors").rename(tmp_path / "other" / "pytorch_model.bin")
    require_whole(tmp_path / "other")


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "a pointer": (
        lambda folder: (folder / FIRST).write_bytes(POINTER),
        "{first}: a pointer of Git LFS .* `git lfs pull`",
    ),
    "a tokenizer's pointer": (
        lambda folder: (folder / "tokenizer.json").write_bytes(POINTER),
        "{folder}/tokenizer.json: a pointer of Git LFS .* `git lfs pull` in {folder}",
    ),
    "none": (lambda folder: [(folder / name).unlink() for name in SHARDS], "{folder}: no weights are there"),
    "a shard that is missing": (
        lambda folder: (folder / FIRST).unlink(),
        "{first}: 1 of the 3 files of its weights are missing",
    ),
    "a shard that is missing, without an index": (
        lambda folder: [(folder / name).unlink() for name in (INDEX, FIRST)],
        "{first}: 1 of the 3 files of its weights are missing",
    ),
    "a link to nowhere": (
        lambda folder: [(folder / FIRST).unlink(), (folder / FIRST).symlink_to(folder / "gone")],
        "{first}: 1 of the 3 files of its weights are missing",
    ),
    "an end that was cut": (
        lambda folder: (folder / FIRST).write_bytes((folder / FIRST).read_bytes()[:-1]),
        "{first}: 16,[0-9]+ bytes, and its header tells of 16,[0-9]+: it was cut or changed",
    ),
    "a file that was cut in its header": (
        lambda folder: (folder / FIRST).write_bytes((folder / FIRST).read_bytes()[:40]),
        "{first}: 40 bytes end in its header: it was cut or changed",
    ),
    "a header that claims more than the file has": (
        lambda folder: write_header(
            folder / FIRST,
            json.dumps({"x": {"dtype": "I8", "shape": [TERABYTE], "data_offsets": [0, TERABYTE]}}).encode(),
        ),
        "{first}: [0-9]+ bytes, and its header tells of 1,000,000,000,[0-9]+: it was cut",
    ),
    "more than its header tells of": (
        lambda folder: (folder / FIRST).write_bytes((folder / FIRST).read_bytes() + b"\0"),
        "{first}: 16,[0-9]+ bytes, and its header tells of",
    ),
    "an empty file": (lambda folder: (folder / FIRST).write_bytes(b""), "{first}: no file of safetensors"),
    "a page of a server": (
        lambda folder: (folder / FIRST).write_bytes(b"<!DOCTYPE html><p>Sign in"),
        "{first}: no file of safetensors",
    ),
    "a header that is no JSON": (
        lambda folder: write_header(folder / FIRST, b"{..."),
        "{first}: its header tells of no",
    ),
    "a header without offsets": (
        lambda folder: write_header(folder / FIRST, b'{"x": {"dtype": "I8"}}'),
        "{first}: its header tells of no tensors",
    ),
    "an index without files": (
        lambda folder: (folder / INDEX).write_text('{"weight_map": ["model"]}'),
        "{folder}/" + INDEX + ": weight_map names no files",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_weights_that_are_not_whole_are_refused_with_file_and_remedy(tmp_path: Path, damage: str) -> None:
    """In one sentence."""
    inflict, said = DAMAGES[damage]
    inflict(write_shards(tmp_path))
    with pytest.raises(CheckpointInvalidError, match=said.format(first=tmp_path / FIRST, folder=tmp_path)) as caught:
        require_whole(tmp_path)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith((WHOLE, f"`git lfs pull` in {tmp_path}"))


def test_nothing_but_headers_is_read(tmp_path: Path) -> None:
    """A hundred files of a terabyte each, which are holes."""
    tensor = {"dtype": "I8", "shape": [TERABYTE], "data_offsets": [0, TERABYTE]}
    header = json.dumps({"weight": tensor}).encode()
    for number in range(1, 101):
        file = tmp_path / f"model-{number:05}-of-00100.safetensors"
        write_header(file, header)
        with file.open("r+b") as opened:
            opened.truncate(8 + len(header) + TERABYTE)
    require_whole(tmp_path)


def test_weights_that_vllm_does_not_load_from_these_files_are_not_asked_for(tmp_path: Path) -> None:
    """`--engine-arg load_format=dummy` needs none."""
    require_weight_files(tmp_path, {"load_format": "dummy"})
