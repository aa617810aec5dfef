"""Connect to the state store: its restart is waited out for half a minute; one that evicts keys is refused."""

import asyncio
import re
from typing import Any

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialWithJitterBackoff
from redis.driver_info import DriverInfo
from redis.exceptions import (
    ClusterDownError,
    MasterDownError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    ResponseError,
    TryAgainError,
)
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from gigavqa.runtime.errors import StateStoreRefusedError
from gigavqa.store.reachability import is_refusal, read_connection_info, refusal, require_fit

BLOCK_SECONDS = 5.0
"""Longest time that a blocking read waits on the state store; callers that want to wait longer read again."""

_SOCKET_TIMEOUT = BLOCK_SECONDS + 15.0
_RETRIES = 45  # with the backoff below, 35-45 s of waiting in all
_DRIVER = DriverInfo()  # each connection would read the package's metadata for its own, for milliseconds
_DOWN_ERRORS = (RedisConnectionError, RedisTimeoutError)
_REFUSAL_ERRORS = (OutOfMemoryError, ReadOnlyError, MasterDownError, ClusterDownError, TryAgainError)
_REFUSAL_MESSAGE = re.compile(r"""(?:^|caused error: \(["'])(?:MISCONF|NOREPLICAS|BUSY) """)  # replies without a class


def connect(url: str, *, max_connections: int = 32, retries: int = _RETRIES) -> Redis:
    """Make a client of the state store at `url` (`redis://`, `rediss://` or `unix://`); connects on first use.

    Commands are repeated with exponential backoff on connection errors. Replies are bytes. Each new connection looks at
    the state store's kind and its policy for full memory: the command that wanted it raises StateStoreRefusedError,
    also where password or certificate are refused.
    """
    pool = BlockingConnectionPool.from_url(
        url,
        max_connections=max_connections,
        timeout=60,  # seconds to wait for a free connection of the pool
        protocol=2,
        socket_timeout=_SOCKET_TIMEOUT,
        socket_connect_timeout=5,
        retry=Retry(ExponentialWithJitterBackoff(base=0.05, cap=1.0), retries),
        retry_on_error=[ReadOnlyError],  # the server was replaced by another one: its address must be looked up anew
        health_check_interval=0,
        driver_info=_DRIVER,
    )
    pool.connection_class = _with_checks(_with_cancellation(pool.connection_class))
    return Redis.from_pool(pool)


def is_state_store_down(error: Exception) -> bool:
    """Return whether the state store does not answer, or refuses to write for now (its memory or its disk is full, for
    one).

    It changed nothing then, or a lost reply hides what it did; the same call is worth making again.
    """
    refused = isinstance(error, _REFUSAL_ERRORS) or (
        isinstance(error, ResponseError) and _REFUSAL_MESSAGE.search(str(error))
    )
    return isinstance(error, _DOWN_ERRORS) or bool(refused)


def _with_cancellation(connection_class: Any) -> type:
    """Extend a class of connections so that a cancelled task ends there.

    redis-py sends under `asyncio.wait_for`, which in Python 3.11 forgets a cancellation that comes as the send ends
    (cpython issue 86296); a loop that only waits for the state store would then go on for ever.
    """

    async def send_packed_command(self: Any, *args: Any, **kwargs: Any) -> None:
        task = asyncio.current_task()
        before = task.cancelling() if task else 0
        await connection_class.send_packed_command(self, *args, **kwargs)
        if task and task.cancelling() > before:
            await self.disconnect(nowait=True)  # the reply to what was sent will not be read
            raise asyncio.CancelledError

    return type(connection_class.__name__, (connection_class,), {"send_packed_command": send_packed_command})


def _with_checks(connection_class: Any) -> type:
    """Extend a class of connections so that each asks what the state store is before it is used."""

    async def connect_check_health(self: Any, **options: bool) -> None:
        if self.is_connected:
            return
        try:
            await connection_class.connect_check_health(self, **options)
            if self._connect_callbacks:  # it listens, as it did before it was lost, and takes no other command
                return
            info = await read_connection_info(self)
        except RedisError as error:
            if is_refusal(error):
                await self.disconnect()
                raise refusal(error) from error
            raise
        try:
            require_fit(info)
        except StateStoreRefusedError:
            await self.disconnect()
            raise

    return type(connection_class.__name__, (connection_class,), {"connect_check_health": connect_check_health})
