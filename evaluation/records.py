"""Reads JSON records from files, and knows the line at which each begins."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.errors import Problem

LINE_SUFFIXES = frozenset({".jsonl", ".ndjson"})
_DECODER = json.JSONDecoder()
_ESCAPED_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_FAULTS = (ValueError, RecursionError)
"""What Python's JSON raises: beside syntax, for numbers of thousands of digits and for arrays in arrays without end."""

_SPACE = " \t\r\n"


@dataclass(frozen=True)
class Record:
    """One JSON value of a file; `line` counts from 1, `index` from 0, `alone` tells a file that is one object."""

    value: Any
    line: int
    index: int
    alone: bool = False


def read_records(path: Path, name: str) -> Iterator[Record | Problem]:
    """Yield the records of a .json file (one object, or a list) or of a .jsonl file; what is not JSON is a Problem.

    `name` is how problems call the file. In a list, records before a syntax error are still read.
    """
    try:
        if path.suffix in LINE_SUFFIXES:
            yield from _read_lines(path, name)
        else:
            yield from _read_document(path.read_text(encoding="utf-8-sig"), name)
    except UnicodeDecodeError as error:
        yield Problem(name, None, None, f"is not UTF-8 text: {error}")
    except OSError as error:
        yield Problem(name, None, None, f"cannot be read: {error.strerror}")


def _read_lines(path: Path, name: str) -> Iterator[Record | Problem]:
    index = 0
    with path.open(encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                record = Record(json.loads(line), number, index)
            except _FAULTS as error:
                yield Problem(name, number, None, _told(error))
            else:
                yield _whole(record, name) if _ESCAPED_HALF.search(line) else record
            index += 1


def _read_document(text: str, name: str) -> Iterator[Record | Problem]:
    start = _skip(text, 0)
    is_suspect = bool(_ESCAPED_HALF.search(text))
    try:
        if text.startswith("[", start):
            records = _read_list(text, start)
        else:
            records = iter([Record(json.loads(text), text.count("\n", 0, start) + 1, 0, alone=True)])
        for record in records:
            yield _whole(record, name) if is_suspect else record
    except _FAULTS as error:
        yield Problem(name, getattr(error, "lineno", None), None, _told(error))


def _whole(record: Record, name: str) -> Record | Problem:
    """The record if all its texts can be written; a cut text may hold half of a pair of escapes."""
    try:
        json.dumps(record.value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = str(error.object)[error.start]
        return Problem(name, record.line, None, f"a text holds half a character, {half!r}: it was cut within an emoji")
    return record


def _told(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"is not JSON: {error.msg} at column {error.colno}"
    return "is nested too deeply" if isinstance(error, RecursionError) else f"cannot be read: {error}"


def _read_list(text: str, start: int) -> Iterator[Record]:
    position, counted, line, index = _skip(text, start + 1), 0, 1, 0
    while not text.startswith("]", position):
        line += text.count("\n", counted, position)
        counted = position
        value, position = _DECODER.raw_decode(text, position)
        yield Record(value, line, index)
        index += 1
        position = _skip(text, position)
        if text.startswith(",", position):
            position = _skip(text, position + 1)
        elif not text.startswith("]", position):
            raise json.JSONDecodeError("Expecting ',' or ']'", text, position)
    if _skip(text, position + 1) != len(text):
        raise json.JSONDecodeError("Extra data", text, position + 1)


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in _SPACE:
        position += 1
    return position
