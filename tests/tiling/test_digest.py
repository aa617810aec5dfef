"""The content digest of a file."""

import os
from pathlib import Path

import pytest

from tiling.digest import content_digest

MIB = 2**20


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Eight MiB with a fixed modification time."""
    path = tmp_path / "image.bin"
    path.write_bytes(bytes(range(256)) * (8 * MIB // 256))
    os.utime(path, ns=(10**18, 10**18))
    return path


def overwrite(file: Path, offset: int) -> None:
    """Change one byte and put the time back."""
    with file.open("r+b") as stream:
        stream.seek(offset)
        stream.write(b"\xee")
    os.utime(file, ns=(10**18, 10**18))


def test_the_digest_is_stable(file: Path) -> None:
    """The same in every process and release: caches and pyramids are named by it."""
    assert content_digest(file) == "48b061984cdc6be497c18374e0ded8dc"


@pytest.mark.parametrize("offset", [0, 8 * MIB - 1])
def test_a_change_at_either_end_changes_the_digest(file: Path, offset: int) -> None:
    """The first and the last block are always sampled."""
    before = content_digest(file)
    overwrite(file, offset)
    assert content_digest(file) != before


def test_a_later_modification_time_changes_the_digest(file: Path) -> None:
    """An edit between the samples shows by its time."""
    before = content_digest(file)
    os.utime(file, ns=(10**18, 10**18 + 1))
    assert content_digest(file) != before


def test_every_byte_of_a_small_file_counts(tmp_path: Path) -> None:
    """Up to one MiB nothing is left out."""
    path = tmp_path / "small.bin"
    path.write_bytes(bytes(MIB))
    os.utime(path, ns=(10**18, 10**18))
    digests = {content_digest(path)}
    for offset in range(0, MIB, MIB // 37):
        overwrite(path, offset)
        digests.add(content_digest(path))
    assert len(digests) == 1 + len(range(0, MIB, MIB // 37))


def test_an_empty_file_has_a_digest(tmp_path: Path) -> None:
    """Whether it is an image is another question."""
    path = tmp_path / "empty.bin"
    path.touch()
    assert len(content_digest(path)) == 32
