"""Facts of files that are known already, and errors about files for people who must not see their paths."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import _lru_cache_wrapper, lru_cache
from pathlib import Path
from typing import NamedTuple, TypeVar

from pydantic import TypeAdapter

from gigavqa.tiling.digest import digest_of, file_matches_digest, require_content
from gigavqa.tiling.displays.display import parse_display
from gigavqa.tiling.displays.tone import Limits, Tone
from gigavqa.tiling.displays.tones import SampledPixels, check_display, find_limits, find_tone, needs_limits
from gigavqa.tiling.errors import ImageNotFoundError, TilingError
from gigavqa.tiling.file_remarks import file_remarks
from gigavqa.tiling.files import OpenFile, image_changed_error
from gigavqa.tiling.geometry import resolve_region
from gigavqa.tiling.image_part import WHOLE, ImagePart
from gigavqa.tiling.level_comparison import LevelAgreement, compare_levels
from gigavqa.tiling.levels import ReadPlan, plan_reading
from gigavqa.tiling.opening import open_file, pinned_digest
from gigavqa.tiling.recipes import ImageIdentity, identity_of
from gigavqa.tiling.sources import native_source_of, source_of
from gigavqa.tiling.statistics import sample_pixels
from gigavqa.tiling.stored_facts import StoredFact
from gigavqa.tiling.versions import FileVersion, is_settled, is_unambiguous, mounts, version_of

_Fact = TypeVar("_Fact")
_VersionKey = FileVersion | str
"""What tells whether a file is still the same: its version, or the digest by which it is named."""


_LIMITS, _AGREEMENT = TypeAdapter(list[Limits]), TypeAdapter(LevelAgreement)
_LIMITS_VERSION = 1  # counts changes that find other limits in the same image
_LEVELS_VERSION = 1  # counts changes that believe other levels of the same image


class _ReadKey(NamedTuple):
    digest: str | None
    tone: Tone | None
    compares_levels: bool


def cached_identity(path: Path, named: str | None = None, show: str = "", region: str = "full") -> ImageIdentity:
    """An image's identity, remembered for as long as its file stays the same; `named` by its digest, it always does.

    `show` declares which part of it is shown, and how; `region` is what is shown of it, for a display that asks for it.
    Raises TilingError subclasses; ImageChangedError where the file changed meanwhile.
    """
    part = region if show and parse_display(show).scope == "region" else "full"
    tone = _recall(_tone, path, named, show, part) if show else None
    return _recall(_identity, path, named, tone)


def cached_read_plan(
    path: Path,
    named: str | None = None,
    *,
    digest: str | None = None,
    compares_levels: bool = True,
    tone: Tone | None = None,
) -> ReadPlan:
    """Return how an image is read, remembered likewise; all its levels are believed unless it `compares_levels`.

    Raises ImageChangedError, too, where its content is not that of `digest`.
    """
    plan = _recall(_read_plan, path, named, _ReadKey(digest, tone, compares_levels=False))
    if not compares_levels or plan.is_flat:
        return plan
    return _recall(_read_plan, path, named, _ReadKey(digest, tone, compares_levels=True))


def cached_remarks(path: Path, tone: Tone | None = None) -> tuple[str, ...]:
    """Return what people should know of an image's file, and of how its levels are read.

    Sentences go on from its name.
    """
    return file_remarks(path) + cached_read_plan(path, tone=tone).remarks


def cached_samples(path: Path, part: ImagePart = WHOLE) -> SampledPixels:
    """Return evenly spaced pixels of a part of an image as they lie in its file; those of the last are remembered.

    Whoever chooses how it is shown looks at them again and again. Raises TilingError subclasses.
    """
    return _recall(_samples, path, None, part)


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
    named = named or pinned_digest(path)
    try:
        seen = named if named and path.exists() else version_of(path)
    except FileNotFoundError as error:
        raise ImageNotFoundError(f"{path}: no such file") from error
    return _recall_version(look, path, seen, *more)


def _recall_version(look: "_lru_cache_wrapper[_Fact]", path: Path, seen: _VersionKey, *more: object) -> _Fact:
    if isinstance(seen, str):
        return look(path, seen, 0, *more)
    age = 0 if is_unambiguous(seen) else mounts()
    return (look if is_settled(seen) else look.__wrapped__)(path, seen, age, *more)


@contextmanager
def _open_version(path: Path, seen: _VersionKey) -> Iterator[OpenFile]:
    """The file that was seen; what is read of any other one, or of two versions, belongs to neither."""
    with open_file(path) as file:
        if isinstance(seen, str):
            yield file
            return
        if file.version != seen:
            raise image_changed_error(path)
        with file.unchanging():
            yield file


@lru_cache(maxsize=4096)
def _identity(path: Path, seen: _VersionKey, mounted: int, tone: Tone | None) -> ImageIdentity:
    with _open_version(path, seen) as file:
        return identity_of(file, seen if isinstance(seen, str) else None, tone)


@lru_cache(maxsize=4096)
def _tone(path: Path, seen: _VersionKey, mounted: int, show: str, region: str) -> Tone:
    display = parse_display(show)
    with _open_version(path, seen) as file:
        source = native_source_of(file, display.part)
        with source.decoder as decoder:
            check_display(path, display, decoder.native)
            region_l0 = resolve_region(region, source.frame)
            if not needs_limits(display):
                return find_tone(path, display, decoder.native)
            digest = seen if isinstance(seen, str) else digest_of(file)
            stored = StoredFact(_LIMITS, digest, "limits", _LIMITS_VERSION, display, region_l0)
            if (limits := stored.read()) is None:
                is_whole = region_l0.size == source.size
                pixels = _recall_version(_samples, path, seen, display.part) if is_whole else None
                limits = find_limits(path, display, pixels or sample_pixels(source, region_l0))
                stored.write(limits)
            return find_tone(path, display, decoder.native, limits)


@lru_cache(maxsize=1)  # they may take 128 MiB
def _samples(path: Path, seen: _VersionKey, mounted: int, part: ImagePart) -> SampledPixels:
    with _open_version(path, seen) as file:
        source = native_source_of(file, part)
        with source.decoder:
            return sample_pixels(source)


@lru_cache(maxsize=4096)
def _read_plan(path: Path, seen: _VersionKey, mounted: int, how: _ReadKey) -> ReadPlan:
    with _open_version(path, seen) as file:
        if how.digest and not isinstance(seen, str):
            require_content(file, how.digest)
        source = source_of(file, how.tone)
        with source.decoder:
            if not how.compares_levels:
                return plan_reading(source)
            decoder = source.decoder
            digest = seen if isinstance(seen, str) else how.digest or digest_of(file)
            stored = StoredFact(_AGREEMENT, digest, "levels", _LEVELS_VERSION, decoder.levels, how.tone)
            if (agreement := stored.read()) is None:
                agreement = compare_levels(decoder)
                stored.write(agreement)
            return plan_reading(source, agreement)


@lru_cache(maxsize=4096)
def _matches_recorded_digest(path: Path, seen: _VersionKey, mounted: int, digest: str, content: str) -> bool:
    with _open_version(path, seen) as file:
        return digest_of(file) == content and file_matches_digest(file, digest)
