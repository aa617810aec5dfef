"""The index of a corpus: one SQLite file, made once for a content, which any number of processes read.

A file is named by the corpus' digest and by a checksum of its own bytes, so that it appears whole or not at all, and a
damaged one is known before it is asked.
"""

import hashlib
import logging
import os
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from gigavqa.retrieval.documents import Document, corpus_digest, read_documents
from gigavqa.retrieval.errors import CorpusInvalidError, CorpusNotFoundError, IndexUnusableError, InvalidLine
from gigavqa.retrieval.sources import MAX_HITS, SearchHit, make_snippet
from gigavqa.retrieval.terms import normalize_words, query_terms

log = logging.getLogger(__name__)

INDEX_SUFFIX = ".index"
PARTIAL_SUFFIX = ".partial"
SCHEMA_VERSION = 1
"""Counts up whenever another index would be made of the same corpus."""

_UNUSED_SECONDS = 30 * 24 * 3600.0
_READ_BYTES = 2**20
_TABLES = """
CREATE TABLE documents (number INTEGER PRIMARY KEY, id TEXT NOT NULL, title TEXT, url TEXT, text TEXT);
CREATE VIRTUAL TABLE words USING fts5(title, text, content='', tokenize='ascii');
"""
# Rounded, since logarithms differ in their last digit between machines; what is equal then goes by id.
_SEARCH = """
SELECT id, title, url, text
FROM (SELECT rowid AS found, round(bm25(words, 2.0, 1.0), 9) AS rank FROM words WHERE words MATCH ?)
JOIN documents ON number = found ORDER BY rank, id LIMIT ?
"""


class Index:
    """Finds documents by words. Threads may share one; it is never written."""

    def __init__(self, path: Path, digest: str) -> None:
        self.path = path
        self.digest = digest
        # Nobody changes a file that is named by its content, so none needs a lock.
        self._database = sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False)

    def search(self, query: str, top_k: int) -> tuple[SearchHit, ...]:
        """The best documents, best first, `MAX_HITS` at most: by BM25, a title's words twice a text's, then by id.

        A query is any text; whatever is no word in it is no operator either. Raises IndexUnusableError where the file
        was damaged since it was opened.
        """
        asked = query_terms(query)
        if not asked:
            return ()
        match = " OR ".join(f'"{term}"' for term in asked)
        try:
            found = self._database.execute(_SEARCH, (match, min(top_k, MAX_HITS))).fetchall()
        except sqlite3.DatabaseError as error:
            raise IndexUnusableError(f"the index {self.path} cannot be read any more: {error}") from error
        return tuple(SearchHit(key, title, make_snippet(asked, text), url, text) for key, title, url, text in found)

    def __len__(self) -> int:
        """Return how many documents it has."""
        return int(self._database.execute("SELECT count(*) FROM documents").fetchone()[0])

    def close(self) -> None:
        self._database.close()


def open_index(corpus: Path, folder: Path) -> Index:
    """Return the index of a corpus, from `folder`; made there where there is none of this content, or it is damaged.

    Raises CorpusNotFoundError, CorpusInvalidError with every bad line, and IndexUnusableError.
    """
    digest = corpus_digest(corpus)
    path = _find(folder, digest) or _build(corpus, folder, digest)
    return Index(path, digest)


def _find(folder: Path, digest: str) -> Path | None:
    for path in sorted(folder.glob(f"{_stem(digest)}.*{INDEX_SUFFIX}")):
        try:
            if _checksum(path) == path.name.split(".")[1]:
                os.utime(path)  # used just now
                return path
            log.warning("%s is damaged, and is made again", path)
            path.unlink(missing_ok=True)
        except FileNotFoundError:  # another process has found the damage, too
            continue
        except OSError as error:  # a folder that is only read: what is in it is of use
            log.warning("%s: %s", path, error)
            if _checksum(path) == path.name.split(".")[1]:
                return path
    return None


def _build(corpus: Path, folder: Path, digest: str) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _remove_unused(folder)
        descriptor, name = tempfile.mkstemp(suffix=PARTIAL_SUFFIX, dir=folder)
        os.close(descriptor)
    except OSError as error:
        raise IndexUnusableError(f"no index can be made in {folder}: {error}") from error
    partial = Path(name)
    try:
        with _translate_sqlite_errors(folder):
            _fill(partial, corpus)
            with partial.open("rb") as file:
                os.fsync(file.fileno())
            if corpus_digest(corpus) != digest:
                raise IndexUnusableError(f"the corpus {corpus} changed while its index was made: try again")
            path = folder / f"{_stem(digest)}.{_checksum(partial)}{INDEX_SUFFIX}"
            partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return path


def _fill(path: Path, corpus: Path) -> None:
    bad: list[InvalidLine] = []
    number = 0
    # What is not finished is thrown away, so SQLite need not be able to take anything back.
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.executescript(f"PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; {_TABLES}")
        database.execute("BEGIN")
        for number, read in enumerate(read_documents(corpus), start=1):
            if isinstance(read, InvalidLine):
                bad.append(read)
            elif not bad:
                _add(database, number, read)
        if bad:
            raise CorpusInvalidError(str(corpus), bad)
        if number == 0:
            raise CorpusNotFoundError(f"the corpus {corpus} holds no document: each is one JSON object a line")
        database.execute("INSERT INTO words(words) VALUES('optimize')")
        database.execute("COMMIT")


def _add(database: sqlite3.Connection, number: int, read: Document) -> None:
    database.execute("INSERT INTO documents VALUES (?, ?, ?, ?, ?)", (number, read.id, read.title, read.url, read.text))
    words = (number, normalize_words(read.title), normalize_words(read.text))
    database.execute("INSERT INTO words(rowid, title, text) VALUES (?, ?, ?)", words)


@contextmanager
def _translate_sqlite_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise IndexUnusableError(f"no index can be made in {folder}: {error}") from error


def _remove_unused(folder: Path) -> None:
    """Delete what nobody has opened for thirty days: indexes of corpora that changed, and of builds that died."""
    for path in [*folder.glob(f"*{INDEX_SUFFIX}"), *folder.glob(f"*{PARTIAL_SUFFIX}")]:
        try:
            if path.stat().st_mtime < time.time() - _UNUSED_SECONDS:
                path.unlink()
        except FileNotFoundError:  # another process makes room, too
            continue


def _stem(digest: str) -> str:
    return f"{digest[:32]}-{SCHEMA_VERSION}"


def _checksum(path: Path) -> str:
    digest = hashlib.blake2b(digest_size=16)
    with path.open("rb") as file:
        while block := file.read(_READ_BYTES):
            digest.update(block)
    return digest.hexdigest()
