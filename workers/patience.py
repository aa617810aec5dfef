"""Waits out a server that is away for longer than a connection's own retries."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from redis.exceptions import BusyLoadingError, ConnectionError, TimeoutError

T = TypeVar("T")

log = logging.getLogger(__name__)

SERVER_AWAY = (ConnectionError, TimeoutError, BusyLoadingError)
_PAUSE_SECONDS = 1.0


async def patiently(call: Callable[[], Awaitable[T]]) -> T:
    """Repeat `call`, which must be safe to repeat, until the server is there."""
    while True:
        try:
            return await call()
        except SERVER_AWAY as error:
            log.warning("the server is away (%s); what is finished is kept until it is back", error)
            await asyncio.sleep(_PAUSE_SECONDS)
