"""Reads JSON records from files, and knows the line at which each begins."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.errors import Problem

LINE_SUFFIXES = frozenset({".jsonl", ".ndjson"})
_DECODER = json.JSONDecoder()
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
                yield Record(json.loads(line), number, index)
            except json.JSONDecodeError as error:
                yield Problem(name, number, None, f"is not JSON: {error.msg} at column {error.colno}")
            index += 1


def _read_document(text: str, name: str) -> Iterator[Record | Problem]:
    start = _skip(text, 0)
    try:
        if text.startswith("[", start):
            yield from _read_list(text, start)
        else:
            yield Record(json.loads(text), text.count("\n", 0, start) + 1, 0, alone=True)
    except json.JSONDecodeError as error:
        yield Problem(name, error.lineno, None, f"is not JSON: {error.msg} at column {error.colno}")


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
