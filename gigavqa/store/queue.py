"""The queue of bundles: one stream per model and priority, leases, and a probation lane for suspected poison."""

import asyncio
import logging
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import NoReturn

from redis.asyncio import Redis

from gigavqa.contract.codec import pack
from gigavqa.contract.errors import (
    JobNotFoundError,
    JobTooLargeError,
    QueueFullError,
    QuotaExceededError,
)
from gigavqa.contract.jobs import Job, JobStatus
from gigavqa.contract.leases import Lease
from gigavqa.contract.requests import Bundle
from gigavqa.store.api_keys import NO_OWNER, Owner
from gigavqa.store.claims import BundleClaims
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.lua_scripts import (
    ClaimRequest,
    EntryRef,
    LuaScripts,
    PackedBundle,
    RetryBundle,
)
from gigavqa.store.queue_lanes import AFFINITY_PRIORITY, QueueLanes
from gigavqa.store.redis_keys import KEYS
from gigavqa.store.results import ResultStore

log = logging.getLogger(__name__)

_CHUNK_BUNDLES = 200  # what one script may append: a few milliseconds of the state store's time
_CHUNK_RETRIED = 10  # the same of a retry, which looks at every request
_RETRY_AFTER_SECONDS = 10.0  # a full queue refuses, and never grows: decision 0003
_COUNTED_ENTRIES = 100  # looked at one by one when claimable bundles are counted
_UNLIMITED = 1_000_000_000


@dataclass(frozen=True)
class QueueDepth:
    """Bundles of one model that wait for a worker, and that workers hold."""

    waiting: int
    leased: int


@dataclass(frozen=True)
class QueueAges:
    """Seconds since the oldest bundle of a model was queued that waits, and that a worker holds; None for none.

    What nobody wants any more is not counted.
    """

    waiting: float | None
    leased: float | None


@dataclass(frozen=True)
class ClaimableCounts:
    """Bundles of one model that a claim could lease now, and those among them that are interactive (100 at most)."""

    bundles: int
    interactive: int


class JobQueue:
    """Bundles between the gateway that enqueues them and the workers that claim them.

    `limit_requests` bounds the requests that are queued and not recorded, over all jobs. A lease that is not renewed
    for `lease_seconds` passes to whoever claims next; a bundle that was lost in all of `max_attempts` but one goes on
    probation, where what kills workers is found (`gigavqa.store.crashes`).

    With `defer_seconds`, bundles find the worker that looked at their image last: others park them for it, and take
    them when they waited so long (half a lease at most) and nothing else is to be had.
    """

    def __init__(
        self,
        redis: Redis,
        *,
        limit_requests: int = 200_000,
        lease_seconds: float = 30.0,
        max_attempts: int = 3,
        defer_seconds: float = 0.0,
    ) -> None:
        self._redis = redis
        self._calls = LuaScripts(redis)
        self._registry = JobRegistry(redis)
        self._lanes = QueueLanes(redis)
        self._claims = BundleClaims(self._calls, self._lanes, ResultStore(redis))
        self._limit = limit_requests
        self._lease_seconds = lease_seconds
        self._max_attempts = max_attempts
        self._defer_ms = int(min(defer_seconds, lease_seconds / 2) * 1000)

    async def enqueue(self, job_id: str, bundles: Sequence[Bundle], dataset_digest: str | None) -> Job:
        """Reserve room for the whole job, append its bundles and put it in progress; safe to repeat after a crash.

        A job that was cancelled or failed meanwhile is returned as it is. Raises QueueFullError, JobTooLargeError,
        JobNotFoundError.
        """
        await self.reserve(job_id, sum(len(bundle.requests) for bundle in bundles), dataset_digest)
        return await self.append(job_id, bundles)

    async def open_lanes(self, models: Iterable[str]) -> None:
        """Make the lanes of these models where there are none, so that autoscalers find something to look at."""
        await self._lanes.ensure_groups(models)

    async def require_room(self, num_requests: int, owner: Owner = NO_OWNER) -> None:
        """Raise QueueFullError or JobTooLargeError when so many requests have no room now; reserves nothing."""
        outstanding = int(await self._redis.get(KEYS.outstanding()) or 0)
        if outstanding + num_requests > self._limit:
            self._refuse("a job", num_requests)
        if owner.name and owner.queued_requests is not None:
            queued = int(await self._redis.hget(KEYS.queued(), owner.name) or 0)
            if queued + num_requests > owner.queued_requests:
                _refuse_owner("a job", num_requests, owner.queued_requests)

    async def owner_of(self, job_id: str) -> Owner:
        """Whose a job is, and how many requests of his may be in the queue: as it was when the job was submitted."""
        fields = ["owner", "queued_limit", "interactive_limit"]
        name, queued, interactive = await self._redis.hmget(KEYS.job(job_id), fields)
        limits = {"interactive_requests": int(interactive) if interactive else None}
        return Owner(name.decode() if name else None, int(queued) if queued else None, **limits)

    async def reserve(
        self, job_id: str, num_requests: int, dataset_digest: str | None, *, num_answered: int = 0
    ) -> None:
        """Keep room for a whole job, before any of its bundles is made; a job that has its room already keeps it.

        Of its requests, those that are answered and stay so in a retry need none. Raises QueueFullError,
        JobTooLargeError, JobNotFoundError.
        """
        status = await self._calls.reserve(
            job_id,
            num_requests=num_requests,
            num_answered=num_answered,
            limit=self._limit,
            dataset_digest=dataset_digest or "",
        )
        await self._check_reserved(status, job_id, num_requests - num_answered)

    async def append(
        self,
        job_id: str,
        bundles: Iterable[Bundle],
        warnings: Sequence[str] = (),
        taken_back: Mapping[str, str] | None = None,
    ) -> Job:
        """Append the bundles of a job that has its room, and put it in progress; safe to repeat after a crash.

        The job keeps the `warnings` of its check. `bundles` is read in threads, and a few of them are in memory at a
        time. With `taken_back` they are those of a retry: failures of their requests are dropped as they are appended,
        and answers of these cursors by request id; what has a response then is not asked. A job that was cancelled or
        failed meanwhile is returned as it is, and one that the state store lost a part of meanwhile is still
        `validating`: repeat. Raises JobNotFoundError.
        """
        remaining, num_bundles = iter(bundles), 0
        size = _CHUNK_BUNDLES if taken_back is None else _CHUNK_RETRIED
        while chunk := await asyncio.to_thread(self._pack_some, remaining, size):
            await self._lanes.ensure_groups({bundle.model for bundle, _ in chunk})
            if await self._append_some(job_id, chunk, taken_back) != "validating":
                break
            num_bundles += len(chunk)
        await self._calls.start(job_id, num_bundles, warnings)
        return await self._registry.get(job_id)

    async def _append_some(
        self, job_id: str, chunk: Sequence[RetryBundle], taken_back: Mapping[str, str] | None
    ) -> str | None:
        if taken_back is None:
            return await self._calls.append(job_id, [bundle for bundle, _ in chunk])
        theirs = (request_id for _, request_ids in chunk for request_id in request_ids)
        named = {request_id: taken_back[request_id] for request_id in theirs if request_id in taken_back}
        return await self._calls.append_retry(job_id, chunk, named)

    async def claim(
        self,
        models: Sequence[str],
        worker: str,
        max_bundles: int,
        block_seconds: float,
        *,
        max_requests: int = _UNLIMITED,
        room: int = 0,
        probation: bool = False,
    ) -> list[Lease]:
        """Lease up to `max_bundles` bundles: `interactive` before `batch`, expired leases before new bundles.

        The one that brings the requests to `max_requests` is the last. Bundles of the worker's own images that others
        find are parked for it while they have up to `room` requests. With `probation`, a bundle of the probation lane
        comes first, and alone. Waits up to `block_seconds` while there is nothing to lease, and then returns an empty
        list. Bundles that cannot be read are passed over, counted and logged.
        """
        await self._lanes.ensure_groups(models)
        wanted = ClaimRequest(
            max_bundles, max_requests, room, self._lease_ms, self._max_attempts, self._defer_ms, False
        )
        deadline = time.monotonic() + block_seconds
        while True:
            seen = await self._lanes.newest(models)
            if probation and (leases := await self._claims.from_probation(models, worker, wanted)):
                return leases
            more, leases = await self._claims.run(models, worker, wanted)
            left = deadline - time.monotonic()
            if leases or (left <= 0 and not more):
                return leases
            if not more:
                await self._lanes.wait_for_news(seen, min(left, self._lease_seconds / 2))

    async def renew(self, leases: Sequence[Lease]) -> list[Lease]:
        """Keep leases for another `lease_seconds`, with what is parked for their worker.

        Returns those that are lost to another worker or ended; that they ran out was no death of a worker.
        """
        lost: list[Lease] = []
        for worker in {lease.worker for lease in leases}:
            held = [lease for lease in leases if lease.worker == worker]
            renewed = await self._calls.renew(
                worker,
                lease_ms=self._lease_ms,
                parking={KEYS.queue(lease.bundle.model, AFFINITY_PRIORITY): lease.bundle.model for lease in held},
                entries=(
                    (lease.stream, lease.entry_id, _ownership_of(lease.bundle), lease.deliveries) for lease in held
                ),
            )
            lost += [lease for lease, kept in zip(held, renewed, strict=True) if not kept]
        return lost

    async def release(self, model: str, worker: str) -> None:
        """Own no images of a model any more: what is parked for the worker is claimable at once, by anyone.

        For a worker that claims no more of this model; its leases stay.
        """
        lane = KEYS.queue(model, AFFINITY_PRIORITY)
        await self._lanes.with_groups([model], partial(self._calls.release, worker, lane=lane, model=model))

    async def hand_back(self, lease: Lease) -> None:
        """Give a bundle up: claimable at once, its attempt unspent.

        It is dropped instead when its job is being cancelled, and acknowledged when all its requests are recorded.
        Does nothing when the lease was lost.
        """
        await self._calls.hand_back(
            _entry_of(lease),
            deliveries=lease.deliveries,
            job_id=lease.job_id,
            bundle_id=lease.bundle.id,
            request_ids=[request.id for request in lease.bundle.requests],
        )

    async def begin_probation(self, lease: Lease, request_id: str) -> bool:
        """Mark the request that runs next; it takes the blame if workers die of it. False when the lease was lost."""
        return await self._calls.suspect(
            _entry_of(lease),
            deliveries=lease.deliveries,
            job_id=lease.job_id,
            bundle_id=lease.bundle.id,
            request_id=request_id,
        )

    async def cancelled(self, job_ids: Iterable[str]) -> set[str]:
        """Return which of these jobs need no more playing: being cancelled, ended, or deleted."""
        ids = sorted(set(job_ids))
        async with self._redis.pipeline(transaction=False) as pipeline:
            for job_id in ids:
                pipeline.hget(KEYS.job(job_id), "status")
            statuses = await pipeline.execute()
        going_on = {JobStatus.VALIDATING, JobStatus.IN_PROGRESS, JobStatus.FINALIZING}
        return {
            job_id for job_id, status in zip(ids, statuses, strict=True) if (status or b"").decode() not in going_on
        }

    async def depth(self, model: str) -> QueueDepth:
        """Count the bundles of a model that wait and that are leased."""
        waiting, leased = await self._redis.hmget(KEYS.depth(), [f"waiting:{model}", f"leased:{model}"])
        return QueueDepth(int(waiting or 0), int(leased or 0))

    async def claimable(self, models: Sequence[str]) -> dict[str, ClaimableCounts]:
        """Count the bundles of each model that a claim could lease now: those that wait, and expired leases."""
        lanes = {model: self._lanes.of(model) for model in models}
        call = partial(self._calls.claimable, lanes, lease_ms=self._lease_ms, bound=_COUNTED_ENTRIES)
        found = await self._lanes.with_groups(models, call)
        return {model: ClaimableCounts(*count) for model, count in found.items()}

    async def ages(self) -> dict[str, QueueAges]:
        """Tell of every model that was ever queued for how old its oldest bundles are."""
        models = sorted(model.decode() for model in await self._redis.smembers(KEYS.models()))
        lanes = {model: self._lanes.of(model) for model in models}
        found = await self._lanes.with_groups(models, partial(self._calls.ages, lanes, lease_ms=self._lease_ms))
        return {model: QueueAges(*(None if ms < 0 else ms / 1000 for ms in pair)) for model, pair in found.items()}

    async def trim(self) -> int:
        """Remove entries that are done with from all lanes and drop expired leases of ended jobs; run it periodically.

        Returns the number of entries removed.
        """
        models = sorted(model.decode() for model in await self._redis.smembers(KEYS.models()))
        self._lanes.forget()
        await self._lanes.ensure_groups(models)
        lanes = (lane for model in models for lane in self._lanes.of(model))
        return sum([await self._calls.trim(lane, lease_ms=self._lease_ms) for lane in lanes])

    @property
    def _lease_ms(self) -> int:
        return int(self._lease_seconds * 1000)

    def _pack_some(self, bundles: Iterator[Bundle], size: int) -> list[RetryBundle]:
        # Each is packed as it is made, which is a fiftieth of its size.
        some = islice(bundles, size)
        return [RetryBundle(self._packed(bundle), [request.id for request in bundle.requests]) for bundle in some]

    def _packed(self, bundle: Bundle) -> PackedBundle:
        lane = KEYS.queue(bundle.model, bundle.priority)
        return PackedBundle(bundle.id, len(bundle.requests), bundle.model, lane, _image_of(bundle), pack(bundle))

    async def _check_reserved(self, status: str, job_id: str, requests: int) -> None:
        if status == "missing":
            raise JobNotFoundError(f"there is no job {job_id}")
        if status == "full":
            self._refuse(f"job {job_id}", requests)
        if status == "quota":
            _refuse_owner(f"job {job_id}", requests, (await self.owner_of(job_id)).queued_requests or 0)
        if status == "interactive":
            owner = await self.owner_of(job_id)
            raise interactive_limit_error(f"job {job_id}", requests, owner.interactive_requests or 0)

    def _refuse(self, job: str, requests: int) -> NoReturn:
        if requests > self._limit:
            raise JobTooLargeError(f"{job} has {requests} requests; the queue holds {self._limit}")
        message = f"{job}: the queue has no room for {requests} more requests (limit {self._limit})"
        raise QueueFullError(message, _RETRY_AFTER_SECONDS)


def _image_of(bundle: Bundle) -> str:
    """Return the image of a bundle, if any of its requests looks at one."""
    return bundle.image if any(request.views for request in bundle.requests) else ""


def _ownership_of(bundle: Bundle) -> str:
    image = _image_of(bundle)
    return image and f"{bundle.model}:{image}"


def _entry_of(lease: Lease) -> EntryRef:
    return EntryRef(lease.worker, lease.stream, lease.entry_id)


def interactive_limit_error(asked: str, requests: int, limit: int) -> JobTooLargeError | QuotaExceededError:
    """Return the error of so many requests that would go before those of others."""
    told = f"this key's owner may have {limit} interactive requests in the queue"
    if requests > limit:
        return JobTooLargeError(f"{asked} has {requests} requests; {told}, and any number with priority batch")
    return QuotaExceededError(f"{asked}: {told}, and has no room for {requests} more", _RETRY_AFTER_SECONDS)


def _refuse_owner(job: str, requests: int, limit: int) -> NoReturn:
    if requests > limit:
        raise JobTooLargeError(f"{job} has {requests} requests; this key's owner may have {limit} in the queue")
    message = f"{job}: its owner has no room for {requests} more requests in the queue (limit {limit})"
    raise QuotaExceededError(message, _RETRY_AFTER_SECONDS)
