"""Bounds that all streams of results share: turns at reading, parts that were read, and bytes that nobody took yet."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from starlette.responses import StreamingResponse
from starlette.types import Send

from gigavqa.contract.errors import ResultsUnavailableError
from gigavqa.service.http.fair_semaphore import FairSemaphore
from gigavqa.store.results import PAGE, PartCache

log = logging.getLogger(__name__)

_PAGES_AT_A_TIME = 1
_FIRST_ROWS = 1
_PAGE_BYTES = 128 * 1024
_PIECE_BYTES = 64 * 1024
_MOST_UNREAD_BYTES = 64 << 20
_CACHE_BYTES = 32 << 20
_STALL_SECONDS = 600.0


class ResultReaders:
    """The clients that read results. A page is made for a few of them at a time, so that the process answers others.

    Where `most_bytes` of them all are not taken, each further page holds one response.
    """

    def __init__(self, most_bytes: int = _MOST_UNREAD_BYTES) -> None:
        self.unread = 0
        self._most_bytes = most_bytes
        self._turns = FairSemaphore(_PAGES_AT_A_TIME, _PAGES_AT_A_TIME)
        self._kept = PartCache(_CACHE_BYTES)
        self._open = 0

    @contextmanager
    def reader(self, owner: str | None = None) -> Iterator["ResultReader"]:
        """Begin to send results to somebody of an owner's."""
        self._open += 1
        try:
            yield ResultReader(self, owner)
        finally:
            self._open -= 1
            if not self._open:
                self._kept.clear()

    @property
    def is_full(self) -> bool:
        """Whether clients have not taken so much that nothing is to be made ahead of them."""
        return self.unread > self._most_bytes

    @asynccontextmanager
    async def turn(self, owner: str | None) -> AsyncIterator[PartCache]:
        """Wait for an owner's turn at making a page; gives the parts that were read for all."""
        async with self._turns.of(owner):
            yield self._kept


class ResultReader:
    """One client that reads results: how many responses it is sent at a time, by how long they are."""

    def __init__(self, readers: ResultReaders, owner: str | None) -> None:
        self._readers = readers
        self._owner = owner
        self._rows = _FIRST_ROWS

    @property
    def rows(self) -> int:
        """The most responses of the next page."""
        return 1 if self._readers.is_full else self._rows

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[PartCache]:
        """Wait for this client's turn, as `ResultReaders.turn`."""
        async with self._readers.turn(self._owner) as kept:
            yield kept

    def pieces(self, page: bytes, rows: int) -> Iterator[bytes]:
        """Yield a page in pieces, which counts as unread until the last of them is taken."""
        self._readers.unread += len(page)
        try:
            for start in range(0, len(page), _PIECE_BYTES):
                yield page[start : start + _PIECE_BYTES]
        finally:
            self._readers.unread -= len(page)
        self._rows = max(1, min(PAGE, 2 * self._rows, rows * _PAGE_BYTES // max(1, len(page))))


class StallLimitedResponse(StreamingResponse):
    """A stream that ends, cut short, where its client takes nothing for ten minutes, or the results store is away."""

    async def stream_response(self, send: Send) -> None:
        """Send it. What is cut short has no end: its client sees that, and is told why when it goes on."""

        async def in_time(message: dict[str, object]) -> None:
            async with asyncio.timeout(_STALL_SECONDS):
                await send(message)

        try:
            await super().stream_response(in_time)  # type: ignore[arg-type]  # messages are what ASGI has them be
        except ResultsUnavailableError as error:
            log.warning("a stream of results is cut short: %s", error)
