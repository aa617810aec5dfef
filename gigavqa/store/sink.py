"""Moves responses from the state store to Parquet parts, so that the state store holds only the recent ones whole."""

import asyncio
import logging
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from redis.asyncio import Redis
from redis.exceptions import LockError, RedisError
from zstandard import ZstdError

from gigavqa.contract.codec import decompress
from gigavqa.contract.schema_versions import upgrade_response
from gigavqa.store.lua_scripts import LuaScripts, SinkEntry
from gigavqa.store.parquet_parts import PartStore, require_row
from gigavqa.store.redis_keys import KEYS

_LOCK_SECONDS = 60.0
_POLL_SECONDS = 1.0
_TOLD_SECONDS = 60.0
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _UnsunkEntry:
    """One response that is to be sunk: its entry in the sink's stream, and which recording of the request it is."""

    id: str
    job_id: str
    request_id: str
    cursor: str

    @property
    def at(self) -> float:
        """When the response was recorded, in seconds by the state store's clock."""
        return int(self.id.split("-")[0]) / 1000


class ParquetSink:
    """Writes parts of up to `rows` responses that were recorded within `seconds`, and `settle_seconds` later.

    Any number of sinks may run; one at a time works. Which responses a part holds, and its name, follow from the stream
    of unsunk responses alone: it takes the first one, and all of the same job that are near it. So what is done again
    after a crash replaces the very part that was left unmarked. After `settle_seconds` the state store's disk has what
    the server said: a power cut takes back no response of a part (docs/decisions/0016-durability.md).
    """

    def __init__(
        self,
        redis: Redis,
        results_uri: str,
        *,
        rows: int = 512,
        seconds: float = 60.0,
        settle_seconds: float = 5.0,
    ) -> None:
        self._redis = redis
        self._parts = PartStore(results_uri)
        self._rows = rows
        self._seconds = seconds
        self._settle_seconds = settle_seconds
        self._calls = LuaScripts(redis)
        self._lock = redis.lock(KEYS.sink_lock(), timeout=_LOCK_SECONDS)
        self._awaited = "", 0.0
        self.errors = 0
        """How often a step of `run_forever` failed and was put off."""
        self.put_aside = 0
        """Responses that no part can hold, and that stay on the state store."""
        self.fault: str | None = None
        """Why the last step that had something to sink failed; None where it did not, or another sink works."""
        self._told_at = -math.inf

    async def run_forever(self) -> None:
        """Sink what is due until cancelled; a step that fails is logged, counted and tried again."""
        try:
            while True:
                await self._try_step()
        finally:
            await self._unlock()

    async def run_until_drained(self) -> int:
        """Sink everything that is recorded, due or not; returns the number of responses moved."""
        moved = 0
        try:
            while True:
                if not await self._hold_lock():
                    await asyncio.sleep(_POLL_SECONDS)
                    continue
                if not (entries := await self._first_entries()):
                    return moved
                moved += await self._sink(entries)
        finally:
            await self._unlock()

    async def _try_step(self) -> None:
        try:
            if not await self._hold_lock():
                self.fault = None
            elif entries := await self._due():
                await self._sink(entries)
                self._note(None)
                return
            await asyncio.sleep(min(_POLL_SECONDS, self._seconds))
        except (RedisError, OSError) as error:
            self.errors += 1
            self._note(str(error))
            await asyncio.sleep(_POLL_SECONDS)

    def _note(self, fault: str | None) -> None:
        """Keep how a step went, and log it: a fault that stays once a minute."""
        if fault and (fault != self.fault or time.monotonic() - self._told_at >= _TOLD_SECONDS):
            self._told_at = time.monotonic()
            _log.warning("sinking responses failed and is put off: %s", fault)
        elif self.fault and not fault:
            _log.warning("sinking responses goes on")
        self.fault = fault

    async def _hold_lock(self) -> bool:
        # Two sinks at once would split the same entries into different parts.
        try:
            if await self._lock.owned():
                return bool(await self._lock.reacquire())
        except LockError:
            self._lock.local.token = None
        return bool(await self._lock.acquire(blocking=False))

    async def _unlock(self) -> None:
        try:
            await self._lock.release()
        except LockError:
            self._lock.local.token = None

    async def _due(self) -> list[_UnsunkEntry]:
        """Return the first entries, if it is time for a part of them."""
        entries = await self._first_entries()
        if len(entries) == self._rows:
            is_due = await self._age(entries[-1]) >= self._settle_seconds
        else:
            is_due = bool(entries) and await self._age(entries[0]) >= self._seconds + self._settle_seconds
        return entries if is_due else []

    async def _age(self, entry: _UnsunkEntry) -> float:
        """Seconds since an entry was recorded, or at least since it was asked about first."""
        if entry.id != self._awaited[0]:
            self._awaited = entry.id, time.monotonic()
        awaited, (seconds, microseconds) = time.monotonic() - self._awaited[1], await self._redis.time()
        # Where a clock stepped back, its entries are of the future for as long as the step.
        return max(float(seconds + microseconds / 1e6) - entry.at, awaited)

    async def _first_entries(self) -> list[_UnsunkEntry]:
        """Return the entries that are no longer after the first one than `seconds`.

        What is in parts has left the stream.
        """
        found = [_read_entry(*each) for each in await self._redis.xrange(KEYS.unsunk(), count=self._rows)]
        return list(takewhile(lambda entry: entry.at < found[0].at + self._seconds, found))

    async def _sink(self, first: Sequence[_UnsunkEntry]) -> int:
        """Make a part of those among the first entries that are of the first one's job; the others come next."""
        job_id = first[0].job_id
        entries = [entry for entry in first if entry.job_id == job_id]
        part = f"part-{entries[0].id}-{entries[-1].id}"
        packed = await self._load(job_id, entries)
        rows = await asyncio.to_thread(self._rows_of, job_id, packed)
        seal = await asyncio.to_thread(self._parts.write, job_id, part, rows) if rows else ""
        moved = await self._mark(job_id, part, seal, entries, [cursor for cursor, _ in rows])
        if not moved:  # the job was deleted, perhaps after an earlier run had written this part
            await asyncio.to_thread(self._parts.remove, job_id, part)
        return moved

    async def _load(self, job_id: str, entries: Sequence[_UnsunkEntry]) -> dict[str, bytes]:
        """Packed responses by cursor, without those that a retry or a deletion took back since."""
        texts = await self._calls.texts(job_id, [(entry.request_id, entry.cursor) for entry in entries])
        return {entry.cursor: text for entry, text in zip(entries, texts, strict=True) if text}

    def _rows_of(self, job_id: str, packed: Mapping[str, bytes]) -> list[tuple[str, bytes]]:
        """Rows for a part, without the responses that no part can hold: they stay where they are, and are named."""
        rows = []
        for cursor, text in packed.items():
            try:
                row = cursor, upgrade_response(decompress(text))
                require_row(*row)
            except (ValueError, TypeError, LookupError, AttributeError, OverflowError, ZstdError) as error:
                self.put_aside += 1
                _log.error("job %s: response %s gets into no Parquet part: %s", job_id, cursor, error)
            else:
                rows.append(row)
        return rows

    async def _mark(
        self, job_id: str, part: str, seal: str, entries: Sequence[_UnsunkEntry], cursors: Sequence[str]
    ) -> int:
        row_of = {cursor: row for row, cursor in enumerate(cursors)}
        sunk = [SinkEntry(entry.id, entry.request_id, entry.cursor, row_of.get(entry.cursor, -1)) for entry in entries]
        return await self._calls.sunk(job_id, part=part, seal=seal, entries=sunk)


def _read_entry(entry_id: bytes, fields: Mapping[bytes, bytes]) -> _UnsunkEntry:
    return _UnsunkEntry(entry_id.decode(), *(fields[name].decode() for name in (b"job", b"request", b"cursor")))
