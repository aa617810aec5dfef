"""Every metric that the processes of an installation show, as rows of the documentation."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from prometheus_client import CollectorRegistry

from gigavqa.service.operations.instrumentation import GatewayInstrumentation
from gigavqa.service.operations.status_collector import SinkStatus, StatusCollector
from gigavqa.service.settings import GatewaySettings
from gigavqa.store.connection import connect
from gigavqa.viewer.instrumentation import ViewerInstrumentation as ViewersInstrumentation
from gigavqa.viewer.renderer import ImageRenderer
from gigavqa.viewer.settings import ViewerSettings
from gigavqa.workers.instrumentation import Instrumentation

Rows = Callable[[], list[str]]
_SUFFIX = {"counter": "_total", "gauge": "", "histogram": ""}


def of_the_gateway() -> list[str]:
    """Rows of the gateway's metrics; it has not looked at a server yet."""
    gateway = GatewayInstrumentation()
    collector = StatusCollector(
        connect("redis://127.0.0.1:1"), GatewaySettings.from_environment({}), lambda: SinkStatus(0, 0, None)
    )
    return sorted([*_rows(gateway.registry), *map(_row, collector.collect())])


def of_workers() -> list[str]:
    """Rows of a worker's metrics, those of its engine aside."""
    registry = CollectorRegistry()
    Instrumentation(registry)
    return sorted(_rows(registry))


def of_the_viewer() -> list[str]:
    """Rows of the viewer's metrics."""
    renderer = ImageRenderer(ViewerSettings.from_environment({}))
    try:
        return sorted(_rows(ViewersInstrumentation(renderer).registry))
    finally:
        renderer.close()


def _rows(registry: CollectorRegistry) -> Iterator[str]:
    for collector in registry._collector_to_names:
        families: Iterable[Any] = collector.collect()
        labels = getattr(collector, "_labelnames", None)
        for family in families:
            if family.name.startswith("gigavqa_"):
                yield _row(family, labels)


def _row(family: Any, labels: Iterable[str] | None = None) -> str:
    names = family._labelnames if labels is None else labels
    return f"| `{family.name}{_SUFFIX[family.type]}` | {', '.join(names)} | {family.documentation} |"
