"""A corpus: a folder of files with one document a line, read whole and named by its content."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from gigavqa.retrieval.errors import CorpusNotFoundError, InvalidLine
from gigavqa.runtime.validation import describe_rule

MAX_TEXT_CHARACTERS = 1_000_000
"""Characters of a document's text."""

_READ_BYTES = 2**20


class Document(BaseModel):
    """One document as a line says it; other fields of the line are passed over."""

    model_config = ConfigDict(frozen=True, strict=True)

    id: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    title: Annotated[str, StringConstraints(max_length=1_000)] = ""
    url: Annotated[str, StringConstraints(max_length=2_000)] = ""
    text: Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT_CHARACTERS)]


def corpus_files(folder: Path) -> list[Path]:
    """Return the files of a corpus, sorted by name. Raises CorpusNotFoundError where there is none."""
    files = sorted(folder.glob("*.jsonl"))
    if not files:
        raise CorpusNotFoundError(
            f"{folder} is no corpus: it needs files that end in .jsonl, with one "
            '{"id": ..., "title": ..., "url": ..., "text": ...} a line'
        )
    return files


def corpus_digest(folder: Path) -> str:
    """Names the content of a corpus by 64 hexadecimal digits: SHA-256 of its files' names, sizes and bytes.

    The same on every machine. Raises CorpusNotFoundError.
    """
    digest = hashlib.sha256()
    for path in corpus_files(folder):
        digest.update(f"{path.name}\0{path.stat().st_size}\0".encode())
        with path.open("rb") as file:
            while block := file.read(_READ_BYTES):
                digest.update(block)
    return digest.hexdigest()


def read_documents(folder: Path) -> Iterator[Document | InvalidLine]:
    """Yield the documents of a corpus, file after file; for each line that is none, what is wrong with it.

    Empty lines are passed over. Raises CorpusNotFoundError.
    """
    places: dict[str, str] = {}
    for path in corpus_files(folder):
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.strip():
                    continue
                read = _read_line(line, path.name, number)
                if isinstance(read, Document):
                    place = places.setdefault(read.id, f"{path.name}:{number}")
                    if place != f"{path.name}:{number}":
                        read = InvalidLine(path.name, number, read.id, f"the id is already used at {place}")
                yield read


def _read_line(line: bytes, file: str, number: int) -> Document | InvalidLine:
    try:
        return Document.model_validate_json(line.removeprefix(b"\xef\xbb\xbf"))
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
        told = "; ".join(
            ": ".join([*map(str, each["loc"]), _describe_fault(each["type"], describe_rule(each))]) for each in found
        )
        return InvalidLine(file, number, None, told)


def _describe_fault(kind: str, message: str) -> str:
    words = {
        "missing": "is missing",
        "model_type": "must be an object",
        "string_type": "must be a text",
        "string_too_short": "is empty",
    }
    return words.get(kind, message)
