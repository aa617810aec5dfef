"""What is known of files already, and how errors about them reach people who have no business with where they lie."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import _lru_cache_wrapper, lru_cache
from pathlib import Path
from typing import TypeVar

from tiling.digest import has_digest
from tiling.errors import ImageChangedError, TilingError
from tiling.levels import Reading, reading_of
from tiling.recipes import Identity, identify
from tiling.sources import open_source
from tiling.versions import Version, is_settled, version_of

_Told = TypeVar("_Told")
_Seen = Version | str | None
"""What tells whether a file is still the same: its version, or the digest by which it is named; None: it is gone."""


def known_identity(path: Path, named: str | None = None) -> Identity:
    """An image's identity, remembered for as long as its file stays the same; `named` by its digest, it always does.

    Raises TilingError subclasses; ImageChangedError where the file changed meanwhile.
    """
    return _remembered(_identity, path, named)


def known_reading(path: Path, named: str | None = None, *, is_ours: bool = False) -> Reading:
    """How an image is read, or a pyramid that `is_ours`, remembered likewise."""
    return _remembered(_reading, path, named, is_ours)


def is_unchanged(path: Path, digest: str) -> bool:
    """Whether the file is still the one whose content had this digest."""
    try:
        return known_identity(path).digest == digest
    except (TilingError, OSError):
        return False


def is_recorded(path: Path, digest: str) -> bool:
    """Whether the file is the one that a response recorded by this digest, be it of an earlier release."""
    return _remembered(_is_recorded, path, None, digest)


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


def _seen(path: Path, named: str | None) -> _Seen:
    try:
        return named if named and path.is_file() else version_of(path)
    except FileNotFoundError:
        return None


def _remembered(look: "_lru_cache_wrapper[_Told]", path: Path, named: str | None, *more: object) -> _Told:
    """What is told of a file as it is now; a file that may change without a trace is looked at again."""
    seen = _seen(path, named)
    is_safe = seen is None or isinstance(seen, str) or is_settled(seen)
    return (look if is_safe else look.__wrapped__)(path, seen, *more)


@contextmanager
def _unchanging(path: Path, seen: _Seen) -> Iterator[None]:
    # What is read of two versions belongs to neither, and what is wrong with half a file may be right with the whole.
    named = seen if isinstance(seen, str) else None
    try:
        yield
    except (TilingError, OSError) as error:
        if _seen(path, named) != seen:
            raise changed(path) from error
        raise
    if _seen(path, named) != seen:
        raise changed(path)


@lru_cache(maxsize=4096)
def _identity(path: Path, seen: _Seen) -> Identity:
    with _unchanging(path, seen):
        return identify(path, seen if isinstance(seen, str) else None)


@lru_cache(maxsize=4096)
def _reading(path: Path, seen: _Seen, is_ours: bool) -> Reading:
    with _unchanging(path, seen), open_source(path) as source:
        return reading_of(source, is_ours=is_ours)


@lru_cache(maxsize=4096)
def _is_recorded(path: Path, seen: _Seen, digest: str) -> bool:
    with _unchanging(path, seen):
        return has_digest(path, digest)
