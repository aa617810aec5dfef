"""Every metric of the gateway, declared in one place with its unit and its sentence, and the page that shows them."""

from collections.abc import AsyncIterator
from typing import Annotated, TypeVar

from fastapi import APIRouter
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from starlette.responses import Response

from gigavqa.service.errors import RoleMissingError
from gigavqa.service.http import examples
from gigavqa.service.http.auth import OperatorOnly
from gigavqa.service.http.openapi import example, problem_responses
from gigavqa.service.http.parameters import component
from gigavqa.service.operations.status_collector import StatusCollector

router = APIRouter(tags=["operations"])
Item = TypeVar("Item")
disable_created_metrics()  # type: ignore[no-untyped-call]  # a third of all series, which nothing reads
_LATENCY_BUCKETS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class GatewayInstrumentation:
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
        """Return all metrics in Prometheus' text format."""
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
        self.submitted = self._counter("submitted_requests", "Requests put into the queue by this gateway.", "model")
        self.webhooks = self._counter("webhooks", "Calls of webhooks: told, put off, given up.", "outcome")

    def _count_failures(self) -> None:
        self.loop_failures = self._counter("background_failures", "Failed rounds of a background loop.", "loop")
        self.audit_failures = self._counter("audit_failures", "Lines of the audit log that could not be written.")

    def _counter(self, name: str, sentence: str, *labels: str) -> Counter:
        return Counter(f"gigavqa_{name}", sentence, labels, registry=self.registry)

    def _gauge(self, name: str, sentence: str, *labels: str) -> Gauge:
        return Gauge(f"gigavqa_{name}", sentence, labels, registry=self.registry)


CurrentInstrumentation = Annotated[GatewayInstrumentation, component(GatewayInstrumentation)]
"""What a route declares to get the metrics."""


@router.get(
    "/metrics",
    summary="Get the instrumentation",
    response_class=Response,
    dependencies=[OperatorOnly],
    responses={
        200: example(examples.METRICS, "text/plain", "Prometheus' text format"),
        **problem_responses(RoleMissingError),
    },
)
async def get_metrics(
    instrumentation: CurrentInstrumentation, collector: Annotated[StatusCollector, component(StatusCollector)]
) -> Response:
    """Count requests, jobs, responses, tokens, the queue, the workers, memory and disks.

    While the state store is away, the gateway's own counters are told, and that it is away.
    """
    await collector.look()
    return Response(instrumentation.render(), media_type=CONTENT_TYPE_LATEST)
