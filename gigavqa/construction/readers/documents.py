"""Annotation files as streams: compressed or not, JSON of any size, never held whole."""

import gzip
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar, cast

import ijson

from gigavqa.construction.errors import AnnotationFileError

_Value = TypeVar("_Value")
LOOK_BYTES = 1 << 20
"""Bytes of a file that are looked at to recognise its form."""
_GZIP, _BOM, _ZIP = b"\x1f\x8b", b"\xef\xbb\xbf", b"PK\x03\x04"
_WIDE = (b"\xff\xfe", b"\xfe\xff")
_DEEPEST = 64
_MOST_LEVELS, _MOST_SEEN = 7, 20_000
_READ_BYTES = 1 << 18
_TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*+"?|-?\b(?:NaN|Infinity)\b', re.DOTALL)
_NO_NUMBERS = (b"NaN", b"Infinity")
_FAULTS = (ijson.JSONError, OSError, EOFError, ValueError, OverflowError)


def require_no_folder(path: Path) -> None:
    """Raise AnnotationFileError for a folder, where a form is one file."""
    if path.is_dir():
        raise AnnotationFileError(f"{path.name}: is a folder, and this form is one file; make a build of each file")


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file of text, decompressed where it is gzip, behind a byte order mark. Raises AnnotationFileError."""
    require_no_folder(path)
    try:
        with path.open("rb") as raw:
            is_gzip = raw.read(2) == _GZIP
            raw.seek(0)
            with cast("IO[bytes]", gzip.GzipFile(fileobj=raw)) if is_gzip else raw as file:
                opening = file.read(len(_BOM))
                if opening.startswith(_WIDE):
                    raise AnnotationFileError(f"{path.name}: is UTF-16 text; save it as UTF-8")
                if opening != _BOM:
                    file.seek(0)
                yield file
    except (OSError, EOFError) as error:
        raise AnnotationFileError(f"{path.name}: cannot be read: {error}; give a whole file") from error


def look_at(path: Path) -> bytes:
    """Return the first MiB of a file's text; nothing of what is no file, or cannot be read."""
    if not path.is_file():
        return b""
    try:
        with opened(path) as file:
            return file.read(LOOK_BYTES)
    except (AnnotationFileError, OSError, EOFError):
        return b""


def describe_source(source: Path) -> str:
    """Say what a source is that no reader recognises."""
    if source.is_dir():
        return "a folder"
    with source.open("rb") as file:
        opening = file.read(4)
    if opening == _ZIP:
        return "a zip archive: unpack it"
    text = look_at(source)[:60].decode("utf-8", "backslashreplace").strip()
    return f"a file that begins with {text!r}" if text else "an empty file"


class _NumbersOnly:
    """A stream of JSON in which NaN and Infinity, which Python writes and JSON has not, are null."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._rest = b""

    def read(self, size: int) -> bytes:
        """Return the next bytes: none at the end alone."""
        while size:
            chunk = self._file.read(max(size, _READ_BYTES))
            content = self._rest + chunk
            if not chunk:
                self._rest = b""
                return self._cleaned(content)
            at = self._last_safe(content)
            self._rest, ready = content[at:], content[:at]
            if ready:
                return self._cleaned(ready)
        return b""

    @staticmethod
    def _last_safe(content: bytes) -> int:
        """Return where content can be cut: before a string or word that goes on."""
        end = len(content)
        for found in _TOKENS.finditer(content):
            if found.end() == len(content):
                end = found.start()
        return max(end - 16, 0) if end == len(content) and content[-1:].isalpha() else end

    @staticmethod
    def _cleaned(content: bytes) -> bytes:
        if not any(word in content for word in _NO_NUMBERS):
            return content
        return _TOKENS.sub(lambda found: found[0] if found[0].startswith(b'"') else b"null", content)


@contextmanager
def _opened_json(path: Path) -> Iterator[Any]:
    """Open a JSON file, through `_NumbersOnly` where one of its words occurs: it takes as long as parsing does."""
    with opened(path) as file:
        has_words, tail = False, b""
        while not has_words and (chunk := file.read(_READ_BYTES)):
            has_words = any(word in tail + chunk for word in _NO_NUMBERS)
            tail = chunk[-16:]
    with opened(path) as file:
        yield _NumbersOnly(file) if has_words else file


def _noting(repeated: list[str]) -> type[dict[str, Any]]:
    """Return a type of JSON's objects that notes keys which one has twice: nobody knows which value is meant.

    It raises nothing: ijson's parser in C goes on where its objects do.
    """

    class Noting(dict[str, Any]):
        def __setitem__(self, key: str, value: Any) -> None:
            if key in self:
                repeated.append(key)
            super().__setitem__(key, value)

    return Noting


def _without_repeated(values: Iterator[_Value], repeated: list[str]) -> Iterator[_Value]:
    for value in values:
        if repeated:
            raise ValueError(f"an object has its key {repeated[0][:80]!r} twice")
        yield value


class JsonLook(NamedTuple):
    """What the beginning of a JSON file has: the paths of its values, as `annotations.item.bbox`, and texts at some."""

    paths: frozenset[str]
    texts: frozenset[tuple[str, str]]

    def has(self, *paths: str) -> bool:
        """Return whether all of these occur."""
        return self.paths.issuperset(paths)


def look_at_json(path: Path) -> JsonLook | None:
    """Return the paths in the first MiB of a JSON file, down to six levels; None for what is no JSON."""
    if not path.is_file():
        return None
    status = path.stat()
    return _look_at_version(path, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=32)  # each reader asks
def _look_at_version(path: Path, size: int, changed: int) -> JsonLook | None:
    text = look_at(path)
    if text[:64].lstrip()[:1] not in (b"{", b"["):
        return None
    paths: set[str] = set()
    texts: set[tuple[str, str]] = set()
    with suppress(*_FAULTS):
        for place, value in _places(_NumbersOnly(BytesIO(text))):
            paths.add(place)
            if isinstance(value, str):
                texts.add((place, value[:80]))
            if len(paths) + len(texts) > _MOST_SEEN:
                break
    return JsonLook(frozenset(paths), frozenset(texts))


def _places(file: Any) -> Iterator[tuple[str, Any]]:
    """Yield the path of each value as ijson calls it, of scalars with the value, down to six levels.

    ijson's own paths would grow with every level, of however many a file has.
    """
    above: list[str] = []
    key = ""
    for event, value in ijson.basic_parse(file, use_float=True):
        if event == "map_key":
            key = value
            continue
        if event in ("end_map", "end_array"):
            key = above.pop()
            continue
        if len(above) > _DEEPEST:
            return
        place = [*above[1:], key][:_MOST_LEVELS] if above else []
        yield ".".join(place), value
        if event in ("start_map", "start_array"):
            above.append(key)
            key = "item"
        else:
            key = key if key == "item" else ""


def survey_json(path: Path) -> dict[str, str]:
    """Go through a JSON file once; return the keys of its object, or of its list `""`, with the kinds of their values.

    Kinds are ijson's events: `start_array`. Raises AnnotationFileError for what is no JSON to its end, is nested deeper
    than 64 levels, or has a key twice.
    """
    kinds: dict[str, str] = {}
    depth, key = 0, ""
    with _json_faults(path), _opened_json(path) as file:
        for event, value in ijson.basic_parse(file, use_float=True, buf_size=_READ_BYTES):
            if event == "start_map" or event == "start_array":  # noqa: PLR1714 - twice as fast as a set
                if depth == 0 and event == "start_array":
                    kinds[""] = event
                elif depth == 1 and key:
                    kinds[key] = event
                depth += 1
                if depth > _DEEPEST:
                    raise ValueError(f"is nested deeper than {_DEEPEST} levels")
            elif event == "end_map" or event == "end_array":  # noqa: PLR1714
                depth -= 1
            elif depth == 1:
                if event == "map_key":
                    key = value
                    if key in kinds:
                        raise ValueError(f"has its key {key[:80]!r} twice")
                    kinds[key] = ""
                elif key:
                    kinds[key] = event
    return kinds


def json_items(path: Path, prefix: str) -> Iterator[Any]:
    """Yield the values at a path of a JSON file, one at a time. Raises AnnotationFileError as `survey_json` does."""
    repeated: list[str] = []
    how = {"map_type": _noting(repeated), "use_float": True, "buf_size": _READ_BYTES}
    with _json_faults(path), _opened_json(path) as file:
        yield from _without_repeated(ijson.items(file, prefix, **how), repeated)


def json_members(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield key and value of each member of a JSON file's object, one at a time. Raises likewise."""
    repeated: list[str] = []
    how = {"map_type": _noting(repeated), "use_float": True, "buf_size": _READ_BYTES}
    with _json_faults(path), _opened_json(path) as file:
        yield from _without_repeated(ijson.kvitems(file, "", **how), repeated)


@contextmanager
def _json_faults(path: Path) -> Iterator[None]:
    try:
        yield
    except _FAULTS as error:
        told = " ".join(str(error).split())
        raise AnnotationFileError(f"{path.name}: {told[:300]}; give a whole file of valid JSON") from error
