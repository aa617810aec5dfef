"""Find the pictures of a record: files that it names, pictures that lie in it, or those of another row."""

import base64
import binascii
import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from gigavqa.benchmarks.questions.columns import RecordColumns, parse_list, text_of
from gigavqa.evaluation.benchmark import RecordContext
from gigavqa.tiling.remote.addresses import is_remote_name

_DATA_URI = re.compile(r"data:image/[\w.+-]+;base64,")
_BASE64 = re.compile(r"(?:/9j/|iVBORw0KGgo|UklGR|SUkq|TU0A|R0lGOD|Qk0|AAAADGpQ)[A-Za-z0-9+/=\s]{56,}")
"""The beginnings of JPEG, PNG, WebP, TIFF, GIF, BMP and JPEG 2000 in base64, and more than a name would have."""
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_LONGEST_REFERENCE = 64
_INDEX = "index"


def read_images(columns: RecordColumns, origin: RecordContext) -> tuple[str, ...]:
    """Take the pictures of a record, as the data set names them.

    The first column that holds any counts; without one, columns `image_1`, `image_2` and so on; else the picture of the
    record's id, of the file's name, or the only one that there is. Raises ValueError naming the column.
    """
    index = _index_of(columns)
    found: tuple[str, ...] = ()
    for name, value in [*columns.all("images")]:
        columns.drop(name)
        found = found or _read_values(name, value, index, origin)
    numbered = columns.named(r"(?:image|img|picture)_?(\d+)")
    for number in sorted(numbered, key=int) if not found else ():
        found += _read_values(f"image_{number}", numbered[number], index, origin)
    if index and found:
        origin.seen[index] = found
    if found or not (inherited := _image_by_record(index, origin)):
        return found
    if empty := columns.empty("images"):
        raise ValueError(
            f"{empty}: is empty here; name a picture, or say `--map {empty}=ignored` where rows' ids name theirs"
        )
    return inherited


def _index_of(columns: RecordColumns) -> str:
    return text_of(next(columns.all("id"), ("", ""))[1])


def _image_by_record(index: str, origin: RecordContext) -> tuple[str, ...]:
    alone = next(iter(origin.images.values()), "") if len(origin.images) == 1 else ""
    named = origin.images.get(index) or origin.images.get(origin.stem) or alone
    return (named,) if named else ()


def _read_values(column: str, value: Any, index: str, origin: RecordContext) -> tuple[str, ...]:
    try:
        return tuple(_images_of_value(value, index, origin))
    except ValueError as error:
        raise ValueError(f"{column}: {error}") from error


def _images_of_value(value: Any, index: str, origin: RecordContext) -> Iterator[str]:
    value = parse_list(value) if isinstance(value, str) and value.startswith("[") else value
    if isinstance(value, list | tuple):
        for one in value:
            yield from _images_of_value(one, index, origin)
    elif isinstance(value, dict):
        yield from _images_of_value(value.get("bytes") or value.get("path") or value.get("src"), index, origin)
    elif isinstance(value, bytes):
        yield origin.keep(value)
    elif text := text_of(value):
        yield from _image_from_text(text, index, origin)


def _image_from_text(text: str, index: str, origin: RecordContext) -> Iterator[str]:
    if (uri := _DATA_URI.match(text)) or _BASE64.match(text[:200]):
        yield origin.keep(_decode_base64(text[uri.end() :] if uri else text))
    elif is_remote_name(text):
        yield text
    elif _ADDRESS.match(text):
        raise ValueError(f"'{text[:80]}' is an address that no images are read from; name a file, or https, s3, gs, az")
    elif other := _images_of_row(text, index, origin):
        yield from other
    else:
        yield _file_name(text)


def _decode_base64(text: str) -> bytes:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except binascii.Error as error:
        raise ValueError(f"holds a picture in base64 that is cut or broken: {error}") from error


def _images_of_row(text: str, index: str, origin: RecordContext) -> tuple[str, ...]:
    """Return the pictures of the row of this index; nothing where there is no such row, or it is the record's own."""
    if not index or text == index or len(text) > _LONGEST_REFERENCE or PurePosixPath(text).suffix:
        return ()
    if text not in origin.seen and _INDEX not in origin.seen:
        origin.seen[_INDEX] = ()  # looked through once, however many rows refer to later ones
        for record in origin.again():
            if isinstance(record.value, dict):
                _note(RecordColumns(record.value), origin)
    found: tuple[str, ...] = origin.seen.get(text, ())
    return found


def _note(columns: RecordColumns, origin: RecordContext) -> None:
    index = _index_of(columns)
    if index and index not in origin.seen:
        for _, value in columns.all("images"):
            if not isinstance(value, str) or len(value) > _LONGEST_REFERENCE or PurePosixPath(value).suffix:
                try:
                    origin.seen[index] = tuple(_images_of_value(value, "", origin))
                except ValueError:
                    continue  # told of where the row itself is read
                return


def _file_name(text: str) -> str:
    """Return a file's name below the folder of pictures.

    Of one that lies elsewhere, what may be below it of its path.
    """
    path = PurePosixPath(text.replace("\\", "/"))
    parts = [part for part in path.parts if part not in ("..", "~", "/", "//") and ":" not in part]
    return "/".join(parts) or path.name
