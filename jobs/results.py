"""Every response, written once: metadata in plain fields, the whole of it under zstd, in a stable order."""

import asyncio
import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from redis.asyncio import Redis

from jobs.codec import pack, unpack
from jobs.errors import TextMissingError
from jobs.keys import KEYS, Keys
from jobs.leases import Lease
from jobs.models import Response
from jobs.parts import PartStore
from jobs.scripts import Scripts

KeyT = TypeVar("KeyT", bound=Hashable)


class _Pointer(NamedTuple):
    """Where the sink put a response."""

    part: str
    row: int


class ResultStore:
    """Writes responses to the server, and reads them back from wherever they are now."""

    def __init__(self, redis: Redis, results_uri: str | None = None, *, keys: Keys = KEYS) -> None:
        self._redis = redis
        self._keys = keys
        self._scripts = Scripts(redis, keys)
        self._parts = PartStore(results_uri) if results_uri else None

    async def record(self, response: Response, lease: Lease | None) -> bool:
        """Keep the first response to a request; False when one was recorded before, or the job ended meanwhile.

        The same script counts it, publishes progress, acknowledges the lease's bundle with its last request, and
        completes the job with its last bundle. It does not matter whether the lease is still held.
        """
        place = (lease.bundle.id, lease.stream, lease.entry_id) if lease else ("", "", "")
        outcome = "completed" if response.ok else "failed"
        named = (response.job_id, response.request_id)
        packed, took = pack(response), json.dumps(_took(response))
        reply = await self._scripts.run("record", *named, *place, outcome, packed, took, *_metadata(response))
        return bool(reply)

    async def recorded(self, job_id: str, request_ids: Iterable[str]) -> set[str]:
        """Return which of these requests have a response, be it an answer or a failure."""
        ids = list(request_ids)
        async with self._redis.pipeline(transaction=False) as pipeline:
            for request_id in ids:
                pipeline.exists(self._keys.response(job_id, request_id))
            found = await pipeline.execute()
        return {request_id for request_id, exists in zip(ids, found, strict=True) if exists}

    async def get(self, job_id: str, request_id: str) -> Response | None:
        """Return the response to one request, or None when there is none yet. Raises TextMissingError."""
        found = await self._load(job_id, [request_id])
        return found.get(request_id)

    async def read(self, job_id: str, after: str = "0-0", limit: int = 500) -> list[tuple[str, Response]]:
        """Return up to `limit` (cursor, response) pairs in their order of recording, after the cursor `after`.

        Raises TextMissingError.
        """
        rows = await self._redis.xrange(self._keys.results(job_id), min=f"({after}", count=limit)
        cursors = {fields[b"request"].decode(): cursor.decode() for cursor, fields in rows}
        found = await self._load(job_id, list(cursors))
        return [(cursor, found[request_id]) for request_id, cursor in cursors.items() if request_id in found]

    async def history(self, job_id: str) -> list[Response]:
        """Return the failure responses that retries replaced, oldest first. Raises TextMissingError."""
        rows = await self._redis.lrange(self._keys.history(job_id), 0, -1)
        pointers = {index: _Pointer(**json.loads(row)) for index, row in enumerate(rows) if row.startswith(b"{")}
        sunk = await self._read_parts(job_id, pointers)
        return [sunk[index] if index in sunk else unpack(Response, row) for index, row in enumerate(rows)]

    async def _load(self, job_id: str, request_ids: Sequence[str]) -> dict[str, Response]:
        if not request_ids:
            return {}
        texts = await self._redis.hmget(self._keys.texts(job_id), list(request_ids))
        found = {id_: unpack(Response, text) for id_, text in zip(request_ids, texts, strict=True) if text}
        # Pointers are asked for after the texts: the sink replaces one by the other in one step.
        pointers = await self._pointers(job_id, [id_ for id_ in request_ids if id_ not in found])
        return found | await self._read_parts(job_id, pointers)

    async def _pointers(self, job_id: str, request_ids: Sequence[str]) -> dict[str, _Pointer]:
        async with self._redis.pipeline(transaction=False) as pipeline:
            for request_id in request_ids:
                pipeline.hmget(self._keys.response(job_id, request_id), ["cursor", "part", "row"])
            replies = await pipeline.execute()
        pointers: dict[str, _Pointer] = {}
        for request_id, (cursor, part, row) in zip(request_ids, replies, strict=True):
            if part:
                pointers[request_id] = _Pointer(part.decode(), int(row))
            elif cursor:
                raise TextMissingError(f"job {job_id}: request {request_id} is recorded, but its text is gone")
        return pointers

    async def _read_parts(self, job_id: str, pointers: Mapping[KeyT, _Pointer]) -> dict[KeyT, Response]:
        if not pointers:
            return {}
        if self._parts is None:
            raise TextMissingError(f"job {job_id}: its responses are in Parquet parts, and no results address is set")
        texts: dict[str, list[str]] = {}
        for part in {pointer.part for pointer in pointers.values()}:
            texts[part] = await asyncio.to_thread(_read_part, self._parts, job_id, part)
        return {key: Response.model_validate_json(texts[at.part][at.row]) for key, at in pointers.items()}


def _read_part(parts: PartStore, job_id: str, part: str) -> list[str]:
    try:
        return parts.read(job_id, part)
    except FileNotFoundError as missing:
        raise TextMissingError(f"job {job_id}: the Parquet part {part} is gone") from missing


def _took(response: Response) -> dict[str, Any]:
    """What the sums of a job (`JobUsage`) take from one response."""
    usages, rasters = [turn.usage for turn in response.turns], response.rasters
    tokens = ("prompt_tokens", "cached_tokens", "completion_tokens")
    sums = {name: sum(getattr(usage, name) for usage in usages) for name in tokens}
    return {
        "sums": sums | {"views": len(rasters)},
        "rasters": [raster.key for raster in rasters],
        "seconds": response.rendering_seconds,
        "image": rasters[0].view.image if rasters else "",
    }


def _metadata(response: Response) -> list[str | int]:
    fields: dict[str, str | int] = {
        "sample": response.sample_id,
        "attempt": response.attempt,
        "prompt_tokens": sum(turn.usage.prompt_tokens for turn in response.turns),
        "completion_tokens": sum(turn.usage.completion_tokens for turn in response.turns),
    }
    if response.failure:
        fields["failure"] = response.failure.type
        fields |= {"retryable": 1} if response.failure.retryable else {}
    return [part for pair in fields.items() for part in pair]
