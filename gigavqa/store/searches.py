"""Searches of a job's chats: each search is asked once and has one result."""

import hashlib
from typing import TYPE_CHECKING

from pydantic import Field
from pydantic_core import to_json

from gigavqa.contract.base import Contract
from gigavqa.contract.codec import pack, unpack
from gigavqa.store.lua_scripts import LuaScripts

if TYPE_CHECKING:
    from redis.asyncio import Redis


class SearchRecord(Contract):
    """The result of a search: the text that is shown, none where nothing was found, and the pages behind it."""

    text: str
    documents: tuple[str, ...] = Field(default=(), description="ids or addresses, best first")


def search_key(source: str, version: str, summarizer: str, query: str, top_k: int) -> str:
    """Name of a search within its job."""
    return hashlib.blake2b(to_json([source, version, summarizer, query, top_k]), digest_size=16).hexdigest()


class SearchStore:
    """The results of all jobs' searches; those of a job go with it."""

    def __init__(self, redis: "Redis") -> None:
        self._calls = LuaScripts(redis)

    async def claim(self, job_id: str, key: str, before: str, asker: str) -> tuple[SearchRecord | None, str]:
        """Put `asker` in the place of who asked `before`, either of whom may be ''; what is kept, and who asks now.

        Of a job that was deleted everybody may ask.
        """
        packed, asking = await self._calls.claim_search(job_id, key, before, asker)
        return None if packed is None else unpack(SearchRecord, packed), asking

    async def keep(self, job_id: str, key: str, found: SearchRecord) -> SearchRecord:
        """Keep the first result of a search, and return it; of a job that was deleted nothing is kept."""
        first = await self._calls.keep_search(job_id, key, pack(found))
        return found if first is None else unpack(SearchRecord, first)
