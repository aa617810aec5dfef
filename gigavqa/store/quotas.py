"""Quotas of one key: requests a minute, and open streams."""

import secrets
from typing import NamedTuple

from redis.asyncio import Redis

from gigavqa.contract.errors import QuotaExceededError
from gigavqa.store.api_keys import ApiKey
from gigavqa.store.lua_scripts import LuaScripts
from gigavqa.store.redis_keys import KEYS

STREAM_SECONDS = 60.0
"""How long a stream counts as open that nobody renews: its gateway may have died."""

_RETRY_AFTER_SECONDS = 10.0


class RateLimitStatus(NamedTuple):
    """The standing of a request to its key's rate: whether it may pass, how many may follow now, and seconds to
    wait.
    """

    admitted: bool
    limit: int
    remaining: int
    retry_after: float
    reset_after: float


class Quotas:
    """Counts on the state store, each in one script, so that several gateways count together and a race admits no
    more.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._calls = LuaScripts(redis)
        self._open: dict[str, str] = {}

    async def pass_request(self, key: ApiKey) -> RateLimitStatus | None:
        """Count a request of a key; None where the key has no rate.

        As many as the limit may come at once; then one for each part of the minute (GCRA).
        """
        limit = key.limits.requests_a_minute
        if limit is None:
            return None
        admitted, remaining, retry, reset = await self._calls.rate(KEYS.rate(key.id), limit)
        return RateLimitStatus(admitted, limit, remaining, retry / 1e6, reset / 1e6)

    async def open_stream(self, key: ApiKey) -> str:
        """Count a stream as open until `close_stream`; returns its token. Raises QuotaExceededError."""
        token, limit = secrets.token_hex(8), key.limits.open_streams
        if not await self._calls.stream(KEYS.streams(key.id), token, limit or 0, int(STREAM_SECONDS * 1000)):
            message = f"the key gvq_{key.id} has {limit} streams open already, which is its limit"
            raise QuotaExceededError(message, _RETRY_AFTER_SECONDS)
        self._open[token] = key.id
        return token

    async def close_stream(self, token: str) -> None:
        """Count a stream no more."""
        await self._redis.zrem(KEYS.streams(self._open.pop(token)), token)

    async def renew_streams(self) -> None:
        """Keep the streams of this process counted; to be called several times in STREAM_SECONDS."""
        for token, key_id in list(self._open.items()):
            await self._calls.stream(KEYS.streams(key_id), token, 0, int(STREAM_SECONDS * 1000))
