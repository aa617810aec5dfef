"""Waits out a server that is away for longer than a connection's own retries, or that refuses to write."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from redis.exceptions import RedisError

from gigavqa.runtime.errors import StateStoreRefusedError
from gigavqa.store.connection import is_state_store_down

T = TypeVar("T")

log = logging.getLogger(__name__)

_PAUSE_SECONDS = 1.0


class _StoreOutage:
    """Those who wait for the state store. It is logged when the first one has to, and when the last one is through."""

    def __init__(self) -> None:
        self._waiting: set[object] = set()

    def begin(self, who: object, error: Exception) -> None:
        if not self._waiting:
            log.warning("the server is away or refuses to write (%s); what is finished is kept until it is back", error)
        self._waiting.add(who)

    def end(self, who: object) -> None:
        if who in self._waiting:
            self._waiting.discard(who)
            if not self._waiting:
                log.warning("the server is back")

    def leave(self, who: object) -> None:
        self._waiting.discard(who)


_outage = _StoreOutage()  # a process has one server


async def retry_until_up(call: Callable[[], Awaitable[T]]) -> T:
    """Repeat `call`, which must be safe to repeat, until the server is there and takes it."""
    who = object()
    try:
        while True:
            with _watch(who):
                return await call()
            await asyncio.sleep(_PAUSE_SECONDS)
    finally:
        _outage.leave(who)


async def skip_if_down(who: object, call: Callable[[], Awaitable[None]]) -> None:
    """Make a call that will be made again soon, by the same `who`; one that the server does not take is passed over."""
    with _watch(who):
        await call()


@contextmanager
def _watch(who: object) -> Iterator[None]:
    """Suppress what waiting helps against in a block, and note for `who` how it went."""
    try:
        yield
    except (RedisError, StateStoreRefusedError) as error:
        if not _can_be_waited_out(error):
            raise
        _outage.begin(who, error)
    else:
        _outage.end(who)


def _can_be_waited_out(error: Exception) -> bool:
    """Return whether what is finished is to be kept: also where the operator changes password or certificate."""
    return isinstance(error, StateStoreRefusedError) or is_state_store_down(error)
