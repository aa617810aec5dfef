"""Facts of files that are known already, and errors about files for people who must not see their paths."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import _lru_cache_wrapper, lru_cache
from pathlib import Path
from typing import TypeVar

from gigavqa.tiling.digest import digest_of, file_matches_digest, require_content
from gigavqa.tiling.errors import ImageNotFoundError, TilingError
from gigavqa.tiling.file_remarks import file_remarks
from gigavqa.tiling.files import OpenFile, image_changed_error
from gigavqa.tiling.levels import ReadPlan, plan_reading
from gigavqa.tiling.recipes import ImageIdentity, identity_of
from gigavqa.tiling.sources import source_of
from gigavqa.tiling.versions import FileVersion, is_settled, is_unambiguous, mounts, version_of

_Fact = TypeVar("_Fact")
_VersionKey = FileVersion | str
"""What tells whether a file is still the same: its version, or the digest by which it is named."""


def cached_identity(path: Path, named: str | None = None) -> ImageIdentity:
    """An image's identity, remembered for as long as its file stays the same; `named` by its digest, it always does.

    Raises TilingError subclasses; ImageChangedError where the file changed meanwhile.
    """
    return _recall(_identity, path, named)


def cached_read_plan(
    path: Path, named: str | None = None, *, digest: str | None = None, is_ours: bool = False
) -> ReadPlan:
    """Return how an image is read, or a pyramid that `is_ours`, remembered likewise.

    Raises ImageChangedError, too, where its content is not that of `digest`.
    """
    return _recall(_read_plan, path, named, digest, is_ours)


def cached_remarks(path: Path) -> tuple[str, ...]:
    """Return what people should know of an image's file, and of how its levels are read.

    Sentences go on from its name.
    """
    return file_remarks(path) + cached_read_plan(path).remarks


def matches_recorded_digest(path: Path, digest: str, content: str) -> bool:
    """Return whether a file of this content is the one that a response recorded by a digest, be it of an earlier
    release.
    """
    return _recall(_matches_recorded_digest, path, None, digest, content)


@contextmanager
def name_image_in_errors(image: str, path: Path, pyramids: Path) -> Iterator[None]:
    """Let errors about the file at `path`, or about its pyramid, call it by the image's name."""
    try:
        yield
    except TilingError as error:
        told = str(error).replace(str(path), image).replace(f"{pyramids}/", "the pyramid ")
        raise type(error)(told) from error


def _recall(look: "_lru_cache_wrapper[_Fact]", path: Path, named: str | None, *more: object) -> _Fact:
    """Return what is told of a file as it is now; a file that may change without a trace is looked at again."""
    try:
        seen = named if named and path.is_file() else version_of(path)
    except FileNotFoundError as error:
        raise ImageNotFoundError(f"{path}: no such file") from error
    if isinstance(seen, str):
        return look(path, seen, 0, *more)
    age = 0 if is_unambiguous(seen) else mounts()
    return (look if is_settled(seen) else look.__wrapped__)(path, seen, age, *more)


@contextmanager
def _open_version(path: Path, seen: _VersionKey) -> Iterator[OpenFile]:
    """The file that was seen; what is read of any other one, or of two versions, belongs to neither."""
    with OpenFile(path) as file:
        if isinstance(seen, str):
            yield file
            return
        if file.version != seen:
            raise image_changed_error(path)
        with file.unchanging():
            yield file


@lru_cache(maxsize=4096)
def _identity(path: Path, seen: _VersionKey, mounted: int) -> ImageIdentity:
    with _open_version(path, seen) as file:
        return identity_of(file, seen if isinstance(seen, str) else None)


@lru_cache(maxsize=4096)
def _read_plan(path: Path, seen: _VersionKey, mounted: int, digest: str | None, is_ours: bool) -> ReadPlan:
    with _open_version(path, seen) as file:
        if digest and not isinstance(seen, str):
            require_content(file, digest)
        source = source_of(file)
        with source.decoder:
            return plan_reading(source, is_ours=is_ours)


@lru_cache(maxsize=4096)
def _matches_recorded_digest(path: Path, seen: _VersionKey, mounted: int, digest: str, content: str) -> bool:
    with _open_version(path, seen) as file:
        return digest_of(file) == content and file_matches_digest(file, digest)
