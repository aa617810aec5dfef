"""Reads files of triples: Wikidata's dump form, one entity a line, or a plain table as TSV, CSV or JSON lines.

Lines are read one at a time, and none longer than a bound; gzip and bzip2 are opened.
"""

import bz2
import csv
import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from gigavqa.construction.vistahop.knowledge.errors import BadFactError, KnowledgeError
from gigavqa.construction.vistahop.knowledge.facts import EntityText, Fact, FactStream, LeftOut
from gigavqa.construction.vistahop.knowledge.wikidata import is_entity, read_entity

MOST_LINE_BYTES = 16 << 20
"""Of a line; Wikidata's largest entities have some four millions."""

_MOST_TEXT = 2000
_NEEDED = ("subject", "property", "object")
_COLUMNS = (*_NEEDED, "subject_label", "object_label", "subject_description", "object_description", "kind")
_SEPARATORS = {".tsv": "\t", ".csv": ","}
_PACKED = (".gz", ".bz2")


def read_facts(path: Path, languages: Sequence[str] = ("en",)) -> FactStream:
    """Yield what a file tells, line by line, and what is left out of it.

    Raises KnowledgeError where the file as a whole is none of triples.
    """
    form = Path(path.stem).suffix if path.suffix in _PACKED else path.suffix
    try:
        with _open(path) as file:
            yield from (
                _table(path, file, _SEPARATORS[form]) if form in _SEPARATORS else _json(path, file, form, languages)
            )
    except (OSError, EOFError) as error:
        raise KnowledgeError(f"{path} cannot be read: {error}") from error


def _open(path: Path) -> Any:
    if path.suffix == ".bz2":
        return bz2.open(path, "rb")
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")


def _json(path: Path, file: IO[bytes], form: str, languages: Sequence[str]) -> FactStream:
    if form not in (".json", ".jsonl", ".ndjson"):
        raise KnowledgeError(
            f"{path} is no file of triples: they end in .json or .jsonl (an entity or a triple a line), .tsv or .csv, "
            "and may be packed as .gz or .bz2"
        )
    for number, line in _lines(file):
        if isinstance(line, LeftOut):
            yield line
            continue
        text = line.strip().removesuffix(b",")
        if text in (b"", b"[", b"]"):
            continue
        yield from _described(number, text, languages)


def _described(number: int, text: bytes, languages: Sequence[str]) -> FactStream:
    try:
        read = json.loads(text)
        if not isinstance(read, dict):
            raise BadFactError("json", "is no JSON object")
        for each in read_entity(read, languages) if is_entity(read) else _row(read):
            yield LeftOut(number, each.reason, str(each)) if isinstance(each, BadFactError) else each
    except BadFactError as error:
        yield LeftOut(number, error.reason, str(error))
    except (ValueError, RecursionError) as error:
        yield LeftOut(number, "json", f"is no JSON object: {str(error)[:80]}")


def _table(path: Path, file: IO[bytes], separator: str) -> FactStream:
    names: list[str] = []
    for number, line in _lines(file):
        if isinstance(line, LeftOut):
            yield line
            continue
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
        except UnicodeDecodeError:
            yield LeftOut(number, "text", "is not UTF-8")
            continue
        if not text.strip():
            continue
        try:
            cells = text.split("\t") if separator == "\t" else next(csv.reader([text]))
        except csv.Error as error:
            yield LeftOut(number, "cells", f"cannot be read: {error}")
            continue
        if not names:
            names = _head(path, cells)
            continue
        if len(cells) != len(names):
            yield LeftOut(number, "cells", f"has {len(cells)} cells where the head has {len(names)}")
            continue
        try:
            yield from _row(dict(zip(names, cells, strict=True)))
        except BadFactError as error:
            yield LeftOut(number, error.reason, str(error))
    if not names:
        raise KnowledgeError(f"{path} is empty; its first line names columns: {', '.join(_NEEDED)}")


def _head(path: Path, cells: Sequence[str]) -> list[str]:
    names = [cell.strip().casefold().replace(" ", "_") for cell in cells]
    if missing := [name for name in _NEEDED if name not in names]:
        raise KnowledgeError(f"{path}:1 has no column '{missing[0]}'; the first line names {', '.join(_COLUMNS)}")
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise KnowledgeError(f"{path}:1 has two columns '{twice}'")
    return names


def _row(row: Mapping[str, Any]) -> Iterator[EntityText | Fact]:
    """Yield a triple, and what it says of its ends. Raises BadFactError."""
    cells = {name: _cell(row, name) for name in _COLUMNS}
    if empty := next((name for name in _NEEDED if not cells[name]), ""):
        raise BadFactError("missing", f"{empty} is missing or empty")
    kind = cells["kind"] or "item"
    if kind not in ("item", "value"):
        raise BadFactError("kind", f"kind: '{kind[:40]}' is neither item nor value")
    for end in ("subject", "object") if kind == "item" else ("subject",):
        name = cells[f"{end}_label"] or cells[end]
        yield EntityText(cells[end], name, cells[f"{end}_description"])
    yield Fact(cells["subject"], cells["property"], cells["object"], "item" if kind == "item" else "value")


def _cell(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name, "")
    if value is None:
        return ""
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise BadFactError("text", f"{name}: is no text")
    text = str(value).strip()
    if len(text) > _MOST_TEXT:
        raise BadFactError("text", f"{name}: has {len(text)} characters; at most {_MOST_TEXT} are read")
    return text


def _lines(file: IO[bytes]) -> Iterator[tuple[int, bytes | LeftOut]]:
    """Yield lines, from 1; of one that is too long what it is, and never the line."""
    number = 0
    while line := file.readline(MOST_LINE_BYTES):
        number += 1
        if len(line) == MOST_LINE_BYTES and not line.endswith(b"\n"):
            while (rest := file.readline(MOST_LINE_BYTES)) and not rest.endswith(b"\n"):
                pass
            yield number, LeftOut(number, "long", f"has more than {MOST_LINE_BYTES >> 20} MiB")
        else:
            yield number, line
