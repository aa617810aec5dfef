"""Reads records from files: JSON and JSON lines, tables with a header (CSV, TSV), Parquet; and knows where each begins.

Lines and tables are read row by row, so that pictures that lie in them are never held together; a .json file is held
whole. A table without types (CSV, TSV) gives texts; an empty cell is left out, as null is. A file whose encoding is not
sure gives one problem and no record.
"""

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gigavqa.evaluation.encodings import EncodingUnknownError, detect_encoding
from gigavqa.evaluation.errors import Problem

LINE_SUFFIXES = frozenset({".jsonl", ".ndjson"})
_SEPARATORS = {".csv": ",;\t", ".tsv": "\t"}
"""What may separate the fields of a table; of several, the one that the header has most of."""
_PARQUET = ".parquet"
RECORD_SUFFIXES = LINE_SUFFIXES | {".json", *_SEPARATORS, _PARQUET}
_WIDEST_FIELD = 1 << 30
"""Characters of a field at most: a picture in base64, not a file whose quote was never closed."""
_ROWS_AT_ONCE = 16
"""Rows of a Parquet file that lie in memory together: each may hold pictures."""
_NOT_IN_IDS = re.compile(r"[\s/]+")
_DECODER = json.JSONDecoder()
_ESCAPED_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_FAULTS = (ValueError, RecursionError)
"""What Python's JSON raises: beside syntax, for numbers of thousands of digits and for arrays in arrays without end."""

_SPACE = " \t\r\n"


@dataclass(frozen=True)
class Record:
    """One value of a file, or one row of a table.

    `line` counts from 1 (of Parquet: the row), `index` from 0, `alone` tells a file that is one object, and `typed` one
    whose values have types: in a table without, a number is a text of digits. `header` names all columns of a table;
    `called` says what the file calls columns that were given another name. `decimal` is the decimal sign of numbers
    that are texts: a comma where semicolons separate; `decimal_told` tells that somebody said so. `crowded` tells that
    its line holds others, too.
    """

    value: Any
    line: int
    index: int
    alone: bool = False
    typed: bool = True
    header: tuple[str, ...] = ()
    called: Mapping[str, str] = field(default_factory=dict)
    decimal: str = "."
    decimal_told: bool = False
    crowded: bool = False

    @property
    def place(self) -> str:
        """The place in its file: by its line, or by its number where one line holds several."""
        return f"record {self.index + 1}" if self.crowded else f"line {self.line}"

    def name_of(self, column: str) -> str:
        """Return the file's own name of a column."""
        return self.called.get(column, column)


def read_records(path: Path, name: str) -> Iterator[Record | Problem]:
    """Yield the records of a .json file (one object, or a list), or the lines or rows of any other; or Problems.

    `name` is how problems call the file. What comes before a fault, and of lines and rows behind it, is still read.
    """
    try:
        if path.suffix.lower() == _PARQUET:
            yield from _read_parquet(path, name)
        else:
            yield from _read_text(path, name, detect_encoding(path).name)
    except UnicodeDecodeError as error:
        yield Problem(name, None, None, f"is not {error.encoding} text: {error}")
    except OSError as error:
        yield Problem(name, None, None, f"cannot be read: {error.strerror}")
    except EncodingUnknownError as error:
        yield Problem(name, None, None, str(error))


def encoding_note(path: Path) -> str:
    """Return what is to be said of how a file's text is read; nothing of UTF-8, nor of what cannot be read."""
    try:
        return "" if path.suffix.lower() == _PARQUET else detect_encoding(path).note
    except (OSError, EncodingUnknownError):
        return ""


def _read_text(path: Path, name: str, encoding: str) -> Iterator[Record | Problem]:
    if path.suffix.lower() in LINE_SUFFIXES:
        yield from _read_lines(path, name, encoding)
    elif path.suffix.lower() in _SEPARATORS:
        yield from _read_table(path, name, encoding)
    else:
        yield from _read_document(path.read_text(encoding=encoding), name)


def _read_lines(path: Path, name: str, encoding: str) -> Iterator[Record | Problem]:
    index = 0
    with path.open(encoding=encoding) as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                record = Record(json.loads(line), number, index)
            except _FAULTS as error:
                yield Problem(name, number, None, _describe_error(error))
            else:
                yield _require_whole_text(record, name) if _ESCAPED_HALF.search(line) else record
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
            yield _require_whole_text(record, name) if is_suspect else record
    except _FAULTS as error:
        yield Problem(name, getattr(error, "lineno", None), None, _describe_error(error))


def _read_table(path: Path, name: str, encoding: str) -> Iterator[Record | Problem]:
    csv.field_size_limit(_WIDEST_FIELD)
    with path.open(encoding=encoding, newline="") as text:
        separator = max(_SEPARATORS[path.suffix.lower()], key=text.readline().count)
        text.seek(0)
        reader = csv.reader(text, delimiter=separator, strict=True)
        header = [column.strip() for column in next(reader, [])]
        if twice := sorted({column for column in header if column and header.count(column) > 1}):
            yield Problem(name, 1, None, f"the header names a column twice: {', '.join(twice)}")
            return
        index, columns, decimal = 0, tuple(filter(None, header)), "," if separator == ";" else "."
        for line, row in _table_rows(reader, name):
            if isinstance(row, Problem):
                yield row
            elif row and len(row) != len(header):
                told = (
                    f"has {len(row)} fields where the header names {len(header)}: quote a field that holds a separator"
                )
                yield Problem(name, line, None, told)
            elif row:
                cells = zip(header, row, strict=True)
                value = {name: cell for name, cell in cells if name and cell}
                yield Record(value, line, index, typed=False, header=columns, decimal=decimal)
            index += bool(row)


def _table_rows(reader: Any, name: str) -> Iterator[tuple[int, list[str] | Problem]]:
    """Yield each row with the line at which it begins; a row may go over several lines."""
    while True:
        line = reader.line_num + 1
        try:
            yield line, next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield line, Problem(name, line, None, f"is no row of a table: {error}; a quote may be missing")


def _read_parquet(path: Path, name: str) -> Iterator[Record | Problem]:
    import pyarrow  # noqa: PLC0415 - takes a quarter of a second
    import pyarrow.parquet  # noqa: PLC0415

    try:
        file = pyarrow.parquet.ParquetFile(path)
        read = _row_reader(file.schema_arrow.metadata or {})
        names = tuple(name for name in file.schema_arrow.names if not name.startswith("__index_level_"))
        index = 0
        for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE):
            for row in batch.to_pylist():
                yield Record(read(row), index + 1, index, header=names)
                index += 1
    except pyarrow.ArrowException as error:
        yield Problem(name, None, None, f"is no Parquet file: {error}")


def _row_reader(metadata: dict[bytes, bytes]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Leave out what says nothing, and put the names of Hugging Face's class labels in place of their numbers."""
    labels: dict[str, Sequence[str]] = {}
    if b"huggingface" in metadata:
        features = json.loads(metadata[b"huggingface"]).get("info", {}).get("features", {})
        labels = {
            column: feature["names"]
            for column, feature in features.items()
            if isinstance(feature, dict) and feature.get("_type") == "ClassLabel" and feature.get("names")
        }

    def named(column: str, value: Any) -> Any:
        names = labels.get(column)
        return names[value] if names and isinstance(value, int) and 0 <= value < len(names) else value

    return lambda row: {
        column: named(column, value)
        for column, value in row.items()
        if value is not None and value == value and not column.startswith("__index_level_")  # noqa: PLR0124 - not NaN
    }


def _require_whole_text(record: Record, name: str) -> Record | Problem:
    """Return the record if all its texts can be written; a cut text may hold half of a pair of escapes."""
    try:
        json.dumps(record.value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = str(error.object)[error.start]
        return Problem(name, record.line, None, f"a text holds half a character, {half!r}: it was cut within an emoji")
    return record


def _describe_error(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"is not JSON: {error.msg} at column {error.colno}"
    return "is nested too deeply" if isinstance(error, RecursionError) else f"cannot be read: {error}"


def _read_list(text: str, start: int) -> Iterator[Record]:
    position, counted, line, index = _skip(text, start + 1), 0, 1, 0
    in_one_line, last = "\n" not in text.strip(), 0
    while not text.startswith("]", position):
        line += text.count("\n", counted, position)
        counted = position
        value, position = _DECODER.raw_decode(text, position)
        yield Record(value, line, index, crowded=in_one_line or line == last)
        index, last = index + 1, line
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


def id_of(text: str) -> str:
    """Return a text as an id: blanks and slashes, which would part names of files and addresses, are dashes."""
    return _NOT_IN_IDS.sub("-", text)
