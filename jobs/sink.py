"""Moves responses from the server to Parquet parts, so that the server holds only the recent ones whole."""

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from redis.asyncio import Redis
from redis.exceptions import LockError, RedisError, ResponseError

from jobs.calls import Calls, Sunk
from jobs.codec import decompress
from jobs.keys import KEYS, Keys
from jobs.parts import PartStore
from jobs.stored import renewed

GROUP = CONSUMER = "sink"

_LOCK_SECONDS = 60.0
_POLL_SECONDS = 1.0
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Entry:
    """One response that is to be sunk: its entry in the sink's stream, and which recording of the request it is."""

    id: str
    job_id: str
    request_id: str
    cursor: str


class ParquetSink:
    """Writes parts of up to `rows` responses, at the latest `seconds` after they were recorded.

    Any number of sinks may run; one at a time works. A part is named after its first and last entry, so what is done
    again after a crash replaces the very part that was left unmarked.
    """

    def __init__(
        self,
        redis: Redis,
        results_uri: str,
        *,
        rows: int = 512,
        seconds: float = 60.0,
        keys: Keys = KEYS,
    ) -> None:
        self._redis = redis
        self._parts = PartStore(results_uri)
        self._rows = rows
        self._seconds = seconds
        self._keys = keys
        self._calls = Calls(redis, keys)
        self._lock = redis.lock(keys.sink_lock(), timeout=_LOCK_SECONDS)
        self._grouped = False
        self._oldest = b"", 0.0
        self.errors = 0
        """How often a step of `run_forever` failed and was put off."""

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
                if not (entries := await self._next_entries()):
                    return moved
                moved += await self._sink(entries)
        finally:
            await self._unlock()

    async def _try_step(self) -> None:
        try:
            is_due = await self._hold_lock() and (await self._left_over() or await self._due())
            if is_due and (entries := await self._next_entries()):
                await self._sink(entries)
            else:
                await asyncio.sleep(min(_POLL_SECONDS, self._seconds))
        except (RedisError, OSError) as error:
            self.errors += 1
            if "NOGROUP" in str(error):  # as on an emptied server
                self._grouped = False
            _log.warning("sinking responses failed and is put off: %s", error)
            await asyncio.sleep(_POLL_SECONDS)

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

    async def _left_over(self) -> bool:
        return bool(await self._read("0"))

    async def _due(self) -> bool:
        if await self._redis.xlen(self._keys.unsunk()) >= self._rows:
            return True
        if not (oldest := await self._redis.xrange(self._keys.unsunk(), count=1)):
            return False
        entry_id, now = oldest[0][0], time.monotonic()
        if entry_id != self._oldest[0]:
            self._oldest = entry_id, now
        # Where a clock stepped back, its entries are of the future for as long as the step.
        age = time.time() - int(entry_id.split(b"-")[0]) / 1000
        return max(age, now - self._oldest[1]) >= self._seconds

    async def _next_entries(self) -> list[_Entry]:
        """Entries that an earlier run read and did not finish; new ones when there are none."""
        return await self._read("0") or await self._read(">")

    async def _read(self, start: str) -> list[_Entry]:
        await self._ensure_group()
        reply = await self._redis.xreadgroup(GROUP, CONSUMER, {self._keys.unsunk(): start}, count=self._rows)
        return [_entry(entry_id, fields) for _, entries in reply for entry_id, fields in entries]

    async def _ensure_group(self) -> None:
        if self._grouped:
            return
        try:
            await self._redis.xgroup_create(self._keys.unsunk(), GROUP, id="0", mkstream=True)
        except ResponseError as error:
            if "BUSYGROUP" not in str(error):
                raise
        self._grouped = True

    async def _sink(self, entries: Sequence[_Entry]) -> int:
        by_job: dict[str, list[_Entry]] = {}
        for entry in entries:
            by_job.setdefault(entry.job_id, []).append(entry)
        return sum([await self._sink_job(job_id, of_job) for job_id, of_job in by_job.items()])

    async def _sink_job(self, job_id: str, entries: Sequence[_Entry]) -> int:
        part = f"part-{entries[0].id}-{entries[-1].id}"
        packed = await self._load(job_id, entries)
        seal = await asyncio.to_thread(self._write, job_id, part, packed) if packed else ""
        moved = await self._mark(job_id, part, seal, entries, list(packed))
        if not moved:  # the job was deleted, perhaps after an earlier run had written this part
            await asyncio.to_thread(self._parts.remove, job_id, part)
        return moved

    async def _load(self, job_id: str, entries: Sequence[_Entry]) -> dict[str, bytes]:
        """Packed responses by cursor, without those that a retry or a deletion took back since."""
        texts = await self._calls.texts(job_id, [(entry.request_id, entry.cursor) for entry in entries])
        return {entry.cursor: text for entry, text in zip(entries, texts, strict=True) if text}

    def _write(self, job_id: str, part: str, packed: Mapping[str, bytes]) -> str:
        rows = [(cursor, renewed(decompress(text))) for cursor, text in packed.items()]
        return self._parts.write(job_id, part, rows)

    async def _mark(self, job_id: str, part: str, seal: str, entries: Sequence[_Entry], cursors: Sequence[str]) -> int:
        row_of = {cursor: row for row, cursor in enumerate(cursors)}
        sunk = [Sunk(entry.id, entry.request_id, entry.cursor, row_of.get(entry.cursor, -1)) for entry in entries]
        return await self._calls.sunk(job_id, part=part, seal=seal, entries=sunk)


def _entry(entry_id: bytes, fields: Mapping[bytes, bytes]) -> _Entry:
    return _Entry(entry_id.decode(), *(fields[name].decode() for name in (b"job", b"request", b"cursor")))
