"""Every metric of the viewer, declared in one place with its unit and its sentence."""

from collections.abc import Callable, Iterable

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from gigavqa.viewer.renderer import ImageRenderer

disable_created_metrics()  # type: ignore[no-untyped-call]  # a third of all series, which nothing reads
_SECONDS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class _CallbackMetric(Collector):
    """A number that somebody else counts."""

    def __init__(self, family: type[Metric], name: str, sentence: str, number: Callable[[], float]) -> None:
        self._family, self._name, self._sentence, self._number = family, name, sentence, number

    def collect(self) -> Iterable[Metric]:
        """Show the number as it is now."""
        yield self._family(f"gigavqa_viewer_{self._name}", self._sentence, value=self._number())  # type: ignore[call-arg]  # both families take it


class ViewerInstrumentation:
    """The metrics of one viewer, in a registry of their own."""

    def __init__(self, renderer: ImageRenderer) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "gigavqa_viewer_requests",
            "Requests answered, by what they asked for.",
            ["kind", "status"],
            registry=self.registry,
        )
        self.seconds = Histogram(
            "gigavqa_viewer_first_byte_seconds",
            "Seconds from a request's arrival to the first byte of its answer.",
            ["kind"],
            buckets=_SECONDS,
            registry=self.registry,
        )
        self._follow(
            CounterMetricFamily, "renders", "Pictures that were decoded and drawn.", lambda: renderer.pool.done
        )
        self._follow(
            GaugeMetricFamily, "renders_at_once_most", "At most at a time so far.", lambda: renderer.pool.most_busy
        )
        self._follow(CounterMetricFamily, "hits", "Answers that were found in memory.", lambda: renderer.answers.hits)
        self._follow(GaugeMetricFamily, "waiting", "Requests that wait for an answer.", lambda: renderer.waiting)
        self._follow(GaugeMetricFamily, "tile_bytes", "Answers kept in memory.", lambda: renderer.answers.weight)
        self._follow(
            GaugeMetricFamily, "held_bytes", "Answers that clients have not taken.", lambda: renderer.held.bytes
        )
        self._follow(
            GaugeMetricFamily, "overview_bytes", "Flat pictures kept in memory.", lambda: renderer.overviews.weight
        )
        self._follow(CounterMetricFamily, "pyramids", "Pyramids made of flat pictures.", lambda: renderer.pyramids.made)
        ProcessCollector(registry=self.registry)

    def render(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        return generate_latest(self.registry)

    def _follow(self, family: type[Metric], name: str, sentence: str, number: Callable[[], float]) -> None:
        self.registry.register(_CallbackMetric(family, name, sentence, number))
