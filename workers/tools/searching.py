"""Searches as chats ask for them: in corpora and in the operator's sources, by name, each once in a job."""

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

from jobs.loops import Search
from jobs.searches import Found, SearchStore, search_key
from retrieval.corpora import Corpora
from retrieval.errors import IndexUnusableError, RetrievalError, SourceChangedError, SourceUnknownError
from retrieval.sources import Source
from workers.patience import if_there, patiently

log = logging.getLogger(__name__)

Outcome = Literal["asked", "asked_again", "known", "failed"]
"""Asked again is what somebody asked who was killed meanwhile; known is what was kept before, or by somebody else."""

LEASE_SECONDS = 5.0
_BEATS = 5
_LOOKS = 25


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
    """Asks sources, and keeps each result before anybody is shown it. Whoever asks for the same meanwhile waits.

    That holds among the workers, too: who asks says so on the server, and again and again for as long as it takes. One
    that others have not heard of for `lease_seconds` of their own time asks no more, and one of them does.
    """

    def __init__(
        self,
        sources: Sources,
        store: SearchStore,
        lease_seconds: float = LEASE_SECONDS,
        count: Callable[[Outcome], None] = lambda _: None,
    ) -> None:
        self._sources = sources
        self._store = store
        self._lease_seconds = lease_seconds
        self._count = count
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
            claim = _Claim(self._store, job_id, key, self._lease_seconds)
            task = asyncio.create_task(self._once(claim, source, tool, query), name="search")
            self._under_way[job_id, key] = task
            task.add_done_callback(lambda done: self._end(job_id, key, done))
        # Shielded: others may wait for the same search when this chat is cancelled.
        found, cached = await asyncio.shield(task)
        return Searched(found, cached or not is_first, f"{tool.source} {source.version} {source.summarizer}")

    async def _once(self, claim: "_Claim", source: Source, tool: Search, query: str) -> tuple[Found, bool]:
        if (kept := await claim.take()) is not None:
            self._count("known")
            return kept, True
        try:
            found = await claim.hold(asyncio.create_task(_ask(source, tool, query)))
        except RetrievalError as error:
            self._count("failed")
            if isinstance(error, IndexUnusableError):
                self._sources.forget(tool.source)
            raise
        self._count("asked_again" if claim.taken_over else "asked")
        return await claim.keep(found), False

    def _end(self, job_id: str, key: str, task: asyncio.Task[tuple[Found, bool]]) -> None:
        del self._under_way[job_id, key]
        if not task.cancelled():
            task.exception()  # looked at, lest asyncio complains when nobody waits for it any more


async def _ask(source: Source, tool: Search, query: str) -> Found:
    pages = await source.search(query, tool.top_k)
    return Found(text=await source.write(query, pages), documents=tuple(page.id for page in pages))


class _Claim:
    """One worker's right to make a search of a job."""

    def __init__(self, store: SearchStore, job_id: str, key: str, lease_seconds: float) -> None:
        self._store = store
        self._search = job_id, key
        self._lease_seconds = lease_seconds
        self._name = secrets.token_hex(8)
        self._beats = 0
        self.taken_over = False
        """Whether another one asked before, and was heard of no more."""

    async def take(self) -> Found | None:
        """Wait until somebody's result is kept, and return it; None when the search is this one's to make."""
        seen, since = "", time.monotonic()
        while True:
            self.taken_over = bool(seen) and time.monotonic() - since > self._lease_seconds
            kept, asker = await self._put(seen if self.taken_over else "", self._mark)
            if kept is not None:
                return kept
            if asker == self._mark:
                if self.taken_over:
                    log.info("search %s of %s is made again: who made it is gone", *reversed(self._search))
                return None
            if asker != seen:
                seen, since = asker, time.monotonic()
            await asyncio.sleep(self._lease_seconds / _LOOKS)

    async def hold(self, searching: asyncio.Task[Found]) -> Found:
        """What a search comes to; others hear meanwhile that it is being made, and at once where it fails."""
        try:
            while not (await asyncio.wait({searching}, timeout=self._lease_seconds / _BEATS))[0]:
                await if_there(self, self._renew)
            return searching.result()
        except BaseException:
            searching.cancel()
            await if_there(self, self._give_up)
            raise

    async def keep(self, found: Found) -> Found:
        """Keep the result, and return what is kept."""
        return await patiently(lambda: self._store.keep(*self._search, found))

    @property
    def _mark(self) -> str:
        return f"{self._name}/{self._beats}"

    async def _renew(self) -> None:
        before = self._mark
        self._beats += 1
        await self._store.claim(*self._search, before, self._mark)

    async def _give_up(self) -> None:
        await self._store.claim(*self._search, self._mark, "")

    async def _put(self, before: str, asker: str) -> tuple[Found | None, str]:
        return await patiently(lambda: self._store.claim(*self._search, before, asker))
