"""The queue of bundles: one stream per model and priority, leases, and a probation lane for suspected poison."""

import asyncio
import secrets
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple, NoReturn

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from jobs.codec import decompress, pack
from jobs.connection import BLOCK_SECONDS
from jobs.crashes import Suspicion
from jobs.errors import JobNotFoundError, JobNotRetryableError, JobTooLargeError, QueueFullError
from jobs.keys import KEYS, PRIORITIES, Keys
from jobs.leases import Lease
from jobs.models import Bundle, Job, JobStatus
from jobs.registry import JobRegistry
from jobs.results import ResultStore
from jobs.scripts import Name, Scripts
from jobs.stored import read_bundle

GROUP = "workers"

_CHUNK_BUNDLES = 200  # what one script may append: a few milliseconds of the server's time
_RETRY_AFTER_SECONDS = 10.0
_COUNTED_ENTRIES = 100  # looked at one by one when claimable bundles are counted


@dataclass(frozen=True)
class QueueDepth:
    """Bundles of one model that wait for a worker, and that workers hold."""

    waiting: int
    leased: int


@dataclass(frozen=True)
class Claimable:
    """Bundles of one model that a claim could lease now, and those among them that are interactive (100 at most)."""

    bundles: int
    interactive: int


class _Chunk(NamedTuple):
    """Packed bundles as the script takes them, and their models."""

    models: set[str]
    arguments: list[str | bytes | int]


class JobQueue:
    """Bundles between the gateway that enqueues them and the workers that claim them.

    `limit_requests` bounds the requests that are queued and not recorded, over all jobs. A lease that is not renewed
    for `lease_seconds` passes to whoever claims next; a bundle that was lost in all of `max_attempts` but one goes on
    probation, where what kills workers is found (`jobs.crashes`).
    """

    def __init__(
        self,
        redis: Redis,
        *,
        limit_requests: int = 200_000,
        lease_seconds: float = 30.0,
        max_attempts: int = 3,
        keys: Keys = KEYS,
    ) -> None:
        self._redis = redis
        self._keys = keys
        self._scripts = Scripts(redis, keys)
        self._registry = JobRegistry(redis, keys=keys)
        self._results = ResultStore(redis, keys=keys)
        self._limit = limit_requests
        self._lease_seconds = lease_seconds
        self._max_attempts = max_attempts
        self._grouped: set[str] = set()

    async def enqueue(self, job_id: str, bundles: Sequence[Bundle], dataset_digest: str | None) -> Job:
        """Reserve room for the whole job, append its bundles and put it in progress; safe to repeat after a crash.

        A job that was cancelled or failed meanwhile is returned as it is. Raises QueueFullError, JobTooLargeError,
        JobNotFoundError.
        """
        await self.reserve(job_id, sum(len(bundle.requests) for bundle in bundles), dataset_digest)
        return await self.append(job_id, bundles)

    async def require_room(self, num_requests: int) -> None:
        """Raise QueueFullError or JobTooLargeError when so many requests have no room now; reserves nothing."""
        outstanding = int(await self._redis.get(self._keys.outstanding()) or 0)
        if outstanding + num_requests > self._limit:
            self._refuse("a job", num_requests)

    async def reserve(self, job_id: str, num_requests: int, dataset_digest: str | None) -> None:
        """Keep room for a whole job, before any of its bundles is made; a job that has its room already keeps it.

        Raises QueueFullError, JobTooLargeError, JobNotFoundError.
        """
        status = await self._scripts.run("reserve", job_id, num_requests, self._limit, dataset_digest or "")
        self._check_reserved(status, job_id, num_requests)

    async def append(self, job_id: str, bundles: Iterable[Bundle]) -> Job:
        """Append the bundles of a job that has its room, and put it in progress; safe to repeat after a crash.

        `bundles` is read in threads, and a few of them are in memory at a time. A job that was cancelled or failed
        meanwhile is returned as it is. Raises JobNotFoundError.
        """
        remaining = iter(bundles)
        while chunk := await asyncio.to_thread(self._pack_some, remaining):
            await self._ensure_groups(chunk.models)
            if await self._scripts.run("append", job_id, *chunk.arguments) != b"validating":
                break
        await self._scripts.run("start", job_id)
        return await self._registry.get(job_id)

    async def reopen(self, job_id: str, bundles: Iterable[Bundle], dataset_digest: str | None = None) -> Job:
        """Set the failure responses of these bundles' requests aside and queue the bundles again.

        A cancelled job goes on with them: requests without a response are queued, too. Those that were answered stay
        so. Raises JobNotRetryableError, QueueFullError, JobTooLargeError, JobNotFoundError.
        """
        models, requests, arguments = await asyncio.to_thread(self._reopened, bundles)
        await self._ensure_groups(models)
        call = (job_id, self._limit, secrets.token_hex(8), dataset_digest or "")
        status = await self._scripts.run("reopen", *call, *arguments)
        self._check_reserved(status, job_id, requests)
        if status in {b"validating", b"in_progress", b"cancelling", b"finalizing", b"failed"}:
            raise JobNotRetryableError(f"job {job_id} is {status.decode()}; completed and cancelled jobs are retried")
        return await self._registry.get(job_id)

    async def claim(
        self,
        models: Sequence[str],
        worker: str,
        max_bundles: int,
        block_seconds: float,
        *,
        probation: bool = False,
    ) -> list[Lease]:
        """Lease up to `max_bundles` bundles: `interactive` before `batch`, expired leases before new bundles.

        With `probation`, a bundle of the probation lane comes first, and alone. Waits up to `block_seconds` while
        there is nothing to lease, and then returns an empty list.
        """
        await self._ensure_groups(models)
        deadline = time.monotonic() + block_seconds
        while True:
            seen = await self._newest(models)
            if probation and (leases := await self._claim_probation(models, worker)):
                return leases
            more, leases = await self._run_claim(models, worker, max_bundles, probation=False)
            left = deadline - time.monotonic()
            if leases or (left <= 0 and not more):
                return leases
            if not more:
                await self._wait_for_news(seen, left)

    async def renew(self, leases: Sequence[Lease]) -> list[Lease]:
        """Keep leases for another `lease_seconds`; returns those that are lost to another worker or ended."""
        lost: list[Lease] = []
        for worker in {lease.worker for lease in leases}:
            held = [lease for lease in leases if lease.worker == worker]
            pairs = (part for lease in held for part in (lease.stream, lease.entry_id))
            renewed = await self._scripts.run("renew", worker, *pairs)
            lost += [lease for lease, kept in zip(held, renewed, strict=True) if not kept]
        return lost

    async def hand_back(self, lease: Lease) -> None:
        """Give a bundle up: claimable at once, its attempt unspent.

        It is dropped instead when its job is being cancelled, and acknowledged when all its requests are recorded.
        Does nothing when the lease was lost.
        """
        ids = (request.id for request in lease.bundle.requests)
        await self._scripts.run("hand_back", *self._held(lease), lease.deliveries, *self._named(lease), *ids)

    async def begin_probation(self, lease: Lease, request_id: str) -> bool:
        """Mark the request that runs next; it takes the blame if workers die of it. False when the lease was lost."""
        return bool(await self._scripts.run("suspect", *self._held(lease), *self._named(lease), request_id))

    async def cancelled(self, job_ids: Iterable[str]) -> set[str]:
        """Return which of these jobs need no more playing: being cancelled, ended, or deleted."""
        ids = sorted(set(job_ids))
        async with self._redis.pipeline(transaction=False) as pipeline:
            for job_id in ids:
                pipeline.hget(self._keys.job(job_id), "status")
            statuses = await pipeline.execute()
        going_on = {JobStatus.VALIDATING, JobStatus.IN_PROGRESS, JobStatus.FINALIZING}
        return {
            job_id for job_id, status in zip(ids, statuses, strict=True) if (status or b"").decode() not in going_on
        }

    async def depth(self, model: str) -> QueueDepth:
        """Count the bundles of a model that wait and that are leased."""
        waiting, leased = await self._redis.hmget(self._keys.depth(), [f"waiting:{model}", f"leased:{model}"])
        return QueueDepth(int(waiting or 0), int(leased or 0))

    async def claimable(self, models: Sequence[str]) -> dict[str, Claimable]:
        """Count the bundles of each model that a claim could lease now: those that wait, and expired leases."""
        lanes = [argument for model in models for argument in (model, *self._lanes(model), "")]
        counts = await self._run_on_groups("claimable", models, [self._lease_ms, _COUNTED_ENTRIES, *lanes])
        return {model: Claimable(*count) for model, count in zip(models, counts, strict=True)}

    async def trim(self) -> int:
        """Remove entries that are done with from all lanes and drop expired leases of ended jobs; run it periodically.

        Returns the number of entries removed.
        """
        models = sorted(model.decode() for model in await self._redis.smembers(self._keys.models()))
        self._grouped.clear()
        await self._ensure_groups(models)
        lanes = (lane for model in models for lane in self._lanes(model))
        return sum([await self._scripts.run("trim", lane, self._lease_ms) for lane in lanes])

    @property
    def _lease_ms(self) -> int:
        return int(self._lease_seconds * 1000)

    def _lanes(self, model: str) -> list[str]:
        return [*(self._keys.queue(model, priority) for priority in PRIORITIES), self._keys.probation(model)]

    def _held(self, lease: Lease) -> tuple[str, str, str]:
        return lease.worker, lease.stream, lease.entry_id

    def _named(self, lease: Lease) -> tuple[str, str]:
        return lease.bundle.job_id, lease.bundle.id

    def _pack_some(self, bundles: Iterator[Bundle]) -> "_Chunk | None":
        # Each is packed as it is made, which is a fiftieth of its size.
        chunk = _Chunk(set(), [])
        for bundle in islice(bundles, _CHUNK_BUNDLES):
            lane = self._keys.queue(bundle.model, bundle.priority)
            chunk.models.add(bundle.model)
            chunk.arguments.extend([bundle.id, len(bundle.requests), bundle.model, lane, pack(bundle)])
        return chunk if chunk.arguments else None

    def _reopened(self, bundles: Iterable[Bundle]) -> tuple[set[str], int, list[str | bytes | int]]:
        models: set[str] = set()
        requests = 0
        arguments: list[str | bytes | int] = []
        for bundle in bundles:
            lane = self._keys.queue(bundle.model, bundle.priority)
            models.add(bundle.model)
            requests += len(bundle.requests)
            arguments += [bundle.id, bundle.model, lane, pack(bundle), len(bundle.requests)]
            arguments += [request.id for request in bundle.requests]
        return models, requests, arguments

    def _check_reserved(self, status: bytes, job_id: str, requests: int) -> None:
        if status == b"missing":
            raise JobNotFoundError(f"there is no job {job_id}")
        if status == b"full":
            self._refuse(f"job {job_id}", requests)

    def _refuse(self, job: str, requests: int) -> NoReturn:
        if requests > self._limit:
            raise JobTooLargeError(f"{job} has {requests} requests; the queue holds {self._limit}")
        message = f"{job}: the queue has no room for {requests} more requests (limit {self._limit})"
        raise QueueFullError(message, _RETRY_AFTER_SECONDS)

    async def _ensure_groups(self, models: Iterable[str]) -> None:
        for lane in (lane for model in models for lane in self._lanes(model)):
            if lane not in self._grouped:
                try:
                    await self._redis.xgroup_create(lane, GROUP, id="0", mkstream=True)
                except ResponseError as error:
                    if "BUSYGROUP" not in str(error):
                        raise
                self._grouped.add(lane)

    async def _run_claim(
        self, models: Sequence[str], worker: str, slots: int, *, probation: bool
    ) -> tuple[bool, list[Lease]]:
        lanes = [
            lane
            for priority in PRIORITIES
            for model in models
            for lane in (self._keys.queue(model, priority), self._keys.probation(model))
        ]
        settings = (worker, slots, self._lease_ms, self._max_attempts, int(probation))
        more, rows = await self._run_on_groups("claim", models, (*settings, *lanes))
        return bool(more), [self._lease(row, worker, probation) for row in rows]

    async def _run_on_groups(self, name: Name, models: Sequence[str], arguments: Sequence[str | float]) -> Any:
        await self._ensure_groups(models)
        try:
            return await self._scripts.run(name, *arguments)
        except ResponseError as error:
            if "NOGROUP" not in str(error):
                raise
            self._grouped.clear()  # the server came back with less than it had: another, or one that lost power
            await self._ensure_groups(models)
            return await self._scripts.run(name, *arguments)

    def _lease(self, row: Sequence[Any], worker: str, probation: bool) -> Lease:
        stream, entry_id, deliveries, queued_ms, crashes, payload, mark = row
        return Lease(
            bundle=read_bundle(decompress(payload)),
            attempt=int(crashes) + deliveries,
            probation=probation,
            queued_seconds=max(0, queued_ms) / 1000,
            worker=worker,
            stream=stream.decode(),
            entry_id=entry_id.decode(),
            deliveries=deliveries,
            mark=mark.decode(),
        )

    async def _claim_probation(self, models: Sequence[str], worker: str) -> list[Lease]:
        more = True
        while more:
            more, leases = await self._run_claim(models, worker, 1, probation=True)
            if leases and await self._judge(leases[0]):
                return leases
            more = more or bool(leases)
        return []

    async def _judge(self, lease: Lease) -> bool:
        """Record what has killed the workers of a bundle on probation; False when no request of it is left."""
        if lease.deliveries == 1:
            return True
        suspicion = Suspicion.of(lease)
        for request in suspicion.blamed(lease):
            await self._results.record(suspicion.response(lease, request), lease)
        ids = [request.id for request in lease.bundle.requests]
        return len(await self._results.recorded(lease.job_id, ids)) < len(ids)

    async def _newest(self, models: Sequence[str]) -> dict[str, bytes]:
        lanes = [lane for model in models for lane in self._lanes(model)]
        async with self._redis.pipeline(transaction=False) as pipeline:
            for lane in lanes:
                pipeline.xrevrange(lane, count=1)
            newest = await pipeline.execute()
        return {lane: rows[0][0] if rows else b"0-0" for lane, rows in zip(lanes, newest, strict=True)}

    async def _wait_for_news(self, seen: dict[str, bytes], seconds: float) -> None:
        # Neither an expired lease nor a hand-back adds an entry, so the wait is cut into slices.
        slice_seconds = min(seconds, self._lease_seconds / 2, 0.5, BLOCK_SECONDS)
        await self._redis.xread(seen, count=1, block=max(1, int(slice_seconds * 1000)))
