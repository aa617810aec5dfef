"""What is known of the files that clients uploaded; their bytes lie in the folder of uploads."""

import secrets
import time
from collections.abc import Sequence
from typing import Literal

from redis.asyncio import Redis

from jobs.keys import KEYS, Keys
from jobs.models import Contract

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
        found = await self._redis.get(self._keys.file(file_id))
        file = StoredFile.model_validate_json(found) if found else None
        if file is None or file.owner != owner or (file.expires_at or time.time() + 1) <= time.time():
            return None
        return file

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
        for name in names:
            file = await self.get(name, owner)
            if file and purpose in (None, file.purpose):
                found.append(file)
            if len(found) > limit:
                break
        return found[:limit], len(found) > limit

    async def totals(self, owner: str) -> tuple[int, int]:
        """How many files an owner has, and how many bytes they have together."""
        ids = await self._redis.zrange(self._keys.files(owner), 0, -1)
        if not ids:
            return 0, 0
        found = await self._redis.mget([self._keys.file(id_.decode()) for id_ in ids])
        return len(ids), sum(StoredFile.model_validate_json(each).bytes for each in found if each)

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
        if not due:
            return []
        found = await self._redis.mget([self._keys.file(id_.decode()) for id_ in due])
        gone = [id_ for id_, each in zip(due, found, strict=True) if each is None]
        if gone:
            await self._redis.zrem(self._keys.expiring_files(), *gone)
        return [StoredFile.model_validate_json(each) for each in found if each]
