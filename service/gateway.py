"""Everything that the routes need, built once and taken down in reverse order."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import NamedTuple

from gigavqa.contract.errors import JobActiveError, JobNotFoundError
from gigavqa.ranges.sources import read_remote_images
from gigavqa.runtime.embedded_store import ensure_store
from gigavqa.service.openai.batch_input import BatchReader
from gigavqa.service.openai.batch_runner import BatchRunner
from gigavqa.service.openai.chat_bodies import ChatBodyReader
from gigavqa.service.openai.fetching import ImageFetcher
from gigavqa.service.openai.file_store import FileStore
from gigavqa.service.openai.images import ImageResolver
from gigavqa.service.openai.pending_chats import PendingChats
from gigavqa.service.openai.request_builder import RequestBuilder
from gigavqa.service.openai.uploads import Uploads
from gigavqa.service.operations.background import BackgroundTasks
from gigavqa.service.operations.dataset_imports import DatasetImporter
from gigavqa.service.operations.datasets import Datasets
from gigavqa.service.operations.image_headers import ImageHeaders
from gigavqa.service.operations.instrumentation import GatewayInstrumentation
from gigavqa.service.operations.inventory import ModelInventory
from gigavqa.service.operations.review_desk import ReviewDesk
from gigavqa.service.operations.status_collector import SinkStatus, StatusCollector
from gigavqa.service.operations.watch import SECONDS as WATCH_SECONDS
from gigavqa.service.operations.watch import StatusHistory
from gigavqa.service.results.events import JobFollowers
from gigavqa.service.results.readers import ResultReaders
from gigavqa.service.results.report_builder import Reports
from gigavqa.service.results.tallies import JobTallies
from gigavqa.service.results.verdict_files import VerdictFiles
from gigavqa.service.results.webhooks import LOOK_SECONDS, Webhooks
from gigavqa.service.settings import GatewaySettings
from gigavqa.service.submission.queueing import Submissions
from gigavqa.service.submission.validation import JobValidator
from gigavqa.store.api_keys import ApiKeys
from gigavqa.store.batches import BatchRegistry
from gigavqa.store.chats import Chats
from gigavqa.store.connection import connect
from gigavqa.store.files import FileRegistry
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.job_updates import JobUpdates
from gigavqa.store.listen_settings import requires_keys
from gigavqa.store.previews import PreviewStore
from gigavqa.store.queue import JobQueue
from gigavqa.store.quotas import STREAM_SECONDS, Quotas
from gigavqa.store.results import ResultStore
from gigavqa.store.retries import JobRetries
from gigavqa.store.sink import ParquetSink
from gigavqa.store.webhooks import WebhookStore
from gigavqa.store.worker_registry import WorkerRegistry

log = logging.getLogger(__name__)

_SINK_RESTART_SECONDS = 5.0
_CHATS_RESTART_SECONDS = 0.5
_CHATS_KEEP_SECONDS = 10.0
_THREADS = 16


class _OpenAIComponents(NamedTuple):
    """The components that answer OpenAI's clients."""

    uploads: Uploads
    files: FileStore
    request_builder: RequestBuilder
    pending_chats: PendingChats
    batches: BatchRegistry
    batch_runner: BatchRunner
    bodies: ChatBodyReader


class Gateway:
    """The parts of one gateway, put together; they work while it is `running`.

    The embedded server is started where no REDIS_URL is set. Raises StateStoreUnavailableError.
    """

    def __init__(
        self, settings: GatewaySettings, instrumentation: GatewayInstrumentation, stopping: asyncio.Event
    ) -> None:
        self._settings = settings
        self._instrumentation = instrumentation
        self._stopping = stopping
        # In this thread, not in a pool's: the server may end with the thread that started it.
        url = settings.redis_url or ensure_store(settings.server)
        self._redis = connect(url)
        self._background = BackgroundTasks(instrumentation)
        self._registry = JobRegistry(self._redis, settings.results_uri)
        self._queue = JobQueue(self._redis, limit_requests=settings.queue_requests)
        self._results = ResultStore(self._redis, settings.results_uri)
        self._sink = ParquetSink(self._redis, settings.results_uri)
        self._status_collector = StatusCollector(
            self._redis, settings, lambda: SinkStatus(self._sink.errors, self._sink.put_aside, self._sink.fault)
        )
        instrumentation.registry.register(self._status_collector)
        self._watch = StatusHistory(self._status_collector)
        self._keys = ApiKeys(self._redis)
        self._quotas = Quotas(self._redis)
        self._followers = JobFollowers(JobUpdates(self._redis), self._registry, settings.poll_seconds)
        self._webhooks = Webhooks(
            WebhookStore(self._redis), self._registry, settings.webhook_hosts, self._instrumentation
        )
        self._models = ModelInventory(settings.catalogue)
        self._datasets = Datasets(settings.data)
        self._importer = DatasetImporter(settings, self._datasets, settings.max_body_bytes)
        self._verdict_files = VerdictFiles()
        read_remote_images(settings)
        self._headers = ImageHeaders(settings.data, settings.header_threads)
        self._submissions = self._make_submissions()
        self._openai = self._make_openai()

    @property
    def parts(self) -> Mapping[type, object]:
        """The components that routes can be given, by class."""
        previews = PreviewStore(self._settings.results_uri)
        tallies = JobTallies(self._results, self._settings.results_uri)
        parts = (
            self._settings,
            self._instrumentation,
            self._status_collector,
            self._watch,
            self._stopping,
            self._registry,
            self._queue,
            self._results,
            self._followers,
            ResultReaders(),
            self._models,
            self._datasets,
            self._importer,
            self._submissions,
            self._keys,
            self._quotas,
            WorkerRegistry(self._redis),
            self._headers,
            ReviewDesk(self._datasets, self._headers),
            previews,
            self._webhooks,
            tallies,
            self._verdict_files,
            Reports(
                self._results,
                self._datasets,
                self._models.catalogue,
                previews,
                tallies,
                viewer=self._settings.viewer_url,
            ),
        )
        return {type(part): part for part in (*parts, *self._openai)}

    def _make_openai(self) -> "_OpenAIComponents":
        settings, uploads = self._settings, Uploads(self._settings.uploads)
        files = FileStore(settings.uploads, FileRegistry(self._redis), most_bytes=settings.upload_bytes)
        fetcher = ImageFetcher(uploads, settings.image_hosts, settings.max_chat_bytes)
        viewer = [str(settings.viewer_url).lower().rstrip("/")] if settings.viewer_url else []
        origins = [*settings.viewer_origins, *viewer]
        pictures = ImageResolver(settings.data, self._headers, uploads, files, fetcher, origins=origins)
        request_builder = RequestBuilder(self._models, WorkerRegistry(self._redis), pictures)
        chats = Chats(self._redis, limit_requests=settings.queue_requests)
        batches = BatchRegistry(self._redis)
        batch_runner = BatchRunner(
            registry=batches,
            jobs=self._registry,
            queue=self._queue,
            results=self._results,
            files=files,
            uploads=uploads,
            reader=BatchReader(files, uploads, request_builder, settings.max_body_bytes),
            bundle_requests=settings.bundle_requests,
            cache_sharing=settings.cache_sharing,
            claim_seconds=settings.resume_seconds,
            background=self._background,
        )
        pending_chats = PendingChats(self._redis, chats, self._background)
        bodies = ChatBodyReader(uploads, settings.max_body_bytes)
        return _OpenAIComponents(uploads, files, request_builder, pending_chats, batches, batch_runner, bodies)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep the background loops going, and stop them at the end; `stopping` ends open streams before that."""
        # Threads mostly wait: for files, or for a data set that another one reads.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_THREADS, "gateway"))
        try:
            self._start_loops()
            yield
        finally:
            self._stopping.set()
            self._headers.stop()
            await self._background.stop()
            self._verdict_files.close()
            await self._redis.aclose()

    def _start_loops(self) -> None:
        settings, repeat = self._settings, self._background.repeat
        repeat("sink", self._sink.run_forever, _SINK_RESTART_SECONDS)
        repeat("watch", self._watch.look, WATCH_SECONDS)
        repeat("followers", self._followers.run, settings.poll_seconds)
        if not requires_keys(settings):
            self._background.once("keys", self._tell_of_idle_keys)
        repeat("streams", self._quotas.renew_streams, STREAM_SECONDS / 3)
        repeat("webhooks", self._webhooks.run, LOOK_SECONDS)
        repeat("lanes", self._open_lanes, settings.trim_seconds)
        repeat("trim", self._queue.trim, settings.trim_seconds)
        repeat("deletions", self._registry.finish_deletions, settings.trim_seconds)
        repeat("resume", self._submissions.run, settings.resume_seconds)
        openai = self._openai
        self._background.once("imports", self._sweep_imports)
        repeat("chats", openai.pending_chats.run, _CHATS_RESTART_SECONDS)
        repeat("waiting chats", openai.pending_chats.keep, _CHATS_KEEP_SECONDS)
        self._background.once("ending chats", partial(openai.pending_chats.end_with, self._stopping))
        repeat("batches", openai.batch_runner.run, settings.resume_seconds)
        repeat("uploads", self._prune, settings.trim_seconds)
        repeat("files", openai.files.remove_expired, settings.trim_seconds)
        if settings.retention_days:
            repeat("retention", partial(self._forget, timedelta(days=settings.retention_days)), settings.trim_seconds)

    async def _open_lanes(self) -> None:
        catalogue = await asyncio.to_thread(self._models.catalogue)
        await self._queue.open_lanes(catalogue)

    async def _sweep_imports(self) -> None:
        await asyncio.to_thread(self._importer.sweep)

    async def _prune(self) -> None:
        settings = self._settings
        await asyncio.to_thread(self._openai.uploads.prune, settings.upload_bytes, 3600 * settings.upload_hours)

    async def _tell_of_idle_keys(self) -> None:
        if await self._keys.any_valid():
            log.warning("there are API keys, and they are not asked for on %s; see --require-keys", self._settings.host)

    async def _forget(self, age: timedelta) -> None:
        for job_id in await self._registry.ended_before(datetime.now(UTC) - age):
            # Somebody may have deleted or retried it since it was found.
            with suppress(JobNotFoundError, JobActiveError):
                await self._registry.delete(job_id)

    def _make_submissions(self) -> Submissions:
        return Submissions(
            settings=self._settings,
            admission=JobValidator(
                self._datasets, self._headers, self._models.catalogue, self._settings.queue_requests
            ),
            registry=self._registry,
            queue=self._queue,
            results=self._results,
            retries=JobRetries(self._redis),
            worker_registry=WorkerRegistry(self._redis),
            background=self._background,
            instrumentation=self._instrumentation,
            stopping=self._stopping,
        )
