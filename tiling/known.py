"""What is known of files already, and how errors about them reach people who have no business with where they lie."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from tiling.errors import TilingError
from tiling.levels import Reading, reading_of
from tiling.recipes import Identity, identify
from tiling.sources import open_source


def known_identity(path: Path) -> Identity:
    """An image's identity, remembered for as long as the file's size and time stay the same."""
    return _identity(path, *_times(path))


def known_reading(path: Path) -> Reading:
    """How an image is read, remembered likewise."""
    return _reading(path, *_times(path))


@contextmanager
def naming(image: str, path: Path, pyramids: Path) -> Iterator[None]:
    """Let errors about the file at `path`, or about its pyramid, call it by the image's name."""
    try:
        yield
    except TilingError as error:
        told = str(error).replace(str(path), image).replace(f"{pyramids}/", "the pyramid ")
        raise type(error)(told) from error


def _times(path: Path) -> tuple[int, int]:
    stat = path.stat()
    return stat.st_size, stat.st_mtime_ns


@lru_cache(maxsize=4096)
def _identity(path: Path, size_bytes: int, mtime_ns: int) -> Identity:
    return identify(path)


@lru_cache(maxsize=4096)
def _reading(path: Path, size_bytes: int, mtime_ns: int) -> Reading:
    with open_source(path) as source:
        return reading_of(source)
