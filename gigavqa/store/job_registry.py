"""The jobs themselves: created, listed, watched, cancelled, deleted."""

import asyncio
import hashlib
import json
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime

from redis.asyncio import Redis

from gigavqa.contract.errors import (
    IdempotencyConflictError,
    JobActiveError,
    JobNotFoundError,
    QueueFullError,
    QuotaExceededError,
)
from gigavqa.contract.jobs import FINAL_STATUSES, Job, JobSpec, JobStatus, JobSummary, RequestCounts, SpecSummary
from gigavqa.store.api_keys import NO_OWNER, Owner
from gigavqa.store.exclusive_work import exclusively
from gigavqa.store.job_rows import TIMES, JobEvent, progress_fields, read_event, read_job, read_time
from gigavqa.store.job_selection import JobPage, JobSelection
from gigavqa.store.lua_scripts import LuaScripts
from gigavqa.store.parquet_parts import PartStore
from gigavqa.store.redis_keys import KEYS

IDEMPOTENCY_SECONDS = 24 * 3600
"""How long an idempotency key stands for its job."""

_CHUNK = 1000
_MOST_LOOKED_AT = 10_000
_HEARTBEAT_SECONDS = 60
_RETRY_AFTER_SECONDS = 10.0
_SUMMARY_FIELDS = ("summary", "owner", "status", *RequestCounts.model_fields, *TIMES)


class JobRegistry:
    """All jobs that were created and not deleted."""

    def __init__(self, redis: Redis, results_uri: str | None = None) -> None:
        self._redis = redis
        self._parts = PartStore(results_uri) if results_uri else None
        self._calls = LuaScripts(redis)

    async def create(
        self,
        spec: JobSpec,
        idempotency_key: str | None = None,
        owner: Owner = NO_OWNER,
        *,
        waiting_limit: int | None = None,
    ) -> tuple[Job, bool]:
        """Create a job in status `validating`; an idempotency key of the same owner gives its earlier job and False.

        With a `waiting_limit` the job is one that waits to be queued, and so many may, and so many of the owner's.
        Raises IdempotencyConflictError when the key came with another specification,
        QueueFullError and QuotaExceededError.
        """
        text, digest = _serialize_spec(spec)
        found, job_id = await self._calls.create(
            f"job_{secrets.token_hex(10)}",
            spec=text,
            summary=SpecSummary.of(spec).model_dump_json(),
            digest=digest,
            idempotency=self._idempotency(idempotency_key, owner.name) if idempotency_key else "",
            ttl_seconds=IDEMPOTENCY_SECONDS,
            owner=owner.name or "",
            owners_limits=(
                owner.queued_requests,
                None if waiting_limit is None else owner.waiting_jobs,
                owner.interactive_requests,
            ),
            waiting_limit=waiting_limit,
            priority=spec.priority,
        )
        if found == "conflict":
            raise _conflict_error(idempotency_key)
        require_waiting_room(found, owner, waiting_limit)
        return await self.get(job_id), found == "new"

    async def find(self, spec: JobSpec, idempotency_key: str, owner: str | None = None) -> Job | None:
        """Return the job that the owner's key already stands for, or None.

        Raises IdempotencyConflictError when the key came with another specification.
        """
        job_id, digest = await self._redis.hmget(self._idempotency(idempotency_key, owner), ["job", "digest"])
        if not job_id or not await self._redis.exists(KEYS.job(job_id.decode())):
            return None
        if digest.decode() != _serialize_spec(spec)[1]:
            raise _conflict_error(idempotency_key)
        return await self.get(job_id.decode())

    async def get(self, job_id: str) -> Job:
        """Return the job as it is now. Raises JobNotFoundError."""
        return read_job(job_id, await self._redis.hgetall(KEYS.job(job_id)))

    async def status(self, job_id: str) -> JobStatus | None:
        """Return the status of a job, or None when there is no such job (any more)."""
        status = await self._redis.hget(KEYS.job(job_id), "status")
        return JobStatus(status.decode()) if status else None

    async def owner(self, job_id: str) -> str | None:
        """Return whose a job is; None where it is nobody's, and where there is no such job."""
        owner = await self._redis.hget(KEYS.job(job_id), "owner")
        return owner.decode() if owner else None

    async def page(
        self, wanted: "JobSelection", after: str | None = None, limit: int = 20, owner: str | None = None
    ) -> "JobPage":
        """Return up to `limit` of the wanted jobs that come after the job `after`, and where the next page begins.

        All, or an owner's alone. At most some ten thousand jobs are looked at for one page, which may be short for it.
        Raises JobNotFoundError.
        """
        found: list[JobSummary] = []
        looked_at, is_oldest_first = 0, wanted.order == "oldest"
        while ids := await self._ids(
            after,
            _CHUNK if wanted.looks_inside else limit + 1 - len(found),
            wanted.status,
            owner,
            oldest_first=is_oldest_first,
        ):
            likely, is_end = await self._likely(wanted, ids) if wanted.looks_inside else (ids, False)
            for job in await self._summaries(likely):
                if wanted.admits(job) and len(found) == limit:
                    return JobPage(found, more=True, last_id=found[-1].id)
                found += [job] if wanted.admits(job) else []
            if is_end:
                break
            after = ids[-1].decode()
            looked_at += len(ids)
            if looked_at >= _MOST_LOOKED_AT:
                return JobPage(found, more=True, last_id=after)
        return JobPage(found, more=False, last_id=found[-1].id if found else None)

    async def over(self, dataset: str) -> AsyncIterator[JobSummary]:
        """Yield all jobs over a data set, whoever submitted them, newest first."""
        page = JobPage([], more=True, last_id=None)
        while page.more:
            page = await self.page(JobSelection(dataset=dataset), page.last_id, _CHUNK)
            for job in page.jobs:
                yield job

    async def _likely(self, wanted: "JobSelection", ids: Sequence[bytes]) -> tuple[Sequence[bytes], bool]:
        """Return those of some jobs that may be wanted, and whether none behind them can be.

        Of a job that is not wanted this is ten times less work than all that is told of one.
        """
        async with self._redis.pipeline(transaction=False) as pipeline:
            for job_id in ids:
                pipeline.hmget(KEYS.job(job_id.decode()), ["summary", "created_at"])
            rows = await pipeline.execute()
        likely: list[bytes] = []
        for job_id, (summary, created_at) in zip(ids, rows, strict=True):
            if created_at and wanted.is_behind(read_time(created_at)):
                return likely, True
            if wanted.may_admit(summary):
                likely.append(job_id)
        return likely, False

    async def list(
        self,
        after: str | None = None,
        limit: int = 20,
        status: JobStatus | None = None,
        owner: str | None = None,
        *,
        oldest_first: bool = False,
    ) -> Sequence[JobSummary]:
        """Return up to `limit` jobs, newest first, that come after the job `after`; all, or those of an owner's alone.

        With a `status` those in it. Raises JobNotFoundError, also when `after` is not the owner's.
        """
        return await self._summaries(await self._ids(after, limit, status, owner, oldest_first=oldest_first))

    async def _ids(
        self, after: str | None, limit: int, status: JobStatus | None, owner: str | None, *, oldest_first: bool
    ) -> Sequence[bytes]:
        whole = KEYS.jobs_of(owner) if owner else KEYS.jobs()
        among = self._among(status, owner) if status else whole
        newest, oldest = "+inf", "-inf"
        if after is not None:
            # By its time of creation, because a job may have left the status since the page before.
            created_at = await self._redis.zscore(whole, after)
            if created_at is None:
                raise JobNotFoundError(f"there is no job {after}")
            newest = oldest = f"({int(created_at)}"
        if oldest_first:
            return list(await self._redis.zrangebyscore(among, oldest, "+inf", 0, limit))
        return list(await self._redis.zrevrangebyscore(among, newest, "-inf", 0, limit))

    def exclusively(self, job_id: str, seconds: float) -> AbstractAsyncContextManager[bool]:
        """Hold a job, or a batch, for the gateway that works on it; see `gigavqa.store.exclusive_work`."""
        return exclusively(self._redis, KEYS.claim(job_id), seconds)

    async def count(self) -> Mapping[JobStatus, int]:
        """Count the jobs in each status; costs the same however many are kept."""
        async with self._redis.pipeline(transaction=False) as pipeline:
            for status in JobStatus:
                pipeline.zcard(KEYS.in_status(status))
            return dict(zip(JobStatus, await pipeline.execute(), strict=True))

    async def validating(self, seconds: float = 0.0) -> Sequence[str]:
        """Return the ids of jobs that are not queued yet, oldest first, but for those created that few seconds ago."""
        rows = await self._redis.zrange(KEYS.in_status(JobStatus.VALIDATING), 0, -1, withscores=True)
        now, microseconds = await self._redis.time()
        # After the state store's clock stepped back, jobs are of the future: none is new for as long as the step.
        ages = ((job_id, now + microseconds / 1e6 - created_at / 1e6) for job_id, created_at in rows)
        return [job_id.decode() for job_id, age in ages if not 0 <= age < seconds]

    async def ended_before(self, time: datetime, limit: int = 100) -> Sequence[str]:
        """Return ids of jobs that were created before `time` and have ended, at most `limit` of each final status."""
        async with self._redis.pipeline(transaction=False) as pipeline:
            for status in sorted(FINAL_STATUSES):
                among = KEYS.in_status(status)
                pipeline.zrangebyscore(among, "-inf", f"({int(time.timestamp() * 1_000_000)}", 0, limit)
            return [job_id.decode() for found in await pipeline.execute() for job_id in found]

    async def beat(self) -> None:
        """Write something that goes by itself; raises what every change raises while the state store refuses to
        write.
        """
        await self._redis.set(KEYS.heartbeat(), "", ex=_HEARTBEAT_SECONDS)

    async def index(self) -> None:
        """Put every job among those of its status: to be run once where jobs may be older than these lists."""
        ids = await self._redis.zrange(KEYS.jobs(), 0, -1)
        for start in range(0, len(ids), _CHUNK):
            await self._calls.index(ids[start : start + _CHUNK])

    async def fail(self, job_id: str, errors: Sequence[str]) -> Job:
        """Put a job that is not final into status `failed`, with one line a problem. Raises JobNotFoundError."""
        await self._calls.fail(job_id, json.dumps(list(errors)))
        return await self.get(job_id)

    async def cancel(self, job_id: str) -> Job:
        """Drop every bundle that no worker holds; the job is `cancelled` when workers have given up the others.

        Responses so far are kept. A final job stays as it is. Raises JobNotFoundError.
        """
        await self._calls.cancel(job_id)
        cursor = -1
        while cursor != 0:
            cursor, bundles = await self._redis.hscan(KEYS.bundles(job_id), max(cursor, 0), count=_CHUNK)
            if bundles:
                await self._calls.drop(job_id, bundles)
        return await self.get(job_id)

    async def delete(self, job_id: str) -> None:
        """Remove a final job and all its responses, its Parquet parts too where the results address is known.

        The job is gone at once. What a crash, an error or a backup that is being made leaves of it is removed by a
        repeated call, or by `finish_deletions`. Raises JobNotFoundError, JobActiveError, OSError.
        """
        status = await self._calls.delete(job_id)
        if status == "missing":
            raise JobNotFoundError(f"there is no job {job_id}")
        if status != "deleting":
            raise JobActiveError(f"job {job_id} is {status}; cancel it first")
        await self._remove(job_id)

    async def finish_deletions(self) -> int:
        """Remove what is left of jobs whose deletion was cut off; returns their number. Raises OSError."""
        cut_off = await self._redis.smembers(KEYS.deleting())
        for job_id in cut_off:
            await self._remove(job_id.decode())
        return len(cut_off)

    async def _remove(self, job_id: str) -> None:
        # Every step may be repeated: what names the rest goes last. A backup that is being made may want the parts.
        if await self._redis.exists(KEYS.backup()):
            return
        if self._parts:
            await asyncio.to_thread(self._parts.remove, job_id)
        after = "-"
        while rows := await self._redis.xrange(KEYS.results(job_id), min=after, count=_CHUNK):
            ids = [fields[b"request"].decode() for _, fields in rows]
            await self._redis.unlink(*(KEYS.response(job_id, request_id) for request_id in ids))
            after = f"({rows[-1][0].decode()}"
        await self._redis.unlink(*KEYS.of_job(job_id))
        await self._redis.srem(KEYS.deleting(), job_id)

    async def events(self, job_id: str, after: str = "0-0") -> Sequence[JobEvent]:
        """Return the job's events after the id `after`, some at a time; none when there are no further ones."""
        rows = await self._redis.xrange(KEYS.events(job_id), min=f"({after}", count=_CHUNK)
        return [read_event(entry_id, fields) for entry_id, fields in rows]

    def _among(self, status: JobStatus, owner: str | None) -> str:
        return KEYS.jobs_of(f"{owner}:{status}") if owner else KEYS.in_status(status)

    def _idempotency(self, key: str, owner: str | None) -> str:
        return KEYS.owned_idempotency(owner, key) if owner else KEYS.idempotency(key)

    async def _summaries(self, job_ids: Sequence[bytes]) -> Sequence[JobSummary]:
        async with self._redis.pipeline(transaction=False) as pipeline:
            for job_id in job_ids:
                pipeline.hmget(KEYS.job(job_id.decode()), _SUMMARY_FIELDS)
            rows = await pipeline.execute()
        found = [dict(zip(_SUMMARY_FIELDS, row, strict=True)) for row in rows]
        pairs = zip(job_ids, found, strict=True)
        return [await self._summary(job_id.decode(), row) for job_id, row in pairs if row["status"]]

    async def _summary(self, job_id: str, row: Mapping[str, bytes | None]) -> JobSummary:
        if row["summary"]:
            spec = SpecSummary.model_validate_json(row["summary"])
        else:  # kept by an older gateway
            spec = SpecSummary.of((await self.get(job_id)).spec)
        return JobSummary.model_validate({"id": job_id, "spec": spec, **progress_fields(row)})


def require_waiting_room(found: str, owner: Owner, waiting_limit: int | None) -> None:
    """Raise what the scripts' `waiting` and `quota` stand for: QueueFullError, QuotaExceededError."""
    if found == "waiting":
        message = f"{waiting_limit} jobs wait to be queued already, which is the limit"
        raise QueueFullError(message, _RETRY_AFTER_SECONDS)
    if found == "quota":
        message = f"{owner.waiting_jobs} jobs of {owner.name} wait to be queued already, which is this key's limit"
        raise QuotaExceededError(message, _RETRY_AFTER_SECONDS)


def _serialize_spec(spec: JobSpec) -> tuple[str, str]:
    """Return the specification as it is kept, and its digest."""
    text = spec.model_dump_json()
    return text, hashlib.sha256(text.encode()).hexdigest()


def _conflict_error(idempotency_key: str | None) -> IdempotencyConflictError:
    return IdempotencyConflictError(f"idempotency key '{idempotency_key}' stands for another job specification")
