"""Errors of a corpus or a source. Every class's docstring states the fact."""

from collections.abc import Sequence
from dataclasses import dataclass

from gigavqa.runtime.plurals import first_lines

_MAX_LISTED_LINES = 100


@dataclass(frozen=True)
class InvalidLine:
    """One thing that is wrong in a file of documents; `line` counts from 1, `document` is its id where it is known."""

    file: str
    line: int
    document: str | None
    message: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}"
        return f"{place}: {self.message}" if self.document is None else f"{place}: {self.document}: {self.message}"


class RetrievalError(Exception):
    """Nothing could be looked for."""


class CorpusInvalidError(RetrievalError):
    """The corpus has lines that are no documents; `lines` has all of them, and the message the first 100."""

    def __init__(self, folder: str, lines: Sequence[InvalidLine]) -> None:
        told = first_lines([*map(str, lines)], _MAX_LISTED_LINES)
        super().__init__("\n".join([f"the corpus {folder} has {len(lines)} bad line(s):", *told]))
        self.lines = tuple(lines)


class CorpusNotFoundError(RetrievalError):
    """There is no corpus of this name: no folder, none of its files ends in .jsonl, or the name leads elsewhere."""


class IndexUnusableError(RetrievalError):
    """The index of a corpus can be neither read nor made: SQLite has no FTS5, or the folder takes no file."""


class SourceFailedError(RetrievalError):
    """A source did not answer as often as it was asked, or not in the shape that its operator named."""


class SourceUnknownError(RetrievalError):
    """There is no source of this name where it is asked for."""


class SourceChangedError(RetrievalError):
    """A source is not in the state that it was to be asked in."""
