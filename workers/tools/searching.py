"""Searches as chats ask for them: in corpora and in the operator's sources, by name, each once in a job."""

import asyncio
from collections.abc import Mapping
from typing import NamedTuple

from jobs.loops import Search
from jobs.searches import Found, SearchStore, search_key
from retrieval.corpora import Corpora
from retrieval.errors import IndexUnusableError, SourceChangedError, SourceUnknownError
from retrieval.sources import Source, write_result
from workers.patience import patiently


class Sources:
    """Where may be looked: corpora below the data root, with a slash in their names, and the operator's sources."""

    def __init__(self, corpora: Corpora | None = None, named: Mapping[str, Source] | None = None) -> None:
        self._corpora = corpora
        self._named = named or {}

    @property
    def names(self) -> tuple[str, ...]:
        """The operator's sources."""
        return tuple(self._named)

    async def open(self, name: str) -> Source:
        """The source of this name. Raises RetrievalError."""
        if name in self._named:
            return self._named[name]
        if self._corpora is None or "/" not in name:
            raise SourceUnknownError(f"this worker has no source '{name}'; its file of sources names those that it has")
        return await asyncio.to_thread(self._corpora.open, name)

    def forget(self, name: str) -> None:
        """Open a corpus anew the next time, which then finds what is damaged."""
        if self._corpora is not None:
            self._corpora.forget(name)


class Searched(NamedTuple):
    """What a search came to, whether the job had asked before, and what answered: `NAME VERSION SUMMARIZER`."""

    found: Found
    cached: bool
    source: str


class Searching:
    """Asks sources, and keeps each result before anybody is shown it. Whoever asks for the same meanwhile waits."""

    def __init__(self, sources: Sources, store: SearchStore) -> None:
        self._sources = sources
        self._store = store
        self._under_way: dict[tuple[str, str], asyncio.Task[tuple[Found, bool]]] = {}

    async def search(self, job_id: str, tool: Search, query: str) -> Searched:
        """Look for a query as a tool says. Raises RetrievalError: what cannot be asked is no answer."""
        source = await self._sources.open(tool.source)
        if tool.source_version not in ("", source.version):
            told = f"source '{tool.source}' is {source.version}; the job was made for {tool.source_version}"
            raise SourceChangedError(told)
        key = search_key(tool.source, source.version, source.summarizer, query, tool.top_k)
        task = self._under_way.get((job_id, key))
        is_first = task is None
        if task is None:
            task = asyncio.create_task(self._once(job_id, key, source, tool, query), name="search")
            self._under_way[job_id, key] = task
            task.add_done_callback(lambda done: self._end(job_id, key, done))
        # Shielded: others may wait for the same search when this chat is cancelled.
        found, cached = await asyncio.shield(task)
        return Searched(found, cached or not is_first, f"{tool.source} {source.version} {source.summarizer}")

    async def _once(self, job_id: str, key: str, source: Source, tool: Search, query: str) -> tuple[Found, bool]:
        if (kept := await patiently(lambda: self._store.read(job_id, key))) is not None:
            return kept, True
        try:
            pages = await source.search(query, tool.top_k)
        except IndexUnusableError:
            self._sources.forget(tool.source)
            raise
        text = await asyncio.to_thread(write_result, query, pages, source.summarizer)
        found = Found(text=text, documents=tuple(page.id for page in pages))
        return await patiently(lambda: self._store.keep(job_id, key, found)), False

    def _end(self, job_id: str, key: str, task: asyncio.Task[tuple[Found, bool]]) -> None:
        del self._under_way[job_id, key]
        if not task.cancelled():
            task.exception()  # looked at, lest asyncio complains when nobody waits for it any more
