"""Every response, written once: metadata in plain fields, the whole of it under zstd, in a stable order."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from cachetools import LRUCache
from redis.asyncio import Redis

from gigavqa.contract.codec import pack
from gigavqa.contract.errors import (
    PartUnreadableError,
    ResponseUnrecordableError,
    ResultsUnavailableError,
    TextMissingError,
)
from gigavqa.contract.leases import Lease
from gigavqa.contract.responses import Response, UnreadableResponse
from gigavqa.contract.schema_versions import describe_read_error, read_response, unpack_response
from gigavqa.store.lua_scripts import LuaScripts, ResponseRecord
from gigavqa.store.parquet_parts import PartStore
from gigavqa.store.redis_keys import KEYS

_MAX_BATCH = 64  # responses that one script records: some three milliseconds of the state store's time: decision 0002
_MAX_COUNTER = 2**53  # where scripts begin to lose units, and thousands of such sums still have room in 64 bits
_MAX_UNSUNK = 100_000  # requests that are named at once: some ten milliseconds of the state store's time
PAGE = 500
"""Responses that are read at a time."""
_INDEXED = 100
"""Responses that are looked up at a time where none is read: their replies hold the loop for some five milliseconds."""

_PendingRecord = tuple[ResponseRecord, asyncio.Future[bool]]


class PartCache(LRUCache[str, list[str]]):
    """The parts that were read last, by job and name: pages that follow each other look into the same ones."""

    def __init__(self, most_characters: int = 16 << 20) -> None:
        super().__init__(maxsize=most_characters, getsizeof=lambda texts: sum(map(len, texts)))


class ResponseLocations(NamedTuple):
    """The places of a job's responses at one moment: how many, the checksums of the parts, and the requests in none
    yet.
    """

    recorded: int
    seals: Mapping[str, str]
    hot: Sequence[str]


class ResponsePlace(NamedTuple):
    """The place of a recorded response: the part and row that hold it, and the part's checksum; None while in none."""

    request_id: str
    cursor: str
    part: str | None
    row: int | None
    seal: str | None


class _PartPointer(NamedTuple):
    """The state store's pointer to a response whose text the sink has moved to a part."""

    sample: str | None
    outcome: str | None
    part: str | None
    row: str | None


_NOWHERE = _PartPointer(None, None, None, None)


class ResultStore:
    """Writes responses to the state store, and reads them back from wherever they are now."""

    def __init__(self, redis: Redis, results_uri: str | None = None) -> None:
        self._redis = redis
        self._calls = LuaScripts(redis)
        self._parts = PartStore(results_uri) if results_uri else None
        self._unrecorded: dict[str, list[_PendingRecord]] = {}
        self._recording: asyncio.Task[None] | None = None

    async def record(self, response: Response, lease: Lease | None) -> bool:
        """Keep the first response to a request; False when one was recorded before, or the job ended meanwhile.

        The same script counts it, publishes progress, acknowledges the lease's bundle with its last request, and
        completes the job with its last bundle. It does not matter whether the lease is still held. Raises
        ResponseUnrecordableError.
        """
        told: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._unrecorded.setdefault(response.job_id, []).append((_record_of(response, lease), told))
        if self._recording is None or self._recording.done():
            self._recording = asyncio.create_task(self._record_all(), name="record")
        return await told

    async def _record_all(self) -> None:
        """Record what there is at once, and then what came meanwhile: nothing waits but for the call before it."""
        while self._unrecorded:
            job_id = next(iter(self._unrecorded))
            waiting = self._unrecorded.pop(job_id)
            if rest := waiting[_MAX_BATCH:]:
                self._unrecorded[job_id] = rest
            await self._record_some(job_id, waiting[:_MAX_BATCH])

    async def _record_some(self, job_id: str, waiting: Sequence[_PendingRecord]) -> None:
        made = self._calls.record(job_id, [recorded for recorded, _ in waiting])
        (kept,) = await asyncio.gather(made, return_exceptions=True)
        for at, (_, told) in enumerate(waiting):
            if told.done():  # whoever waited was cancelled
                continue
            if isinstance(kept, BaseException):  # each of those who wait tries again, or tells
                told.set_exception(kept)
            else:
                told.set_result(kept[at])

    async def recorded(self, job_id: str, request_ids: Iterable[str]) -> set[str]:
        """Return which of these requests have a response, be it an answer or a failure."""
        ids = list(request_ids)
        async with self._redis.pipeline(transaction=False) as pipeline:
            for request_id in ids:
                pipeline.exists(KEYS.response(job_id, request_id))
            found = await pipeline.execute()
        return {request_id for request_id, exists in zip(ids, found, strict=True) if exists}

    async def read(
        self, job_id: str, after: str = "0-0", limit: int = PAGE, kept: PartCache | None = None
    ) -> list[tuple[str, Response | UnreadableResponse]]:
        """Return up to `limit` (cursor, response) pairs in their order of recording, after the cursor `after`.

        `kept` holds what a pass over the pages of one job has read. A response whose text is lost, or in a part that
        cannot be read, is there as an UnreadableResponse. Raises TextMissingError, and OSError when the store of the
        parts does not answer.
        """
        return (await self.scan(job_id, lambda request_id: True, after, limit, kept))[0]

    async def scan(
        self,
        job_id: str,
        wanted: Callable[[str], bool],
        after: str,
        limit: int = PAGE,
        kept: PartCache | None = None,
    ) -> tuple[list[tuple[str, Response | UnreadableResponse]], str | None]:
        """Look at up to `limit` requests that were recorded after a cursor, and return `wanted` ones as `read` does.

        With them the cursor to go on after; None at the end. Texts of requests that nobody wants are not looked at.
        """
        rows = await self._redis.xrange(KEYS.results(job_id), min=f"({after}", count=limit)
        cursors = {fields[b"request"].decode(): cursor.decode() for cursor, fields in rows}
        chosen = list(filter(wanted, cursors))
        found = await self._load(job_id, chosen, PartCache() if kept is None else kept)
        pairs = [(cursors[request_id], found[request_id]) for request_id in chosen if request_id in found]
        return pairs, rows[-1][0].decode() if rows else None

    async def places(self, job_id: str, after: str, limit: int = PAGE) -> list[ResponsePlace]:
        """Tell where up to `limit` responses are that were recorded after a cursor, in their order, and read none."""
        rows = await self._redis.xrange(KEYS.results(job_id), min=f"({after}", count=limit)
        cursors = {fields[b"request"].decode(): cursor.decode() for cursor, fields in rows}
        pointers = await self._pointers(job_id, [*cursors])
        seals = await self._seals(job_id, sorted({pointer.part for pointer in pointers.values() if pointer.part}))
        return [
            ResponsePlace(id_, cursor, one.part, int(one.row) if one.row else None, seals.get(one.part or ""))
            for id_, cursor in cursors.items()
            for one in [pointers.get(id_, _NOWHERE)]
        ]

    async def showed(self, job_id: str, raster: str) -> bool:
        """Return whether a recorded request of the job was shown the raster of this key."""
        return bool(await self._redis.sismember(KEYS.rasters(job_id), raster))

    async def extent(self, job_id: str) -> ResponseLocations | None:
        """Tell where a job's responses are; None when too many are in no part yet to be named."""
        recorded, parts, hot = await self._calls.extent(job_id, _MAX_UNSUNK)
        if hot is None:
            return None
        names = [text.decode() for text in parts]
        return ResponseLocations(
            recorded, dict(zip(names[::2], names[1::2], strict=True)), [one.decode() for one in hot]
        )

    async def read_of(
        self, job_id: str, request_ids: Sequence[str], kept: PartCache | None = None
    ) -> Mapping[str, Response | UnreadableResponse]:
        """Return the responses to these requests by id, without those that a retry took back. Raises as `read`."""
        return await self._load(job_id, request_ids, PartCache() if kept is None else kept)

    async def standing(self, job_id: str, recorded: Sequence[tuple[str, str]]) -> list[bool]:
        """Tell of each (request id, cursor) whether it is what is recorded now, or a retry took it back."""
        async with self._redis.pipeline(transaction=False) as pipeline:
            for request_id, _ in recorded:
                pipeline.hget(KEYS.response(job_id, request_id), "cursor")
            found = await pipeline.execute()
        return [now == cursor.encode() for now, (_, cursor) in zip(found, recorded, strict=True)]

    async def outcomes(self, job_id: str) -> AsyncIterator[tuple[str, str, str]]:
        """Yield (request id, cursor, outcome) of what is recorded, `completed` or `failed`, without reading a text."""
        after = "-"
        while rows := await self._redis.xrange(KEYS.results(job_id), min=after, count=_INDEXED):
            async with self._redis.pipeline(transaction=False) as pipeline:
                for _, fields in rows:
                    pipeline.hget(KEYS.response(job_id, fields[b"request"].decode()), "outcome")
                outcomes = await pipeline.execute()
            for (cursor, fields), outcome in zip(rows, outcomes, strict=True):
                if outcome:
                    yield fields[b"request"].decode(), cursor.decode(), outcome.decode()
            after = f"({rows[-1][0].decode()}"

    async def count_in(self, job_id: str) -> Mapping[str, int]:
        """Count the responses that each part holds of a job, without reading one."""
        counts: Counter[str] = Counter()
        after = "-"
        while rows := await self._redis.xrange(KEYS.results(job_id), min=after, count=_INDEXED):
            pointers = await self._pointers(job_id, [fields[b"request"].decode() for _, fields in rows])
            counts.update(pointer.part for pointer in pointers.values() if pointer.part)
            after = f"({rows[-1][0].decode()}"
        return counts

    async def _load(
        self, job_id: str, request_ids: Sequence[str], kept: PartCache
    ) -> Mapping[str, Response | UnreadableResponse]:
        if not request_ids:
            return {}
        texts = await self._redis.hmget(KEYS.texts(job_id), list(request_ids))
        packed = {id_: text for id_, text in zip(request_ids, texts, strict=True) if text}
        # Pointers are asked for after the texts: the sink replaces one by the other in one step.
        pointers = await self._pointers(job_id, [id_ for id_ in request_ids if id_ not in packed])
        parts = await self._read_parts(job_id, {pointer.part for pointer in pointers.values() if pointer.part}, kept)

        def read_all() -> tuple[dict[str, Response | UnreadableResponse], dict[str, str]]:
            found, damaged = _read_texts(packed)
            resolved = {id_: _resolve(job_id, id_, pointer, parts) for id_, pointer in pointers.items()}
            return {**found, **resolved}, damaged

        # A page takes tens of milliseconds, in which others are served.
        found, damaged = await asyncio.to_thread(read_all)
        recorded = await self._pointers(job_id, list(damaged))
        unread = {id_: _unreadable(job_id, id_, recorded[id_], why) for id_, why in damaged.items() if id_ in recorded}
        return {**found, **unread}

    async def _pointers(self, job_id: str, request_ids: Sequence[str]) -> dict[str, _PartPointer]:
        async with self._redis.pipeline(transaction=False) as pipeline:
            for request_id in request_ids:
                pipeline.hmget(KEYS.response(job_id, request_id), ["cursor", *_PartPointer._fields])
            replies = await pipeline.execute()
        return {
            request_id: _PartPointer(*(value.decode() if value else None for value in values))
            for request_id, (cursor, *values) in zip(request_ids, replies, strict=True)
            if cursor
        }

    async def _seals(self, job_id: str, parts: Sequence[str]) -> dict[str, str | None]:
        """Checksums of parts, None of one that is not known."""
        seals = await self._redis.hmget(KEYS.parts(job_id), list(parts)) if parts else []
        return {part: seal.decode() if seal else None for part, seal in zip(parts, seals, strict=True)}

    async def _read_parts(
        self, job_id: str, names: Iterable[str], kept: PartCache
    ) -> dict[str, list[str] | PartUnreadableError]:
        """Texts of the parts by row, or why there are none."""
        parts = sorted(names)
        if not parts:
            return {}
        if self._parts is None:
            raise TextMissingError(f"job {job_id}: its responses are in Parquet parts, and no results address is set")
        read: dict[str, list[str] | PartUnreadableError] = {}
        for part, sealed in (await self._seals(job_id, parts)).items():
            place = f"{job_id} {part} {sealed}"
            if place in kept:
                read[part] = kept[place]
                continue
            try:
                read[part] = texts = await asyncio.to_thread(self._parts.read, job_id, part, sealed)
            except PartUnreadableError as error:
                read[part] = error
                continue
            except ResultsUnavailableError:
                raise
            except OSError as error:
                raise ResultsUnavailableError(f"the results store is not reached: {error}") from error
            with suppress(ValueError):  # larger than all that may be kept
                kept[place] = texts
        return read


def _resolve(
    job_id: str, request_id: str, pointer: _PartPointer, parts: Mapping[str, list[str] | PartUnreadableError]
) -> Response | UnreadableResponse:
    texts = parts[pointer.part] if pointer.part else PartUnreadableError("its text is gone from the state store")
    if isinstance(texts, PartUnreadableError):
        return _unreadable(job_id, request_id, pointer, str(texts))
    if not pointer.row or int(pointer.row) >= len(texts):
        why = f"the Parquet part {pointer.part} has no row {pointer.row}"
        return _unreadable(job_id, request_id, pointer, why)
    try:
        return read_response(texts[int(pointer.row)])
    except ValueError as error:
        why = f"row {pointer.row} of the Parquet part {pointer.part} cannot be read: {describe_read_error(error)}"
        return _unreadable(job_id, request_id, pointer, why)


def _read_texts(packed: Mapping[str, bytes]) -> tuple[dict[str, Response], dict[str, str]]:
    """Responses by request id, and of those that cannot be read why not: each by itself."""
    found, damaged = dict[str, Response](), dict[str, str]()
    for request_id, text in packed.items():
        try:
            found[request_id] = unpack_response(text)
        except ValueError as error:
            damaged[request_id] = f"its text cannot be read: {describe_read_error(error)}"
    return found, damaged


def _unreadable(job_id: str, request_id: str, pointer: _PartPointer, why: str) -> UnreadableResponse:
    return UnreadableResponse.model_validate(
        {
            "job_id": job_id,
            "request_id": request_id,
            "sample_id": pointer.sample,
            "recorded": pointer.outcome,
            "part": pointer.part,
            "unreadable": why,
        }
    )


def _record_of(response: Response, lease: Lease | None) -> ResponseRecord:
    usages, rasters = [answer.usage for answer in response.answers], response.rasters
    tokens = ("prompt_tokens", "cached_tokens", "completion_tokens")
    sums = {name: sum(getattr(usage, name) for usage in usages) for name in tokens}
    sums |= {"views": len(rasters), "microdollars": _microdollars(response)}
    fields = {
        "sample": response.sample_id,
        "attempt": str(response.attempt),
        "prompt_tokens": str(sums["prompt_tokens"]),
        "completion_tokens": str(sums["completion_tokens"]),
    }
    if response.failure:
        fields["failure"] = response.failure.type
        fields |= {"retryable": "1"} if response.failure.retryable else {}
    return ResponseRecord(
        request_id=response.request_id,
        bundle_id=lease.bundle.id if lease else "",
        lane=lease.stream if lease else "",
        entry_id=lease.entry_id if lease else "",
        outcome="completed" if response.ok else "failed",
        model=response.model,
        packed=_pack(response, sums),
        sums=sums,
        rendering_seconds=response.rendering_seconds,
        image=rasters[0].view.image if rasters else "",
        rasters=[raster.key for raster in rasters],
        metadata=fields,
    )


def _microdollars(response: Response) -> int:
    try:
        return round(1e6 * sum(answer.usage.dollars or 0 for answer in response.answers))
    except (ValueError, OverflowError) as error:  # of no number, or of infinity
        raise ResponseUnrecordableError("its dollars cannot be counted") from error


def _pack(response: Response, sums: Mapping[str, int]) -> bytes:
    """Pack what can be read again. Raises ResponseUnrecordableError."""
    if uncounted := [name for name, number in sums.items() if not 0 <= number <= _MAX_COUNTER]:
        raise ResponseUnrecordableError(f"its {', '.join(uncounted)} cannot be counted")
    try:
        packed = pack(response)
        unpack_response(packed)
    except (ValueError, TypeError, RecursionError) as error:
        why = describe_read_error(error) if isinstance(error, ValueError) else str(error)
        raise ResponseUnrecordableError(f"it could not be read again: {ascii(why)[1:-1]}") from error
    return packed
