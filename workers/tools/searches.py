"""Searches as chats ask for them: in corpora and in the operator's sources, by name, each once in a job."""

import asyncio
import logging
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Literal, NamedTuple

from redis.exceptions import RedisError

from gigavqa.contract.tool_loops import SearchTool
from gigavqa.retrieval.corpora import Corpora
from gigavqa.retrieval.errors import IndexUnusableError, RetrievalError, SourceChangedError, SourceUnknownError
from gigavqa.retrieval.sources import SearchSource
from gigavqa.store.searches import SearchRecord, SearchStore, search_key
from gigavqa.workers.store_outage import retry_until_up

log = logging.getLogger(__name__)

SearchOutcome = Literal["asked", "asked_again", "known", "failed"]
"""Asked again is what somebody asked who was killed meanwhile; known is what was kept before, or by somebody else."""

LEASE_SECONDS = 5.0
_BEATS_PER_LEASE = 5
_POLLS_PER_LEASE = 25


class SearchSources:
    """The sources that may be searched: corpora below the data root, with a slash in their names, and the operator's
    sources.
    """

    def __init__(self, corpora: Corpora | None = None, named: Mapping[str, SearchSource] | None = None) -> None:
        self._corpora = corpora
        self._named = named or {}

    @property
    def names(self) -> tuple[str, ...]:
        """The operator's sources."""
        return tuple(self._named)

    async def open(self, name: str) -> SearchSource:
        """Return the source of this name. Raises RetrievalError."""
        if name in self._named:
            return self._named[name]
        if self._corpora is None or "/" not in name:
            raise SourceUnknownError(f"this worker has no source '{name}'; its file of sources names those that it has")
        return await asyncio.to_thread(self._corpora.open, name)

    def forget(self, name: str) -> None:
        """Open a corpus anew the next time, which then finds what is damaged."""
        if self._corpora is not None:
            self._corpora.forget(name)


class SearchResult(NamedTuple):
    """The result of a search, whether the job had asked it before, and what answered: `NAME VERSION SUMMARIZER`."""

    found: SearchRecord
    cached: bool
    source: str


class SearchExecutor:
    """Asks sources, and keeps each result before anybody is shown it. Whoever asks for the same meanwhile waits.

    That holds among the workers, too: who asks says so on the server, and again and again for as long as it takes. One
    of whom others hear nothing new for `lease_seconds` in which the server answers them asks no more, and one of them
    does.
    """

    def __init__(
        self,
        sources: SearchSources,
        store: SearchStore,
        lease_seconds: float = LEASE_SECONDS,
        count: Callable[[SearchOutcome], None] = lambda _: None,
    ) -> None:
        self._sources = sources
        self._store = store
        self._lease_seconds = lease_seconds
        self._count = count
        self._under_way: dict[tuple[str, str], asyncio.Task[tuple[SearchRecord, bool]]] = {}

    async def search(self, job_id: str, tool: SearchTool, query: str) -> SearchResult:
        """Look for a query as a tool says. Raises RetrievalError: what cannot be asked is no answer."""
        source = await self._sources.open(tool.source)
        if tool.source_version not in ("", source.version):
            told = f"source '{tool.source}' is {source.version}; the job was made for {tool.source_version}"
            raise SourceChangedError(told)
        key = search_key(tool.source, source.version, source.summarizer, query, tool.top_k)
        task = self._under_way.get((job_id, key))
        is_first = task is None
        if task is None:
            claim = _SearchClaim(self._store, job_id, key, self._lease_seconds)
            task = asyncio.create_task(self._once(claim, source, tool, query), name="search")
            self._under_way[job_id, key] = task
            task.add_done_callback(lambda done: self._end(job_id, key, done))
        # Shielded: others may wait for the same search when this chat is cancelled.
        found, cached = await asyncio.shield(task)
        return SearchResult(found, cached or not is_first, f"{tool.source} {source.version} {source.summarizer}")

    async def _once(
        self, claim: "_SearchClaim", source: SearchSource, tool: SearchTool, query: str
    ) -> tuple[SearchRecord, bool]:
        if (kept := await claim.take()) is not None:
            self._count("known")
            return kept, True
        try:
            found = await claim.hold(asyncio.create_task(_ask_source(source, tool, query)))
        except RetrievalError as error:
            self._count("failed")
            if isinstance(error, IndexUnusableError):
                self._sources.forget(tool.source)
            raise
        self._count("asked_again" if claim.taken_over else "asked")
        return await claim.keep(found), False

    def _end(self, job_id: str, key: str, task: asyncio.Task[tuple[SearchRecord, bool]]) -> None:
        del self._under_way[job_id, key]
        if not task.cancelled():
            task.exception()  # looked at, lest asyncio complains when nobody waits for it any more


async def _ask_source(source: SearchSource, tool: SearchTool, query: str) -> SearchRecord:
    pages = await source.search(query, tool.top_k)
    return SearchRecord(text=await source.write(query, pages), documents=tuple(page.id for page in pages))


class _SearchClaim:
    """One worker's right to make a search of a job."""

    def __init__(self, store: SearchStore, job_id: str, key: str, lease_seconds: float) -> None:
        self._store = store
        self._search = job_id, key
        self._lease_seconds = lease_seconds
        self._name = secrets.token_hex(8)
        self._beats = 0
        self.taken_over = False
        """Whether another one asked before, and was heard of no more."""

    async def take(self) -> SearchRecord | None:
        """Wait until somebody's result is kept, and return it; None when the search is this one's to make."""
        seen, looks = "", 0
        while True:
            self.taken_over = looks >= _POLLS_PER_LEASE
            kept, asker = await self._put(seen if self.taken_over else "")
            if kept is not None:
                return kept
            if asker == self._mark:
                if self.taken_over:
                    log.info("search %s of %s is made again: who made it is gone", *reversed(self._search))
                return None
            seen, looks = asker, looks + 1 if asker == seen else 0
            await asyncio.sleep(self._lease_seconds / _POLLS_PER_LEASE)

    async def hold(self, searching: asyncio.Task[SearchRecord]) -> SearchRecord:
        """Return what a search comes to; others hear meanwhile that it is being made, and at once where it fails."""
        try:
            while not (await asyncio.wait({searching}, timeout=self._lease_seconds / _BEATS_PER_LEASE))[0]:
                before = self._mark
                self._beats += 1
                await self._put(before)
            return searching.result()
        except BaseException:
            searching.cancel()
            with suppress(RedisError):  # others find out when the lease is over
                await self._store.claim(*self._search, self._mark, "")
            raise

    async def keep(self, found: SearchRecord) -> SearchRecord:
        """Keep the result, and return what is kept."""
        return await retry_until_up(lambda: self._store.keep(*self._search, found))

    @property
    def _mark(self) -> str:
        return f"{self._name}/{self._beats}"

    async def _put(self, before: str) -> tuple[SearchRecord | None, str]:
        """Stand in the place of who asked before; what is kept, and who asks now."""
        return await retry_until_up(lambda: self._store.claim(*self._search, before, self._mark))
