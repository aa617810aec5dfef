"""The jobs themselves: created, listed, watched, cancelled, deleted."""

import asyncio
import hashlib
import json
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from redis.asyncio import Redis

from jobs.errors import IdempotencyConflictError, JobActiveError, JobNotFoundError
from jobs.keys import KEYS, Keys
from jobs.models import Job, JobSpec, JobStatus, JobUsage, RequestCounts
from jobs.parts import PartStore
from jobs.scripts import Scripts

IDEMPOTENCY_SECONDS = 24 * 3600
"""How long an idempotency key stands for its job."""

_CHUNK = 1000
_WATCH_SECONDS = 2.0


@dataclass(frozen=True)
class JobEvent:
    """Something that happened to a job. `data` holds `status` and `request_counts` as they were then."""

    id: str
    kind: Literal["status", "progress"]
    data: dict[str, Any]


class JobRegistry:
    """All jobs that were created and not deleted."""

    def __init__(self, redis: Redis, results_uri: str | None = None, *, keys: Keys = KEYS) -> None:
        self._redis = redis
        self._parts = PartStore(results_uri) if results_uri else None
        self._keys = keys
        self._scripts = Scripts(redis, keys)

    async def create(self, spec: JobSpec, idempotency_key: str | None = None) -> tuple[Job, bool]:
        """Create a job in status `validating`; an idempotency key gives its earlier job and False.

        Raises IdempotencyConflictError when the key came with another specification.
        """
        text, digest = _told(spec)
        key = self._keys.idempotency(idempotency_key) if idempotency_key else ""
        new_id = f"job_{secrets.token_hex(10)}"
        found, job_id = await self._scripts.run("create", new_id, text, digest, key, IDEMPOTENCY_SECONDS)
        if found == b"conflict":
            raise _conflict(idempotency_key)
        return await self.get(job_id.decode()), found == b"new"

    async def find(self, spec: JobSpec, idempotency_key: str) -> Job | None:
        """Return the job that the key already stands for, or None.

        Raises IdempotencyConflictError when the key came with another specification.
        """
        job_id, digest = await self._redis.hmget(self._keys.idempotency(idempotency_key), ["job", "digest"])
        if not job_id or not await self._redis.exists(self._keys.job(job_id.decode())):
            return None
        if digest.decode() != _told(spec)[1]:
            raise _conflict(idempotency_key)
        return await self.get(job_id.decode())

    async def get(self, job_id: str) -> Job:
        """Return the job as it is now. Raises JobNotFoundError."""
        return _job(job_id, await self._redis.hgetall(self._keys.job(job_id)))

    async def list(self, after: str | None = None, limit: int = 20) -> Sequence[Job]:
        """Return up to `limit` jobs, newest first, that come after the job `after`. Raises JobNotFoundError."""
        start = 0
        if after is not None:
            rank = await self._redis.zrevrank(self._keys.jobs(), after)
            if rank is None:
                raise JobNotFoundError(f"there is no job {after}")
            start = int(rank) + 1
        return await self._all(await self._redis.zrevrange(self._keys.jobs(), start, start + limit - 1))

    async def validating(self) -> Sequence[Job]:
        """Return the jobs whose expansion did not finish, oldest first: to be taken up again after a restart."""
        jobs = await self._all(await self._redis.zrange(self._keys.jobs(), 0, -1))
        return [job for job in jobs if job.status is JobStatus.VALIDATING]

    async def fail(self, job_id: str, errors: Sequence[str]) -> Job:
        """Put a job that is not final into status `failed`, with one line a problem. Raises JobNotFoundError."""
        await self._scripts.run("fail", job_id, json.dumps(list(errors)))
        return await self.get(job_id)

    async def cancel(self, job_id: str) -> Job:
        """Drop every bundle that no worker holds; the job is `cancelled` when workers have given up the others.

        Responses so far are kept. A final job stays as it is. Raises JobNotFoundError.
        """
        await self._scripts.run("cancel", job_id)
        cursor = -1
        while cursor != 0:
            cursor, bundles = await self._redis.hscan(self._keys.bundles(job_id), max(cursor, 0), count=_CHUNK)
            if bundles:
                await self._scripts.run("drop", job_id, *bundles)
        return await self.get(job_id)

    async def delete(self, job_id: str) -> None:
        """Remove a final job and all its responses, its Parquet parts too where the results address is known.

        The job is gone at once. What a crash or an error leaves of it is removed by a repeated call, or by
        `finish_deletions`. Raises JobNotFoundError, JobActiveError, OSError.
        """
        status = (await self._scripts.run("delete", job_id)).decode()
        if status == "missing":
            raise JobNotFoundError(f"there is no job {job_id}")
        if status != "deleting":
            raise JobActiveError(f"job {job_id} is {status}; cancel it first")
        await self._remove(job_id)

    async def finish_deletions(self) -> int:
        """Remove what is left of jobs whose deletion was cut off; returns their number. Raises OSError."""
        cut_off = await self._redis.smembers(self._keys.deleting())
        for job_id in cut_off:
            await self._remove(job_id.decode())
        return len(cut_off)

    async def _remove(self, job_id: str) -> None:
        # Every step may be repeated: what names the rest goes last.
        if self._parts:
            await asyncio.to_thread(self._parts.remove, job_id)
        after = "-"
        while rows := await self._redis.xrange(self._keys.results(job_id), min=after, count=_CHUNK):
            ids = [fields[b"request"].decode() for _, fields in rows]
            await self._redis.unlink(*(self._keys.response(job_id, request_id) for request_id in ids))
            after = f"({rows[-1][0].decode()}"
        await self._redis.unlink(*self._keys.of_job(job_id))
        await self._redis.srem(self._keys.deleting(), job_id)

    async def events(self, job_id: str, after: str = "0-0") -> AsyncIterator[JobEvent]:
        """Yield the job's events after the id `after` and those to come; ends after a final status.

        Raises JobNotFoundError when there is no such job; ends silently when it is deleted meanwhile.
        """
        status: JobStatus | None = (await self.get(job_id)).status
        while status is not None:
            # The status is read before the events: a final one means that no further event will come.
            events = await self._events_after(job_id, after, wait=not status.final)
            for event in events:
                after = event.id
                yield event
            if status.final and not events:
                return
            status = await self._status(job_id)

    async def _events_after(self, job_id: str, after: str, *, wait: bool) -> Sequence[JobEvent]:
        block = int(_WATCH_SECONDS * 1000) if wait else None
        reply = await self._redis.xread({self._keys.events(job_id): after}, count=_CHUNK, block=block)
        return [_event(entry_id, fields) for _, entries in reply for entry_id, fields in entries]

    async def _status(self, job_id: str) -> JobStatus | None:
        status = await self._redis.hget(self._keys.job(job_id), "status")
        return JobStatus(status.decode()) if status else None

    async def _all(self, job_ids: Sequence[bytes]) -> Sequence[Job]:
        async with self._redis.pipeline(transaction=False) as pipeline:
            for job_id in job_ids:
                pipeline.hgetall(self._keys.job(job_id.decode()))
            rows = await pipeline.execute()
        return [_job(job_id.decode(), row) for job_id, row in zip(job_ids, rows, strict=True) if row]


def _told(spec: JobSpec) -> tuple[str, str]:
    """The specification as it is kept, and its digest."""
    text = spec.model_dump_json()
    return text, hashlib.sha256(text.encode()).hexdigest()


def _conflict(idempotency_key: str | None) -> IdempotencyConflictError:
    return IdempotencyConflictError(f"idempotency key '{idempotency_key}' stands for another job specification")


def _event(entry_id: bytes, fields: Mapping[bytes, bytes]) -> JobEvent:
    kind: Literal["status", "progress"] = "status" if fields[b"kind"] == b"status" else "progress"
    return JobEvent(entry_id.decode(), kind, json.loads(fields[b"data"]))


def _job(job_id: str, row: Mapping[bytes, bytes]) -> Job:
    if not row:
        raise JobNotFoundError(f"there is no job {job_id}")
    return Job(
        id=job_id,
        spec=JobSpec.model_validate_json(row[b"spec"]),
        status=JobStatus(row[b"status"].decode()),
        request_counts=RequestCounts(**{name: int(row[name.encode()]) for name in RequestCounts.model_fields}),
        dataset_digest=row.get(b"dataset_digest", b"").decode() or None,
        created_at=_time(row[b"created_at"]),
        in_progress_at=_time(row[b"in_progress_at"]) if b"in_progress_at" in row else None,
        finished_at=_time(row[b"finished_at"]) if b"finished_at" in row else None,
        errors=tuple(json.loads(row.get(b"errors", b"[]"))),
        failures={name: int(number) for name, number in _prefixed(row, "failure:").items() if int(number)},
        retryable=int(row.get(b"retryable", 0)),
        usage=JobUsage.model_validate(_prefixed(row, "sum:")),
    )


def _prefixed(row: Mapping[bytes, bytes], prefix: str) -> dict[str, str]:
    fields = ((name.decode(), value.decode()) for name, value in row.items())
    return {name.removeprefix(prefix): value for name, value in fields if name.startswith(prefix)}


def _time(microseconds: bytes) -> datetime:
    return datetime.fromtimestamp(int(microseconds) / 1_000_000, UTC)
