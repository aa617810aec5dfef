"""Everything that the routes need, built once and taken down in reverse order."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Annotated

from fastapi import Depends, Request
from redis.asyncio import Redis

from jobs.connection import connect
from jobs.errors import JobActiveError, JobNotFoundError
from jobs.fleet import Fleet
from jobs.news import JobNews
from jobs.previews import PreviewStore
from jobs.queue import JobQueue
from jobs.registry import JobRegistry
from jobs.results import ResultStore
from jobs.server import ensure_server
from jobs.sink import ParquetSink
from service.operations.background import Background
from service.operations.datasets import Datasets
from service.operations.instrumentation import Instrumentation
from service.operations.models import Models
from service.results.following import Followers
from service.results.reports import Reports
from service.settings import Settings
from service.submission.images import Images
from service.submission.planning import Planner
from service.submission.queueing import Submissions

_SINK_RESTART_SECONDS = 5.0


@dataclass(frozen=True)
class Gateway:
    """The parts of one running gateway."""

    settings: Settings
    redis: Redis
    registry: JobRegistry
    watching: JobRegistry
    queue: JobQueue
    results: ResultStore
    fleet: Fleet
    followers: Followers
    models: Models
    datasets: Datasets
    submissions: Submissions
    reports: Reports
    instrumentation: Instrumentation
    stopping: asyncio.Event


@asynccontextmanager
async def running_gateway(
    settings: Settings, instrumentation: Instrumentation, stopping: asyncio.Event
) -> AsyncIterator[Gateway]:
    """Connect, start the background loops, and stop them at the end; `stopping` ends open streams before that.

    The embedded server is started where no REDIS_URL is set. Raises ServerUnavailableError.
    """
    # In this thread, not in a pool's: the server may end with the thread that started it.
    url = settings.home.redis_url or ensure_server(settings.home.server)
    redis = connect(url)
    # Connections of their own: a watcher blocks one while it waits, and must not block a submission.
    watching = connect(url, max_connections=settings.watch_connections)
    background = Background(instrumentation)
    images = Images(settings.data, settings.header_threads)
    gateway = _assemble(
        settings=settings,
        redis=redis,
        watching=watching,
        images=images,
        background=background,
        instrumentation=instrumentation,
        stopping=stopping,
    )
    sink = ParquetSink(redis, settings.home.results_uri)
    instrumentation.sink_failures.set_function(lambda: sink.errors)
    try:
        background.repeat("sink", sink.run_forever, _SINK_RESTART_SECONDS)
        background.repeat("followers", gateway.followers.run, settings.poll_seconds)
        background.repeat("trim", gateway.queue.trim, settings.trim_seconds)
        background.repeat("deletions", gateway.registry.finish_deletions, settings.trim_seconds)
        background.repeat("resume", gateway.submissions.resume, settings.resume_seconds)
        if settings.retention_days:
            forget = partial(_forget, gateway.registry, timedelta(days=settings.retention_days))
            background.repeat("retention", forget, settings.trim_seconds)
        yield gateway
    finally:
        stopping.set()
        images.stop()
        await background.stop()
        await watching.aclose()
        await redis.aclose()


async def _forget(registry: JobRegistry, age: timedelta) -> None:
    for job_id in await registry.ended_before(datetime.now(UTC) - age):
        # Somebody may have deleted or retried it since it was found.
        with suppress(JobNotFoundError, JobActiveError):
            await registry.delete(job_id)


def _assemble(
    *,
    settings: Settings,
    redis: Redis,
    watching: Redis,
    images: Images,
    background: Background,
    instrumentation: Instrumentation,
    stopping: asyncio.Event,
) -> Gateway:
    registry = JobRegistry(redis, settings.home.results_uri)
    queue = JobQueue(redis, limit_requests=settings.queue_requests)
    results = ResultStore(redis, settings.home.results_uri)
    models, datasets = Models(settings.home.catalogue), Datasets(settings.data)
    planner = Planner(datasets, images, models.catalogue, settings.queue_requests)
    submissions = Submissions(
        settings=settings,
        planner=planner,
        registry=registry,
        queue=queue,
        results=results,
        background=background,
        instrumentation=instrumentation,
        stopping=stopping,
    )
    return Gateway(
        settings=settings,
        redis=redis,
        registry=registry,
        watching=JobRegistry(watching),
        queue=queue,
        results=results,
        fleet=Fleet(redis),
        followers=Followers(JobNews(redis), settings.poll_seconds),
        models=models,
        datasets=datasets,
        submissions=submissions,
        reports=Reports(results, datasets, models.catalogue, PreviewStore(settings.home.results_uri)),
        instrumentation=instrumentation,
        stopping=stopping,
    )


def _of_request(request: Request) -> Gateway:
    gateway: Gateway = request.app.state.gateway
    return gateway


CurrentGateway = Annotated[Gateway, Depends(_of_request)]
"""What a route declares to get the gateway."""
