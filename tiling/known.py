"""What is known of files already, and how errors about them reach people who have no business with where they lie."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from tiling.errors import ImageChangedError, TilingError
from tiling.levels import Reading, reading_of
from tiling.recipes import Identity, identify
from tiling.sources import open_source

_Version = tuple[int, int] | None
"""Size and time of a file; None where there is none."""


def known_identity(path: Path) -> Identity:
    """An image's identity, remembered for as long as the file's size and time stay the same.

    Raises TilingError subclasses; ImageChangedError where the file changed meanwhile.
    """
    return _identity(path, _version(path))


def known_reading(path: Path, *, is_ours: bool = False) -> Reading:
    """How an image is read, or a pyramid that `is_ours`, remembered likewise."""
    return _reading(path, _version(path), is_ours)


def is_unchanged(path: Path, digest: str) -> bool:
    """Whether the file is still the one whose content had this digest."""
    try:
        return known_identity(path).digest == digest
    except (TilingError, OSError):
        return False


def changed(path: Path) -> ImageChangedError:
    """What is said of a file that did not stay the same."""
    return ImageChangedError(f"{path}: the image was replaced while it was being read")


@contextmanager
def naming(image: str, path: Path, pyramids: Path) -> Iterator[None]:
    """Let errors about the file at `path`, or about its pyramid, call it by the image's name."""
    try:
        yield
    except TilingError as error:
        told = str(error).replace(str(path), image).replace(f"{pyramids}/", "the pyramid ")
        raise type(error)(told) from error


def _version(path: Path) -> _Version:
    try:
        stat = path.stat()
    except FileNotFoundError:
        return None
    return stat.st_size, stat.st_mtime_ns


@contextmanager
def _unchanging(path: Path, version: _Version) -> Iterator[None]:
    # What is read of two versions belongs to neither, and what is wrong with half a file may be right with the whole.
    try:
        yield
    except (TilingError, OSError) as error:
        if _version(path) != version:
            raise changed(path) from error
        raise
    if _version(path) != version:
        raise changed(path)


@lru_cache(maxsize=4096)
def _identity(path: Path, version: _Version) -> Identity:
    with _unchanging(path, version):
        return identify(path)


@lru_cache(maxsize=4096)
def _reading(path: Path, version: _Version, is_ours: bool) -> Reading:
    with _unchanging(path, version), open_source(path) as source:
        return reading_of(source, is_ours=is_ours)
