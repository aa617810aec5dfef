"""Say why the state store at REDIS_URL does not serve: away, of another kind, unfit, or refusing who asks."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import InvalidResponse, NoPermissionError, RedisError, ResponseError

from gigavqa.runtime.errors import StateStoreUnavailableError

_SECONDS = 5


async def require_answer(url: str) -> None:
    """Raise StateStoreUnavailableError where no state store at `url` answers this user, or it cannot keep jobs.

    What it hides by its access lists is not looked at.
    """
    async with _answering(url) as redis:
        await redis.ping()
        try:
            info = await redis.info()
        except NoPermissionError:
            return
        if fault := _unfit(info):
            raise StateStoreUnavailableError(f"REDIS_URL names {fault}")


async def read_info(url: str) -> Mapping[str, Any]:
    """Return what the state store at `url` tells of itself. Raises StateStoreUnavailableError."""
    async with _answering(url) as redis:
        return dict(await redis.info())


@asynccontextmanager
async def _answering(url: str) -> AsyncIterator[Redis]:
    redis = Redis.from_url(url, socket_timeout=_SECONDS, socket_connect_timeout=_SECONDS)
    try:
        yield redis
    except (RedisError, OSError) as error:
        raise StateStoreUnavailableError(f"REDIS_URL {_describe(error)}") from error
    finally:
        await redis.aclose()


def _unfit(info: Mapping[str, Any]) -> str | None:
    if info.get("cluster_enabled"):
        return "a node of a cluster, over which jobs are not spread; name a server that stands alone"
    if info.get("role") == "slave" and info.get("slave_read_only", 1):
        primary = f"{info.get('master_host')}:{info.get('master_port')}"
        return f"a replica, which takes no jobs; name its primary, {primary}"
    return None


def _describe(error: Exception) -> str:
    """Tell what an error says of the address, and what helps."""
    said = " ".join(str(cause) for cause in (error, error.__cause__) if cause)
    for signs, sentence in _SENTENCES:
        if any(sign in said for sign in signs):
            return sentence.format(error)
    if isinstance(error, InvalidResponse):
        return "names a server that is no Redis or Valkey, or that speaks TLS (rediss://)"
    if isinstance(error, ResponseError):
        return f"is answered with an error: {error}"
    return f"does not answer: {error}; start it, or unset REDIS_URL"


_SENTENCES = (
    (
        (
            "NOAUTH",
            "WRONGPASS",
            "invalid username-password",
            "Authentication required",
            "invalid password",
            "already authenticated",
        ),
        "is refused: {}; write the right user and password, redis://USER:PASSWORD@HOST",
    ),
    (("NOPERM", "has no permissions"), "names a user who may not ask: {}; allow that user all commands and keys"),
    (
        ("MOVED ", "cluster support", "cluster mode"),
        "names a node of a cluster, over which jobs are not spread; name a server that stands alone",
    ),
    (("DB index", "invalid DB"), "names a database that the server does not have: {}; end it with /0"),
    (
        ("SSL", "ssl", "certificate"),
        "has no TLS in common with the server: {}; write rediss:// where it speaks TLS, redis:// elsewhere",
    ),
    (("Protocol Error",), "names a server that is no Redis or Valkey, or that speaks TLS (rediss://)"),
)
"""By what an error says: what is told of the address."""
