"""Writes verdicts as files that pandas, DuckDB and spreadsheets read, while they stream past."""

import errno
import io
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Literal, get_args

import pyarrow
import pyarrow.csv
import pyarrow.parquet
from pydantic_core import to_json

from gigavqa.evaluation.outcomes import SampleOutcome
from gigavqa.reports.writers.exports import escape_formula
from gigavqa.reports.writers.verdict_columns import ColumnType, VerdictFileLayout, VerdictFileRow

VerdictFormat = Literal["csv", "jsonl", "parquet"]
VERDICT_FORMATS: tuple[VerdictFormat, ...] = get_args(VerdictFormat)
MOST_ROWS = 4096  # files are written while responses are judged: decision 0012
_MOST_CHARACTERS = 16_000_000
"""A batch, which is a row group of Parquet and all that is held, ends at as many rows or characters."""

_ARROW_TYPES = {"integer": pyarrow.int64(), "number": pyarrow.float64(), "boolean": pyarrow.bool_()}


def write_verdicts(
    outcomes: Iterable[SampleOutcome], target: Path | BinaryIO, form: VerdictFormat, layout: VerdictFileLayout
) -> None:
    """Write verdicts as they stream past; a path is written whole or not at all."""
    with open_whole_file(target) as file:
        for chunk in verdict_chunks(map(layout.whole_row, outcomes), form, layout):
            file.write(chunk)


def verdict_chunks(
    whole_rows: Iterable[VerdictFileRow], form: VerdictFormat, layout: VerdictFileLayout
) -> Iterator[bytes]:
    """Yield the bytes of a file of verdicts, of the whole row of each response.

    They come in the order of those; no more than one batch of rows is held.
    """
    yield from _WRITERS[form](_batches(whole_rows, layout), layout)


@contextmanager
def open_whole_file(target: Path | BinaryIO) -> Iterator[BinaryIO]:
    """Open what is to be written; a file takes its name when the block ends well, and leaves nothing behind else."""
    if not isinstance(target, Path):
        yield target
        return
    target = target.resolve()
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(target))
    if target.exists() and not target.is_file():  # a pipe or a device
        with target.open("wb") as file:
            yield file
    else:
        draft = target.with_name(f".{target.name}.{os.getpid()}")
        try:
            with draft.open("wb") as file:
                yield file
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)


def _batches(whole_rows: Iterable[VerdictFileRow], layout: VerdictFileLayout) -> Iterator[list[VerdictFileRow]]:
    rows: list[VerdictFileRow] = []
    characters = 0
    for whole in whole_rows:
        texts = [whole["text"], *(part["text"] for part in whole["parts"])]
        characters += sum(len(text) for text in texts if text)
        for row in layout.rows(whole):
            rows.append(row)
            if len(rows) == MOST_ROWS or characters >= _MOST_CHARACTERS:
                yield rows
                rows, characters = [], 0
    if rows:
        yield rows


def _jsonl(batches: Iterable[list[VerdictFileRow]], layout: VerdictFileLayout) -> Iterator[bytes]:
    for rows in batches:
        yield b"".join(_json(row) + b"\n" for row in rows)


def _csv(batches: Iterable[list[VerdictFileRow]], layout: VerdictFileLayout) -> Iterator[bytes]:
    """Commas, every text in quotes, and nothing between commas where there is no value."""
    schema = _schema(layout)
    yield _csv_of(schema.empty_table(), header=True)
    for rows in batches:
        yield _csv_of(_table(rows, layout, schema, escape_formula), header=False)


def _csv_of(table: Any, *, header: bool) -> bytes:
    out = io.BytesIO()
    pyarrow.csv.write_csv(table, out, pyarrow.csv.WriteOptions(include_header=header))
    return out.getvalue()


def _parquet(batches: Iterable[list[VerdictFileRow]], layout: VerdictFileLayout) -> Iterator[bytes]:
    """One row group a batch, and the index at the end."""
    schema, sent = _schema(layout), _ChunkBuffer()
    with pyarrow.parquet.ParquetWriter(sent, schema, compression="zstd") as writer:
        for rows in batches:
            writer.write_table(_table(rows, layout, schema))
            yield sent.take()
    yield sent.take()


_WRITERS: dict[VerdictFormat, Callable[[Iterable[list[VerdictFileRow]], VerdictFileLayout], Iterator[bytes]]] = {
    "csv": _csv,
    "jsonl": _jsonl,
    "parquet": _parquet,
}


class _ChunkBuffer(io.RawIOBase):
    """A file that is written and never read, whose bytes are taken away as they come."""

    def __init__(self) -> None:
        self._position = 0
        self._waiting: list[bytes] = []

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def write(self, chunk: Any) -> int:
        self._waiting.append(bytes(chunk))
        self._position += len(self._waiting[-1])
        return len(self._waiting[-1])

    def take(self) -> bytes:
        """Return what was written since the last call."""
        taken, self._waiting = b"".join(self._waiting), []
        return taken


def _schema(layout: VerdictFileLayout) -> Any:
    return pyarrow.schema([(name, _ARROW_TYPES.get(kind, pyarrow.string())) for name, kind in layout.columns.items()])


def _table(
    rows: list[VerdictFileRow], layout: VerdictFileLayout, schema: Any, text_of: Callable[[str], str] = str
) -> Any:
    columns = {
        name: [_cell(row[name], kind, text_of) for row in rows]
        if kind not in _ARROW_TYPES
        else [row[name] for row in rows]
        for name, kind in layout.columns.items()
    }
    return pyarrow.table(columns, schema=schema)


def _cell(value: Any, kind: ColumnType, text_of: Callable[[str], str]) -> str | None:
    if value is None:
        return None
    if kind == "json" or not isinstance(value, str):
        return _json(value).decode()
    return text_of(value)


def _json(value: Any) -> bytes:
    return to_json(value, inf_nan_mode="null")
