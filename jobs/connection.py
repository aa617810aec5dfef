"""How every process connects: a restart of the server within half a minute is waited out, not raised."""

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialWithJitterBackoff

BLOCK_SECONDS = 5.0
"""Longest time that a blocking read waits on the server; callers that want to wait longer read again."""

_SOCKET_TIMEOUT = BLOCK_SECONDS + 15.0
_RETRIES = 45  # with the backoff below, 35-45 s of waiting in all


def connect(url: str, *, max_connections: int = 32) -> Redis:
    """Make a client of the server at `url` (`redis://`, `rediss://` or `unix://`); connects on first use.

    Commands are repeated with exponential backoff on connection errors. Replies are bytes.
    """
    pool = BlockingConnectionPool.from_url(
        url,
        max_connections=max_connections,
        timeout=60,  # seconds to wait for a free connection of the pool
        protocol=2,
        socket_timeout=_SOCKET_TIMEOUT,
        socket_connect_timeout=5,
        retry=Retry(ExponentialWithJitterBackoff(base=0.05, cap=1.0), _RETRIES),
        health_check_interval=0,
    )
    return Redis.from_pool(pool)
