"""What is known of files already, and how errors about them reach people who have no business with where they lie."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import _lru_cache_wrapper, lru_cache
from pathlib import Path
from typing import TypeVar

from tiling.digest import digest_of, is_named, require_content
from tiling.errors import ImageNotFoundError, TilingError
from tiling.files import OpenFile, changed
from tiling.levels import Reading, reading_of
from tiling.recipes import Identity, identity_of
from tiling.remarks import remarks_on
from tiling.sources import source_of
from tiling.versions import Version, is_settled, mounts, tells_versions, version_of

_Told = TypeVar("_Told")
_Seen = Version | str
"""What tells whether a file is still the same: its version, or the digest by which it is named."""


def known_identity(path: Path, named: str | None = None) -> Identity:
    """An image's identity, remembered for as long as its file stays the same; `named` by its digest, it always does.

    Raises TilingError subclasses; ImageChangedError where the file changed meanwhile.
    """
    return _remembered(_identity, path, named)


def known_reading(path: Path, named: str | None = None, *, digest: str | None = None, is_ours: bool = False) -> Reading:
    """How an image is read, or a pyramid that `is_ours`, remembered likewise.

    Raises ImageChangedError, too, where its content is not that of `digest`.
    """
    return _remembered(_reading, path, named, digest, is_ours)


def known_remarks(path: Path) -> tuple[str, ...]:
    """What people should know of an image's file, and of how its levels are read; sentences go on from its name."""
    return remarks_on(path) + known_reading(path).remarks


def is_recorded(path: Path, digest: str, content: str) -> bool:
    """Whether a file of this content is the one that a response recorded by a digest, be it of an earlier release."""
    return _remembered(_is_recorded, path, None, digest, content)


@contextmanager
def naming(image: str, path: Path, pyramids: Path) -> Iterator[None]:
    """Let errors about the file at `path`, or about its pyramid, call it by the image's name."""
    try:
        yield
    except TilingError as error:
        told = str(error).replace(str(path), image).replace(f"{pyramids}/", "the pyramid ")
        raise type(error)(told) from error


def _remembered(look: "_lru_cache_wrapper[_Told]", path: Path, named: str | None, *more: object) -> _Told:
    """What is told of a file as it is now; a file that may change without a trace is looked at again."""
    try:
        seen = named if named and path.is_file() else version_of(path)
    except FileNotFoundError as error:
        raise ImageNotFoundError(f"{path}: no such file") from error
    if isinstance(seen, str):
        return look(path, seen, 0, *more)
    age = 0 if tells_versions(seen) else mounts()
    return (look if is_settled(seen) else look.__wrapped__)(path, seen, age, *more)


@contextmanager
def _opened(path: Path, seen: _Seen) -> Iterator[OpenFile]:
    """The file that was seen; what is read of any other one, or of two versions, belongs to neither."""
    with OpenFile(path) as file:
        if isinstance(seen, str):
            yield file
            return
        if file.version != seen:
            raise changed(path)
        with file.unchanging():
            yield file


@lru_cache(maxsize=4096)
def _identity(path: Path, seen: _Seen, mounted: int) -> Identity:
    with _opened(path, seen) as file:
        return identity_of(file, seen if isinstance(seen, str) else None)


@lru_cache(maxsize=4096)
def _reading(path: Path, seen: _Seen, mounted: int, digest: str | None, is_ours: bool) -> Reading:
    with _opened(path, seen) as file:
        if digest and not isinstance(seen, str):
            require_content(file, digest)
        source = source_of(file)
        with source.decoder:
            return reading_of(source, is_ours=is_ours)


@lru_cache(maxsize=4096)
def _is_recorded(path: Path, seen: _Seen, mounted: int, digest: str, content: str) -> bool:
    with _opened(path, seen) as file:
        return digest_of(file) == content and is_named(file, digest)
