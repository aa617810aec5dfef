"""Plays batches: reads their lines, queues them as a job, and writes the files of answers and of errors.

Every step can be repeated after a crash, by any gateway: ids, seeds and names follow from the batch and its lines.
"""

import asyncio
import shutil
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from functools import partial

from gigavqa.contract.errors import JobActiveError, JobNotFoundError, JobTooLargeError
from gigavqa.contract.jobs import JobStatus
from gigavqa.contract.requests import InferenceRequest
from gigavqa.contract.responses import Response
from gigavqa.service.http.fair_semaphore import FairSemaphore
from gigavqa.service.openai.batch_input import (
    BatchCancelledError,
    BatchFaultsError,
    BatchInputIndex,
    BatchReader,
    RequestOffset,
)
from gigavqa.service.openai.batch_output import (
    ERROR,
    OUTPUT,
    REFUSED,
    REQUESTS,
    BatchOutput,
    read_lines,
    read_request_names,
)
from gigavqa.service.openai.file_store import FileStore
from gigavqa.service.openai.uploads import Uploads
from gigavqa.service.operations.background import BackgroundTasks
from gigavqa.service.operations.bundling import RequestOfImage, bundle_requests
from gigavqa.service.operations.reconciler import Reconciler
from gigavqa.store.api_keys import ALL_OWNERS, CacheSharing, cache_salt
from gigavqa.store.batches import RETENTION_SECONDS, BatchCounts, BatchFault, BatchRegistry, BatchStatus, StoredBatch
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.queue import JobQueue
from gigavqa.store.results import PartCache, ResultStore

_OWNERS_AT_A_TIME = 8


class BatchRunner:
    """Works on batches until they have ended. Its folder holds, of each, the requests that it has made of the lines."""

    def __init__(
        self,
        *,
        registry: BatchRegistry,
        jobs: JobRegistry,
        queue: JobQueue,
        results: ResultStore,
        files: FileStore,
        uploads: Uploads,
        reader: BatchReader,
        bundle_requests: int,
        cache_sharing: CacheSharing,
        claim_seconds: float,
        background: BackgroundTasks,
    ) -> None:
        self._registry = registry
        self._jobs = jobs
        self._queue = queue
        self._results = results
        self._files = files
        self._reader = reader
        self._bundle_requests = bundle_requests
        self._cache_sharing = cache_sharing
        self._claim_seconds = claim_seconds
        self._turns = FairSemaphore(_OWNERS_AT_A_TIME, 1)
        self._folder = uploads.folder / "batches"
        self._reconciler = Reconciler("batches", self._step, queue, background)

    def wake(self) -> None:
        """Look at the batches now."""
        self._reconciler.wake()

    async def run(self) -> None:
        """Take up all batches for ever, an owner's one after the other; to be run again when it fails."""
        await self._reconciler.run(self._registry.open)

    async def progress(self, batch: StoredBatch) -> BatchCounts:
        """Return the counts of a batch as they are now."""
        if batch.status != "in_progress":
            return batch.counts
        try:
            now = (await self._jobs.get(batch.id)).request_counts
        except JobNotFoundError:
            return batch.counts
        # A line of several answers is several requests.
        share = (batch.counts.total - batch.counts.failed) / max(1, now.total)
        return BatchCounts(
            total=batch.counts.total,
            completed=int(now.completed * share),
            failed=batch.counts.failed + int(now.failed * share),
        )

    async def _step(self, batch_id: str) -> None:
        if not (batch := await self._registry.get(batch_id, ALL_OWNERS)):
            return
        async with self._turns.of(batch.owner), self._jobs.exclusively(batch_id, self._claim_seconds) as mine:
            if mine and (batch := await self._registry.get(batch_id, ALL_OWNERS)):
                await self._go_on(batch)

    async def _go_on(self, batch: StoredBatch) -> None:
        steps = {"validating": self._begin, "in_progress": self._follow, "finalizing": self._finalize}
        while step := steps.get(batch.status):
            after = await step(batch)
            if after is batch:
                return
            await self._registry.save(after)
            batch = after
        await self._forget(batch)

    async def _begin(self, batch: StoredBatch) -> StoredBatch:
        """Make requests of the lines, and queue them. Raises QueueFullError."""
        if await self._registry.is_cancelled(batch.id):
            return batch.turned("cancelled")
        if self._is_late(batch):
            return batch.turned("expired")
        await self._reconciler.require_room(batch.id)
        try:
            read = await self._reader.read(
                batch, self._folder / batch.id, partial(self._registry.is_cancelled, batch.id)
            )
        except BatchCancelledError:
            return batch.turned("cancelled")
        except BatchFaultsError as errors:
            return batch.turned("failed", errors=tuple(errors.faults))
        begun = batch.turned("in_progress", model=read.model, counts=BatchCounts(**read.counts))
        return await self._queued(batch, begun, read) if read.index else begun.turned("finalizing")

    async def _queued(self, batch: StoredBatch, begun: StoredBatch, read: BatchInputIndex) -> StoredBatch:
        await self._registry.open_job(begun)
        try:
            await self._reconciler.reserve(batch.id, len(read.index), None)
        except JobTooLargeError as error:
            return batch.turned("failed", errors=(BatchFault(code="too_many_requests", message=str(error)),))
        job, requests = await self._jobs.get(batch.id), self._requests(batch, read.index)
        salt = cache_salt(batch.owner, self._cache_sharing)
        await self._queue.append(batch.id, bundle_requests(job, requests, self._bundle_requests, salt=salt))
        return begun

    async def _follow(self, batch: StoredBatch) -> StoredBatch:
        """Wait for the job to end; cancel it when that is asked for, or its time is over."""
        status = await self._jobs.status(batch.id)
        if status is None or status is JobStatus.VALIDATING:  # the server came back without what it had been told last
            return batch.turned("validating")
        if not status.final and (self._is_late(batch) or await self._registry.is_cancelled(batch.id)):
            status = (await self._jobs.cancel(batch.id)).status
        return batch.turned("finalizing") if status.final else batch

    async def _finalize(self, batch: StoredBatch) -> StoredBatch:
        """Keep what came of the lines as files; where the server lost answers meanwhile, they are waited for again."""
        ended: BatchStatus = "completed"
        if self._is_late(batch):
            ended = "expired"
        if await self._registry.is_cancelled(batch.id):
            ended = "cancelled"
        written = await self._written(batch, ended)
        if written.left_open and ended == "completed":
            status = await self._jobs.status(batch.id)
            if status is None or not status.final:
                return batch.turned("in_progress")
            if status is JobStatus.COMPLETED:
                return batch
        ids = {
            "output_file_id": await self._kept(batch, OUTPUT) if written.completed else None,
            "error_file_id": await self._kept(batch, ERROR) if written.failed else None,
        }
        counts = BatchCounts(total=batch.counts.total, completed=written.completed, failed=written.failed)
        # All may have been answered before it was cut off.
        return batch.turned(ended if written.left_open else "completed", counts=counts, usage=written.usage, **ids)

    async def _written(self, batch: StoredBatch, ended: BatchStatus) -> BatchOutput:
        folder = self._folder / batch.id
        with BatchOutput(folder, ended) as written:
            for line in await asyncio.to_thread(read_lines, folder / REFUSED):
                written.refuse(line)
            async for responses in self._answered_lines(batch):
                written.add(responses)
            written.leave_open(await asyncio.to_thread(read_request_names, folder / REQUESTS))
        return written

    async def _kept(self, batch: StoredBatch, name: str) -> str:
        """Keep a file of the batch's folder; returns its id, the same when it is done again."""
        kind, seconds = name.partition(".")[0], batch.output_expires_after or RETENTION_SECONDS
        kept = await self._files.add(
            self._folder / batch.id / name,
            filename=f"{batch.id}_{name}",
            purpose="batch_output",
            owner=batch.owner,
            file_id=f"file-{batch.id}-{kind}",
            expires_at=int(time.time()) + seconds,
        )
        return kept.id

    async def _forget(self, batch: StoredBatch) -> None:
        """Remove the job and the requests of a batch that has ended."""
        try:
            await self._jobs.cancel(batch.id)
            await self._jobs.delete(batch.id)
        except JobNotFoundError:
            pass
        except JobActiveError:
            return  # workers give up what they hold
        await asyncio.to_thread(shutil.rmtree, self._folder / batch.id, ignore_errors=True)
        await self._registry.close(batch)

    def _is_late(self, batch: StoredBatch) -> bool:
        return time.time() >= batch.expires_at

    def _requests(self, batch: StoredBatch, index: Sequence[RequestOffset]) -> Iterator[RequestOfImage]:
        """Yield the requests of all lines, those about one picture together; read from the file as they are queued."""
        with (self._folder / batch.id / REQUESTS).open("rb") as file:
            for place in sorted(index):
                file.seek(place.offset)
                yield place.image, InferenceRequest.model_validate_json(file.readline())

    async def _answered_lines(self, batch: StoredBatch) -> AsyncIterator[list[Response]]:
        """Yield the responses of each line, when all of them are there."""
        waiting: dict[str, list[Response]] = defaultdict(list)
        kept, after = PartCache(), "0-0"
        while page := await self._results.read(batch.id, after, kept=kept):
            after = page[-1][0]
            for _, response in page:
                if not isinstance(response, Response):
                    continue
                waiting[response.sample_id].append(response)
                if len(waiting[response.sample_id]) == response.details.get("answers", 1):
                    yield sorted(waiting.pop(response.sample_id), key=lambda each: each.repeat)
