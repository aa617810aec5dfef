"""Every metric of the gateway, declared in one place with its unit and its sentence, and the page that shows them."""

import asyncio
from collections import Counter as Counts
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Annotated, TypeVar

from fastapi import APIRouter
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.responses import Response

from jobs.errors import ServerUnavailableError
from jobs.fleet import Fleet
from jobs.queue import JobQueue
from jobs.registry import JobRegistry
from service.errors import RoleMissingError
from service.http import examples
from service.http.auth import Operators
from service.http.openapi import example, problems
from service.http.parameters import Queue, Registry, Workers, part
from service.operations.inventory import CurrentModels, Models

router = APIRouter(tags=["operations"])
Item = TypeVar("Item")
_LATENCY_BUCKETS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class _Recorded(Collector):
    """A counter that the server keeps, so that it goes on when a gateway starts or a job is deleted."""

    def __init__(self) -> None:
        self.numbers: Mapping[str, float] = {}

    def collect(self) -> Iterable[Metric]:
        """Show the numbers of the last look."""
        counter = CounterMetricFamily(
            "gigavqa_responses_recorded", "Responses recorded since the server's state began.", labels=["outcome"]
        )
        for outcome, number in self.numbers.items():
            counter.add_metric([outcome], number)
        yield counter


class Instrumentation:
    """The metrics of one gateway, in a registry of their own so that several gateways can live in one process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._count_requests()
        self._count_work()
        self._count_failures()
        # process_resident_memory_bytes, process_cpu_seconds_total, process_open_fds ...
        ProcessCollector(registry=self.registry)

    async def open_stream(self, kind: str, stream: AsyncIterator[Item]) -> AsyncIterator[Item]:
        """Pass a stream on, counted while it is open."""
        with self.streams.labels(kind).track_inprogress():
            async for item in stream:
                yield item

    def render(self) -> bytes:
        """All metrics in Prometheus' text format."""
        return generate_latest(self.registry)

    def _count_requests(self) -> None:
        self.requests = self._counter("http_requests", "HTTP requests answered.", "method", "route", "status")
        self.latency = Histogram(
            "gigavqa_http_first_byte_seconds",
            "Seconds from a request's arrival to the first byte of its answer.",
            ["method", "route"],
            buckets=_LATENCY_BUCKETS,
            registry=self.registry,
        )
        self.streams = self._gauge("open_streams", "Result and event streams that are open.", "kind")

    def _count_work(self) -> None:
        self.jobs = self._gauge("jobs", "Jobs that are kept, by status.", "status")
        self.recorded = _Recorded()
        self.registry.register(self.recorded)
        self.queue = self._gauge("queue_bundles", "Bundles in the queue, waiting or leased.", "model", "state")
        self.workers = self._gauge("workers", "Workers that announce themselves, by model and state.", "model", "state")
        self.submitted = self._counter("submitted_requests", "Requests put into the queue by this gateway.", "model")

        self.webhooks = self._counter("webhooks", "Calls of webhooks: told, put off, given up.", "outcome")

    def _count_failures(self) -> None:
        self.loop_failures = self._counter("background_failures", "Failed rounds of a background loop.", "loop")
        self.audit_failures = self._counter("audit_failures", "Lines of the audit log that could not be written.")
        self.sink_failures = self._gauge("sink_failures", "Rounds of the results sink that were put off, since start.")

    def _counter(self, name: str, sentence: str, *labels: str) -> Counter:
        return Counter(f"gigavqa_{name}", sentence, labels, registry=self.registry)

    def _gauge(self, name: str, sentence: str, *labels: str) -> Gauge:
        return Gauge(f"gigavqa_{name}", sentence, labels, registry=self.registry)


CurrentInstrumentation = Annotated[Instrumentation, part(Instrumentation)]
"""What a route declares to get the metrics."""


@router.get(
    "/metrics",
    summary="Get the instrumentation",
    response_class=Response,
    dependencies=[Operators],
    responses={
        200: example(examples.METRICS, "text/plain", "Prometheus' text format"),
        **problems(RoleMissingError, ServerUnavailableError),
    },
)
async def get_metrics(
    instrumentation: CurrentInstrumentation, registry: Registry, queue: Queue, models: CurrentModels, workers: Workers
) -> Response:
    """Count requests, jobs, responses, the queue and the workers."""
    await asyncio.gather(
        _look_at_jobs(instrumentation, registry),
        _look_at_queue(instrumentation, queue, models),
        _look_at_workers(instrumentation, workers),
    )
    return Response(instrumentation.render(), media_type=CONTENT_TYPE_LATEST)


async def _look_at_jobs(instrumentation: Instrumentation, registry: JobRegistry) -> None:
    counts, recorded = await asyncio.gather(registry.count(), registry.count_recorded())
    _replace(instrumentation.jobs, {(status.value,): number for status, number in counts.items()})
    instrumentation.recorded.numbers = {"completed": 0, "failed": 0, **recorded}


async def _look_at_queue(instrumentation: Instrumentation, queue: JobQueue, models: Models) -> None:
    names = list(await asyncio.to_thread(models.catalogue))
    bundles: dict[tuple[str, ...], float] = {}
    for model, depth in zip(names, await asyncio.gather(*map(queue.depth, names)), strict=True):
        bundles |= {(model, "waiting"): depth.waiting, (model, "leased"): depth.leased}
    _replace(instrumentation.queue, bundles)


async def _look_at_workers(instrumentation: Instrumentation, fleet: Fleet) -> None:
    counts: Counts[tuple[str, ...]] = Counts()
    for status in await fleet.workers():
        counts.update((model, str(status.state)) for model in status.models)
    _replace(instrumentation.workers, counts)


def _replace(gauge: Gauge, values: Mapping[tuple[str, ...], float]) -> None:
    """Set a labelled gauge to exactly these values; labels that are gone disappear."""
    gauge.clear()
    for labels, value in values.items():
        gauge.labels(*labels).set(value)
