"""Takes jobs: checks each whole, registers it, and puts its bundles into the queue."""

import asyncio
from collections import Counter
from collections.abc import Collection
from datetime import UTC, datetime, timedelta

from catalogue.errors import CatalogueError
from evaluation.errors import DatasetInvalidError, EvaluationError
from jobs.errors import JobNotFoundError, JobTooLargeError, QueueFullError
from jobs.models import Job, JobSpec, JobStatus
from jobs.queue import JobQueue
from jobs.registry import JobRegistry
from jobs.results import ResultStore
from service.background import Background
from service.bundling import ImageRequest, bundle_requests, retry_generation
from service.errors import MAX_FINDINGS, DatasetChangedError, JobStateConflictError, ServiceError
from service.instrumentation import Instrumentation
from service.planning import Plan, Planner
from service.problems import findings_of
from service.results import pages
from service.settings import Settings
from service.streams import pause

_PLANNING_AT_A_TIME = 2
_REFUSALS = (ServiceError, EvaluationError, CatalogueError, JobTooLargeError)


class Submissions:
    """The way of a job into the queue. Checks run in threads, a few at a time, which bounds their memory."""

    def __init__(
        self,
        *,
        settings: Settings,
        planner: Planner,
        registry: JobRegistry,
        queue: JobQueue,
        results: ResultStore,
        background: Background,
        instrumentation: Instrumentation,
        stopping: asyncio.Event,
    ) -> None:
        self._settings = settings
        self._planner = planner
        self._registry = registry
        self._queue = queue
        self._results = results
        self._background = background
        self._submitted = instrumentation.submitted
        self._stopping = stopping
        self._planning = asyncio.Semaphore(_PLANNING_AT_A_TIME)
        self._in_hand: set[str] = set()
        self._resumed_once = False

    async def submit(self, spec: JobSpec, idempotency_key: str | None) -> tuple[Job, bool]:
        """Accept a job; the flag tells a new one from the one that the key already belongs to.

        A small job is in the queue when this returns; a larger one is `validating`, and goes on in the background.
        Raises what Planner raises, QueueFullError and IdempotencyConflictError; nothing is then accepted.
        """
        if idempotency_key and (earlier := await self._registry.find(spec, idempotency_key)):
            return earlier, False
        plan = await asyncio.to_thread(self._planner.plan, spec)
        if not self._is_small(plan):
            job, created = await self._registry.create(spec, idempotency_key)
            if created:
                self._take_up(job)
            return job, created
        requests = await self._requests(plan)
        job, created = await self._registry.create(spec, idempotency_key)
        if not created:
            return job, False
        return await self._enqueue_or_forget(job, plan, requests), True

    async def retry(self, job_id: str) -> Job:
        """Ask the failed requests of a completed or cancelled job again, and what a cancelled one left unanswered.

        Raises JobNotFoundError, JobStateConflictError, DatasetChangedError and QueueFullError.
        """
        job = await self._registry.get(job_id)
        if job.status not in {JobStatus.COMPLETED, JobStatus.CANCELLED}:
            raise JobStateConflictError(f"job {job_id} is {job.status}; only completed and cancelled jobs are retried")
        answered, failed = await self._recorded(job_id)
        if job.status is JobStatus.COMPLETED and not failed:
            raise JobStateConflictError(f"job {job_id} has no failed request")
        plan = await asyncio.to_thread(self._planner.plan, job.spec)
        if job.dataset_digest and plan.dataset.digest != job.dataset_digest:
            raise DatasetChangedError(f"the records of data set '{plan.dataset.name}' changed since job {job_id}")
        requests = await self._requests(plan, without=answered)
        if not requests:
            raise JobStateConflictError(f"job {job_id} is {job.status}, and all its requests are answered")
        generation = retry_generation(failed, str(job.finished_at))
        bundles = bundle_requests(job, requests, self._settings.bundle_requests, generation)
        job = await self._queue.reopen(job_id, tuple(bundles), plan.dataset.digest)
        self._count(requests)
        return job

    async def resume(self) -> None:
        """Take up jobs that a gateway left in `validating`: all of them at first, later those left for a while."""
        age = timedelta(seconds=self._settings.resume_seconds if self._resumed_once else 0)
        for job in await self._registry.validating():
            if datetime.now(UTC) - job.created_at >= age:
                self._take_up(job)
        self._resumed_once = True

    def _is_small(self, plan: Plan) -> bool:
        settings = self._settings
        return len(plan.samples) <= settings.inline_samples and plan.num_requests <= settings.inline_requests

    async def _requests(self, plan: Plan, without: Collection[str] = ()) -> list[ImageRequest]:
        async with self._planning:
            return await asyncio.to_thread(self._planner.requests, plan, without)

    async def _enqueue_or_forget(self, job: Job, plan: Plan, requests: list[ImageRequest]) -> Job:
        self._in_hand.add(job.id)
        try:
            return await self._enqueue(job, plan, requests)
        except QueueFullError as error:
            # Refused is refused: the key must be free for the client's next try.
            await self._registry.fail(job.id, [str(error)])
            await self._registry.delete(job.id)
            raise
        finally:
            self._in_hand.discard(job.id)

    async def _enqueue(self, job: Job, plan: Plan, requests: list[ImageRequest]) -> Job:
        bundles = await asyncio.to_thread(lambda: tuple(bundle_requests(job, requests, self._settings.bundle_requests)))
        job = await self._queue.enqueue(job.id, bundles, plan.dataset.digest)
        self._count(requests)
        return job

    def _take_up(self, job: Job) -> None:
        if job.id not in self._in_hand:
            self._in_hand.add(job.id)
            self._background.once("validation", lambda: self._validate(job))

    async def _validate(self, job: Job) -> None:
        try:
            plan = await asyncio.to_thread(self._planner.plan, job.spec)
            await self._enqueue_patiently(job, plan, await self._requests(plan))
        except _REFUSALS as error:
            await self._registry.fail(job.id, _lines(error))
        except JobNotFoundError:
            return
        finally:
            self._in_hand.discard(job.id)

    async def _enqueue_patiently(self, job: Job, plan: Plan, requests: list[ImageRequest]) -> None:
        while not self._stopping.is_set():
            if (await self._registry.get(job.id)).status is not JobStatus.VALIDATING:
                return
            try:
                await self._enqueue(job, plan, requests)
            except QueueFullError as error:
                await pause(error.retry_after, self._stopping)
            else:
                return

    async def _recorded(self, job_id: str) -> tuple[set[str], dict[str, str]]:
        """Ids of the answered requests, and the cursors of the failed responses by request id."""
        answered: set[str] = set()
        failed: dict[str, str] = {}
        async for page in pages(self._results, job_id):
            answered.update(response.request_id for _, response in page if response.ok)
            failed.update({response.request_id: cursor for cursor, response in page if not response.ok})
        return answered, failed

    def _count(self, requests: list[ImageRequest]) -> None:
        for model, number in Counter(request.model for _, request in requests).items():
            self._submitted.labels(model).inc(number)


def _lines(error: Exception) -> list[str]:
    """One line for everything that is wrong."""
    if isinstance(error, DatasetInvalidError):
        return [str(problem) for problem in error.problems[:MAX_FINDINGS]]
    return [finding.detail for finding in findings_of(error)] or [str(error)]
