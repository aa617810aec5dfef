"""Records of the files that clients uploaded; the bytes lie in the folder of uploads."""

import secrets
import time
from collections.abc import Sequence
from typing import Literal

from redis.asyncio import Redis

from gigavqa.contract.base import Contract
from gigavqa.contract.errors import QuotaExceededError
from gigavqa.store.api_keys import ALL_OWNERS
from gigavqa.store.lua_scripts import LuaScripts
from gigavqa.store.redis_keys import KEYS

_RETRY_AFTER_SECONDS = 60.0
_CHUNK = 1000
Purpose = Literal["batch", "batch_output", "vision", "user_data", "assistants", "evals"]


class StoredFile(Contract):
    """An uploaded file, or one that a batch wrote. Times are in seconds; `owner` is empty where nobody is asked."""

    id: str
    bytes: int
    created_at: int
    filename: str
    purpose: Purpose
    expires_at: int | None = None
    owner: str = ""


def new_file_id() -> str:
    """Make the id of a file."""
    return f"file-{secrets.token_hex(12)}"


class FileRegistry:
    """The files of all owners, newest first."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._calls = LuaScripts(redis)

    async def add(self, file: StoredFile, most_bytes: int | None = None) -> None:
        """Show a file whose bytes are there; safe to repeat. What an owner keeps is counted and bounded together.

        Raises QuotaExceededError when it would be more than `most_bytes`.
        """
        told = file.model_dump_json()
        if not await self._calls.keep_file(
            file.id, file.owner, told, num_bytes=file.bytes, limit=most_bytes, expires_at=file.expires_at
        ):
            message = f"with {file.bytes} bytes more there were over {most_bytes} bytes of files, which may be kept"
            raise QuotaExceededError(message, _RETRY_AFTER_SECONDS)

    async def get(self, file_id: str, owner: str) -> StoredFile | None:
        """Return a file of an owner's, or of ALL, that has not expired; None where there is none."""
        found = await self._read([file_id])
        return found[0] if found and owner in {ALL_OWNERS, found[0].owner} and _is_unexpired(found[0]) else None

    async def list(
        self, owner: str, *, after: str | None, limit: int, purpose: str | None, newest_first: bool
    ) -> tuple[Sequence[StoredFile], bool]:
        """Return up to `limit` files of an owner's, or of ALL, that come after `after`, and whether there are more."""
        among = KEYS.files(owner)
        ids = await self._redis.zrange(among, 0, -1, desc=newest_first)
        names = [id_.decode() for id_ in ids]
        if after in names:
            names = names[names.index(after) + 1 :]
        found: list[StoredFile] = []
        for start in range(0, len(names), _CHUNK):
            page = await self._read(names[start : start + _CHUNK])
            found += [file for file in page if _is_unexpired(file) and purpose in (None, file.purpose)]
            if len(found) > limit:
                break
        return found[:limit], len(found) > limit

    async def totals(self, owner: str) -> tuple[int, int]:
        """Return how many files an owner has, and how many bytes they have together."""
        number = await self._redis.zcard(KEYS.files(owner))
        return number, int(await self._redis.hget(KEYS.uploaded(), owner) or 0)

    async def remove(self, file_id: str) -> bool:
        """Forget a file; returns whether there was one."""
        return await self._calls.drop_file(file_id)

    async def expired(self, limit: int = 100) -> Sequence[StoredFile]:
        """Return files whose time is over, to be removed."""
        due = await self._redis.zrangebyscore(KEYS.expiring_files(), "-inf", time.time(), 0, limit)
        return await self._read([id_.decode() for id_ in due])

    async def _read(self, file_ids: Sequence[str]) -> Sequence[StoredFile]:
        """Return those of these files that are there, in their order."""
        if not file_ids:
            return []
        found = await self._redis.mget([KEYS.file(file_id) for file_id in file_ids])
        return [StoredFile.model_validate_json(each) for each in found if each]


def _is_unexpired(file: StoredFile) -> bool:
    return file.expires_at is None or file.expires_at > time.time()
