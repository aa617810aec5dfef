"""Every metric of the gateway, declared in one place with its unit and its sentence."""

from collections.abc import AsyncIterator, Iterable, Mapping
from typing import TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

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
        self.requests = Counter(
            "gigavqa_http_requests", "HTTP requests answered.", ["method", "route", "status"], registry=self.registry
        )
        self.latency = Histogram(
            "gigavqa_http_first_byte_seconds",
            "Seconds from a request's arrival to the first byte of its answer.",
            ["method", "route"],
            buckets=_LATENCY_BUCKETS,
            registry=self.registry,
        )
        self.streams = Gauge(
            "gigavqa_open_streams", "Result and event streams that are open.", ["kind"], registry=self.registry
        )
        self.jobs = Gauge("gigavqa_jobs", "Jobs that are kept, by status.", ["status"], registry=self.registry)
        self.recorded = _Recorded()
        self.registry.register(self.recorded)
        self.queue = Gauge(
            "gigavqa_queue_bundles", "Bundles in the queue, waiting or leased.", ["model", "state"],
            registry=self.registry,
        )  # fmt: skip
        self.workers = Gauge(
            "gigavqa_workers", "Workers that announce themselves, by model and state.", ["model", "state"],
            registry=self.registry,
        )  # fmt: skip
        self.submitted = Counter(
            "gigavqa_submitted_requests", "Requests put into the queue by this gateway.", ["model"],
            registry=self.registry,
        )  # fmt: skip
        self.loop_failures = Counter(
            "gigavqa_background_failures", "Failed rounds of a background loop.", ["loop"], registry=self.registry
        )
        self.sink_failures = Gauge(
            "gigavqa_sink_failures",
            "Rounds of the results sink that were put off, since start.",
            registry=self.registry,
        )
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


def replace(gauge: Gauge, values: Mapping[tuple[str, ...], float]) -> None:
    """Set a labelled gauge to exactly these values; labels that are gone disappear."""
    gauge.clear()
    for labels, value in values.items():
        gauge.labels(*labels).set(value)
