"""Sessions of browsers, which cannot send a key with every picture of a page.

What a browser holds is no key: it opens less, for hours, and only while its key is good. Kept is a digest of each.
"""

import hashlib
import secrets
import time

from redis.asyncio import Redis

from gigavqa.contract.errors import KeyInvalidError
from gigavqa.store.api_keys import ApiKey, ApiKeys
from gigavqa.store.redis_keys import KEYS

_MOST = 16  # of one key; the one that ends first leaves


class Sessions:
    """The sessions of an installation, which any of its processes may begin and find."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._known = ApiKeys(redis)

    async def begin(self, key: ApiKey, seconds: float) -> str:
        """Begin a session that ends after `seconds`; returns what names it, which nobody can tell again."""
        secret, now = secrets.token_urlsafe(32), time.time() * 1000
        sessions, lasts = KEYS.sessions(key.id), int(seconds * 1000)
        async with self._redis.pipeline(transaction=True) as pipeline:
            pipeline.zremrangebyscore(sessions, "-inf", now)
            pipeline.zadd(sessions, {_digest(secret): now + lasts})
            pipeline.zremrangebyrank(sessions, 0, -_MOST - 1)
            pipeline.pexpire(sessions, lasts)
            await pipeline.execute()
        return f"{key.id}.{secret}"

    async def find(self, named: str) -> ApiKey:
        """Return the key that a session was begun with.

        Raises KeyInvalidError when either is over, or there is no such.
        """
        key_id, _, secret = named.partition(".")
        if not (key_id.isascii() and key_id.isalnum()):
            raise KeyInvalidError("what was sent names no session")
        ends = await self._redis.zscore(KEYS.sessions(key_id), _digest(secret))
        key = await self._known.recall(key_id) if ends and ends > time.time() * 1000 else None
        if key is None:
            raise KeyInvalidError("the session is over; present the key again")
        return key


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
