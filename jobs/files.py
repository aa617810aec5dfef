"""What is known of the files that clients uploaded; their bytes lie in the folder of uploads."""

import secrets
import time
from collections.abc import Sequence
from typing import Literal

from redis.asyncio import Redis

from jobs.keys import KEYS, Keys
from jobs.models import Contract

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

    def __init__(self, redis: Redis, *, keys: Keys = KEYS) -> None:
        self._redis = redis
        self._keys = keys

    async def add(self, file: StoredFile) -> None:
        """Show a file whose bytes are there; safe to repeat."""
        async with self._redis.pipeline() as pipeline:
            pipeline.set(self._keys.file(file.id), file.model_dump_json())
            pipeline.zadd(self._keys.files(file.owner), {file.id: time.time_ns() // 1000}, nx=True)
            if file.expires_at is not None:
                pipeline.zadd(self._keys.expiring_files(), {file.id: file.expires_at})
            await pipeline.execute()

    async def get(self, file_id: str, owner: str) -> StoredFile | None:
        """Return a file of an owner's that has not expired; None where there is none."""
        found = await self._read([file_id])
        return found[0] if found and found[0].owner == owner and _is_kept(found[0]) else None

    async def list(
        self, owner: str, *, after: str | None, limit: int, purpose: str | None, newest_first: bool
    ) -> tuple[Sequence[StoredFile], bool]:
        """Return up to `limit` files of an owner's that come after `after`, and whether there are more."""
        among = self._keys.files(owner)
        ids = await self._redis.zrange(among, 0, -1, desc=newest_first)
        names = [id_.decode() for id_ in ids]
        if after in names:
            names = names[names.index(after) + 1 :]
        found: list[StoredFile] = []
        for start in range(0, len(names), _CHUNK):
            page = await self._read(names[start : start + _CHUNK])
            found += [file for file in page if _is_kept(file) and purpose in (None, file.purpose)]
            if len(found) > limit:
                break
        return found[:limit], len(found) > limit

    async def totals(self, owner: str) -> tuple[int, int]:
        """How many files an owner has, and how many bytes they have together."""
        found = await self._read([id_.decode() for id_ in await self._redis.zrange(self._keys.files(owner), 0, -1)])
        return len(found), sum(file.bytes for file in found)

    async def remove(self, file_id: str, owner: str) -> bool:
        """Forget a file of an owner's; returns whether there was one."""
        async with self._redis.pipeline() as pipeline:
            pipeline.zrem(self._keys.files(owner), file_id)
            pipeline.zrem(self._keys.expiring_files(), file_id)
            pipeline.delete(self._keys.file(file_id))
            *_, removed = await pipeline.execute()
        return bool(removed)

    async def expired(self, limit: int = 100) -> Sequence[StoredFile]:
        """Return files whose time is over, to be removed."""
        due = await self._redis.zrangebyscore(self._keys.expiring_files(), "-inf", time.time(), 0, limit)
        return await self._read([id_.decode() for id_ in due])

    async def _read(self, file_ids: Sequence[str]) -> Sequence[StoredFile]:
        """Those of these files that are there, in their order."""
        if not file_ids:
            return []
        found = await self._redis.mget([self._keys.file(file_id) for file_id in file_ids])
        return [StoredFile.model_validate_json(each) for each in found if each]


def _is_kept(file: StoredFile) -> bool:
    return file.expires_at is None or file.expires_at > time.time()
