"""Corpora as sources: below a data root by name, each opened once for what it holds."""

import asyncio
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from threading import Lock

from gigavqa.retrieval.documents import corpus_files
from gigavqa.retrieval.errors import CorpusNotFoundError
from gigavqa.retrieval.index import Index, open_index
from gigavqa.retrieval.sources import SearchHit, SummarizerName, write_result


class CorpusSource:
    """Searches an index in a thread, as a `Source`."""

    def __init__(self, index: Index, summarizer: SummarizerName = "extractive/1") -> None:
        self._index = index
        self._summarizer = summarizer

    @property
    def version(self) -> str:
        """The corpus' digest."""
        return self._index.digest

    @property
    def summarizer(self) -> SummarizerName:
        """The name of the way its pages are summed up."""
        return self._summarizer

    async def search(self, query: str, top_k: int) -> tuple[SearchHit, ...]:
        """Return the best documents, best first. Raises IndexUnusableError."""
        return await asyncio.to_thread(self._index.search, query, top_k)

    async def write(self, query: str, pages: Sequence[SearchHit]) -> str:
        """Return the text that a model is shown."""
        return await asyncio.to_thread(write_result, query, pages, self._summarizer)


class Corpora:
    """The corpora below `root`, such as `demo/corpus`, with their indexes in `indexes`. Thread-safe.

    No name leads out of the root. A corpus whose files changed is another one: who keeps a source keeps what it had.
    """

    def __init__(self, root: Path, indexes: Path) -> None:
        self._root = root.resolve()
        self._indexes = indexes
        self._opened: dict[str, tuple[object, CorpusSource]] = {}
        self._lock = Lock()

    def open(self, name: str) -> CorpusSource:
        """Return the source of this name; making its index takes a while the first time. Raises RetrievalError."""
        folder = self._locate(name)
        with self._lock:
            looks = [(path.name, (stat := path.stat()).st_size, stat.st_mtime_ns) for path in corpus_files(folder)]
            seen, source = self._opened.get(name, (None, None))
            if source is None or seen != looks:
                source = CorpusSource(open_index(folder, self._indexes))
                self._opened[name] = looks, source
            return source

    def forget(self, name: str) -> None:
        """Open a corpus anew the next time, such as after IndexUnusableError, which then finds the damage."""
        with self._lock:
            self._opened.pop(name, None)

    def _locate(self, name: str) -> Path:
        pure = PurePosixPath(name)
        if not name or "\0" in name or "\\" in name or pure.is_absolute() or ".." in pure.parts:
            raise CorpusNotFoundError(f"corpus '{name}' is not a relative path beneath the data root")
        try:
            folder = (self._root / pure).resolve()
            exists = folder.is_dir()
        except (OSError, RuntimeError) as error:  # a name longer than the file system allows, links in a circle
            raise CorpusNotFoundError(f"corpus '{name}' cannot exist under the data root") from error
        if not folder.is_relative_to(self._root):
            raise CorpusNotFoundError(f"corpus '{name}' is a link that leads out of the data root")
        if not exists:
            raise CorpusNotFoundError(f"corpus '{name}' is no folder under the data root")
        return folder
