"""Takes jobs: checks each whole, registers it, and puts its bundles into the queue."""

import asyncio
from collections.abc import Iterable, Iterator
from functools import partial

from redis.exceptions import RedisError

from gigavqa.catalogue.errors import CatalogueError
from gigavqa.contract.errors import JobNotFoundError, JobNotRetryableError, JobTooLargeError, QueueFullError
from gigavqa.contract.jobs import Job, JobSpec, JobStatus
from gigavqa.contract.requests import Bundle
from gigavqa.evaluation.errors import DatasetInvalidError, EvaluationError
from gigavqa.service.errors import MAX_FINDINGS, DatasetChangedError, ServiceError
from gigavqa.service.http.fair_semaphore import FairSemaphore
from gigavqa.service.http.problems import findings_of
from gigavqa.service.operations.background import BackgroundTasks
from gigavqa.service.operations.bundling import RequestOfImage, bundle_requests
from gigavqa.service.operations.instrumentation import GatewayInstrumentation
from gigavqa.service.operations.reconciler import Reconciler
from gigavqa.service.settings import GatewaySettings
from gigavqa.service.submission.judged_jobs import JudgedJobs, OwnerFilter
from gigavqa.service.submission.recorded_requests import RecordedRequests, read_flawed, read_recorded
from gigavqa.service.submission.validation import (
    JobValidator,
    ResolvedJob,
    ValidatedJob,
    require_schema_support,
    require_sources,
)
from gigavqa.store.api_keys import NO_OWNER, Owner, cache_salt
from gigavqa.store.connection import is_state_store_down
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.queue import JobQueue, interactive_limit_error
from gigavqa.store.results import ResultStore
from gigavqa.store.retries import JobRetries, Retry
from gigavqa.store.worker_registry import WorkerRegistry

_CHECKS_AT_A_TIME = 2
_DRAFTS_AT_A_TIME, _DRAFTS_OF_AN_OWNER = 4, 2
_INLINE_SECONDS = 1.0
"""A younger job may be one that is queued before its client is answered."""

_REFUSALS = (ServiceError, EvaluationError, CatalogueError, JobTooLargeError, JobNotRetryableError)


class Submissions:
    """The way of a job into the queue. Checks run in threads, a few at a time, which bounds their memory."""

    def __init__(
        self,
        *,
        settings: GatewaySettings,
        admission: JobValidator,
        registry: JobRegistry,
        queue: JobQueue,
        results: ResultStore,
        retries: JobRetries,
        worker_registry: WorkerRegistry,
        background: BackgroundTasks,
        instrumentation: GatewayInstrumentation,
        stopping: asyncio.Event,
    ) -> None:
        self._settings = settings
        self._admission = admission
        self._registry = registry
        self._queue = queue
        self._results = results
        self._worker_registry = worker_registry
        self._retries = retries
        self._judged = JudgedJobs(registry, results, stopping)
        self._submitted = instrumentation.submitted
        self._drafting = FairSemaphore(_DRAFTS_AT_A_TIME, _DRAFTS_OF_AN_OWNER)
        self._checking = asyncio.Semaphore(_CHECKS_AT_A_TIME)
        self._appending = asyncio.Semaphore(1)
        self._reconciler = Reconciler("validation", self._step, queue, background)

    async def submit(
        self,
        spec: JobSpec,
        idempotency_key: str | None,
        owner: Owner = NO_OWNER,
        may_see: OwnerFilter = lambda owner: True,
    ) -> tuple[Job, bool]:
        """Accept a job of an owner's; the flag tells a new one from the one that the key already belongs to.

        Of jobs that are judged, those that are not the caller's to see are not there.

        A small job is in the queue when this returns; a larger one, and one that the server did not take into the
        queue after it was recorded, is `validating`, and goes on in the background. Of a large data set no sample is
        read before that.
        Raises what Admission raises, QueueFullError, QuotaExceededError and IdempotencyConflictError; nothing is then
        accepted.
        """
        spec = await asyncio.to_thread(self._admission.named, spec)
        if idempotency_key and (earlier := await self._registry.find(spec, idempotency_key, owner.name)):
            return earlier, False
        answers = await self._judged.require(spec, may_see) if spec.judge else 0
        if answers > self._settings.inline_requests or await asyncio.to_thread(self._admission.is_large, spec):
            await asyncio.to_thread(self._admission.require_choices, spec)
            return await self._take(spec, idempotency_key, owner)
        draft = await self._draft(spec, owner.name)
        _require_within_limits(draft, owner)
        if not self._is_small(draft):
            return await self._take(spec, idempotency_key, owner)
        await self._queue.require_room(draft.num_requests, owner)
        checked = await self._check(draft)
        while True:
            job, created = await self._registry.create(spec, idempotency_key, owner)
            if not created:
                return job, False
            try:
                return await self._enqueue_or_forget(job, checked), True
            except JobNotFoundError:  # the server came back without it
                continue
            except RedisError as error:
                if not is_state_store_down(error):
                    raise
                # It is recorded, and will run as soon as it can: who was told that it is refused would send it again.
                return job, True

    async def retry(self, job_id: str, owner: Owner = NO_OWNER, *, empty: bool = False) -> Job:
        """Ask the failed requests of a completed or cancelled job again, and what a cancelled one left unanswered.

        With `empty`, also what is recorded as answered and is no answer: empty, or broken off by its engine.

        A small job is in the queue when this returns. A large one is `validating`, and goes on in the background: where
        nothing of it can be asked again, it is soon as it was, and its errors say why. `owner` is who asks.
        Raises JobNotFoundError, JobNotRetryableError, DatasetChangedError, QueueFullError and what `submit` does.
        """
        job = await self._registry.get(job_id)
        if job.status not in {JobStatus.COMPLETED, JobStatus.CANCELLED}:
            raise JobNotRetryableError(f"job {job_id} is {job.status}; only completed and cancelled jobs are retried")
        answers = await self._judged.require(job.spec) if job.spec.judge else 0
        num_requests = max(answers, job.request_counts.total)
        if num_requests > self._settings.inline_requests or await asyncio.to_thread(self._admission.is_large, job.spec):
            if job.status is JobStatus.COMPLETED and not job.request_counts.failed and not empty:
                raise JobNotRetryableError(_describe_no_failure(job_id, 0))
            await asyncio.to_thread(self._admission.require_choices, job.spec)
            return await self._retry_beside(job, owner, empty=empty)
        async with self._registry.exclusively(job_id, self._settings.resume_seconds) as mine:
            if not mine:
                raise JobNotRetryableError(f"job {job_id} is being retried")
            draft, recorded = await self._retry_draft(job, empty=empty)
            if self._is_small(draft):
                return await self._retry_now(job, draft, recorded, empty=empty)
        return await self._retry_beside(job, owner, empty=empty)

    async def _retry_beside(self, job: Job, owner: Owner, *, empty: bool) -> Job:
        waiting, limit = owner if owner.name == job.owner else NO_OWNER, self._settings.waiting_jobs
        reopened = await self._retries.reopen(job.id, empty=empty, owner=waiting, waiting_limit=limit)
        self._reconciler.take_up(job.id)
        return reopened

    async def _retry_now(self, job: Job, draft: ResolvedJob, recorded: RecordedRequests, *, empty: bool) -> Job:
        num_answered = len(recorded.answered)
        await self._queue.require_room(draft.num_requests - num_answered, await self._queue.owner_of(job.id))
        checked = await self._check(draft)
        reopened = await self._retries.reopen(job.id, empty=empty)
        try:
            await self._queue.reserve(job.id, draft.num_requests, draft.digest, num_answered=num_answered)
            return await self._append_retry(job, checked, recorded)
        except QueueFullError:
            await self._registry.fail(job.id, [])  # it is as it was
            raise
        except RedisError as error:
            if not is_state_store_down(error):
                raise
            return reopened  # and goes on in the background

    async def _retry_draft(
        self, job: Job, *, empty: bool, retry: Retry | None = None
    ) -> tuple[ResolvedJob, RecordedRequests]:
        recorded = await read_recorded(self._results, job.id, empty=empty, retry=retry)
        if job.status is JobStatus.COMPLETED and not recorded.asked:
            raise JobNotRetryableError(await self._describe_no_retry(job, empty=empty))
        draft = await self._draft(job.spec, job.owner)
        _require_same_records(job, draft, f"since job {job.id}")
        if len(recorded.answered) >= draft.num_requests:
            raise JobNotRetryableError(await self._describe_no_retry(job, empty=empty))
        return draft, recorded

    async def _describe_no_retry(self, job: Job, *, empty: bool) -> str:
        if job.status is JobStatus.CANCELLED:
            return f"job {job.id} is {job.status}, and all its requests are answered"
        if empty:
            return f"job {job.id} has no failed request, and no reply that is empty or was broken off"
        return _describe_no_failure(job.id, len(await read_flawed(self._results, job.id)))

    async def _append_retry(self, job: Job, checked: ValidatedJob, recorded: RecordedRequests) -> Job:
        retry = await self._retries.of(job.id)
        requests = checked.requests(without=recorded.answered)
        bundles = self._bundles(job, requests, f"r{retry.number if retry else 0}")
        return await self._queue.append(job.id, bundles, checked.warnings, recorded.taken_back)

    async def run(self) -> None:
        """Take up the jobs that are `validating` for ever; to be run again when it fails."""
        await self._registry.index()
        await self._reconciler.run(partial(self._registry.validating, _INLINE_SECONDS))

    async def _draft(self, spec: JobSpec, owner: str | None) -> ResolvedJob:
        async with self._drafting.of(owner):
            if spec.judge is None:
                return await asyncio.to_thread(self._admission.draft, spec)
            await self._judged.require(spec)
            replies = self._judged.replies(spec, asyncio.get_running_loop())
            return await asyncio.to_thread(self._admission.draft, spec, replies)

    async def _take(self, spec: JobSpec, idempotency_key: str | None, owner: Owner) -> tuple[Job, bool]:
        """Register a job that is checked further in the background."""
        job, created = await self._registry.create(
            spec, idempotency_key, owner, waiting_limit=self._settings.waiting_jobs
        )
        if created:
            self._reconciler.take_up(job.id)
        return job, created

    def _is_small(self, draft: ResolvedJob) -> bool:
        settings = self._settings
        return (
            len(draft.expansion.samples) <= settings.inline_samples and draft.num_requests <= settings.inline_requests
        )

    async def _check(self, draft: ResolvedJob) -> ValidatedJob:
        async with self._checking:
            checked = await asyncio.to_thread(self._admission.check, draft)
        spec = draft.expansion.spec
        workers = await self._worker_registry.workers() if checked.sources or spec.closing else ()
        require_schema_support(spec, workers)
        if checked.sources:
            require_sources(checked, {source for worker in workers for source in worker.sources})
        return checked

    async def _enqueue_or_forget(self, job: Job, checked: ValidatedJob) -> Job:
        async with self._registry.exclusively(job.id, self._settings.resume_seconds):
            try:
                await self._queue.reserve(job.id, checked.draft.num_requests, checked.draft.digest)
                return await self._queue.append(job.id, self._bundles(job, checked.requests()), checked.warnings)
            except QueueFullError as error:
                # Refused is refused: the key must be free for the client's next try.
                await self._registry.fail(job.id, [str(error)])
                await self._registry.delete(job.id)
                raise

    async def _step(self, job_id: str) -> None:
        try:
            await self._reconciler.require_room(job_id)
            async with self._registry.exclusively(job_id, self._settings.resume_seconds) as mine:
                if mine:
                    await self._enqueue(job_id)
        except _REFUSALS as error:
            await self._registry.fail(job_id, _error_lines(error))
        except JobNotFoundError:
            return

    async def _enqueue(self, job_id: str) -> None:
        """Queue a job that is `validating`; what is in memory of one that finds no room goes with QueueFullError."""
        job = await self._registry.get(job_id)
        if job.status is not JobStatus.VALIDATING:
            return
        if retry := await self._retries.of(job_id):
            await self._enqueue_retry(job, retry)
            return
        draft = await self._draft(job.spec, job.owner)
        _require_within_limits(draft, await self._queue.owner_of(job_id))
        _require_same_records(job, draft, "while the job was queued; submit it again")
        await self._reconciler.reserve(job_id, draft.num_requests, draft.digest)
        checked = await self._check(draft)
        async with self._appending:
            await self._queue.append(job_id, self._bundles(job, checked.requests()), checked.warnings)

    async def _enqueue_retry(self, job: Job, retry: Retry) -> None:
        draft, recorded = await self._retry_draft(job, empty=retry.empty, retry=retry)
        num_answered = len(recorded.answered)
        await self._reconciler.reserve(job.id, draft.num_requests, draft.digest, num_answered=num_answered)
        checked = await self._check(draft)
        async with self._appending:
            await self._append_retry(job, checked, recorded)

    def _bundles(self, job: Job, requests: Iterable[RequestOfImage], generation: str = "0") -> Iterator[Bundle]:
        settings = self._settings
        salt = cache_salt(job.owner, settings.cache_sharing)
        return bundle_requests(job, self._counted(requests), settings.bundle_requests, generation, salt)

    def _counted(self, requests: Iterable[RequestOfImage]) -> Iterator[RequestOfImage]:
        for image, request in requests:
            self._submitted.labels(request.model).inc()
            yield image, request


def _describe_no_failure(job_id: str, flawed: int) -> str:
    if not flawed:
        return f"job {job_id} has no failed request"
    some = f"{flawed} of its replies {'is' if flawed == 1 else 'are'} empty or broken off"
    return f"job {job_id} has no failed request; {some}: `gigavqa retry {job_id} --empty` asks again"


def _require_within_limits(draft: ResolvedJob, owner: Owner) -> None:
    """Raise JobTooLargeError for a job that would wait for ever."""
    if owner.queued_requests is not None and draft.num_requests > owner.queued_requests:
        limit = f"{owner.name} may have {owner.queued_requests} in the queue"
        raise JobTooLargeError(f"the job has {draft.num_requests} requests; with this key {limit}")
    most = owner.interactive_requests
    if draft.expansion.spec.priority == "interactive" and most is not None and draft.num_requests > most:
        raise interactive_limit_error("the job", draft.num_requests, most)


def _require_same_records(job: Job, draft: ResolvedJob, when: str) -> None:
    # Some of its bundles may be queued already, and further ones would be numbered anew.
    if job.dataset_digest and job.dataset_digest != draft.digest:
        raise DatasetChangedError(f"{_describe_inputs(draft)} changed {when}")


def _describe_inputs(draft: ResolvedJob) -> str:
    """Return what a job's requests are made from, in words."""
    judged = ", or the answers that it judges," if draft.expansion.spec.judge else ""
    return f"the records of data set '{draft.dataset.name}'{judged}"


def _error_lines(error: Exception) -> list[str]:
    """One line for everything that is wrong."""
    if isinstance(error, DatasetInvalidError):
        return [str(problem) for problem in error.problems[:MAX_FINDINGS]]
    return [finding.detail for finding in findings_of(error)] or [str(error)]
