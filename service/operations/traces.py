"""A span of each HTTP request that began a job or a chat; what workers tell of it leads back to that span.

Imported only where traces are sent: OpenTelemetry is no dependency of the gateway.
"""

from opentelemetry.context import Context
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.trace import Link, SpanContext, SpanKind, StatusCode, get_current_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from starlette.datastructures import Headers
from starlette.types import Scope

from gigavqa.runtime.traces import make_tracer_provider, root_span_of
from gigavqa.service.http.problems import request_id_of

_FAILED = 500


class RequestTraces:
    """Sends spans in the background. A client's own trace, told by `traceparent`, is linked to."""

    def __init__(self, endpoint: str) -> None:
        self._ids = _PresetIds()
        self._provider = make_tracer_provider(endpoint, "gateway", self._ids)
        self._tracer = self._provider.get_tracer("gigavqa")

    def tell(self, scope: Scope, job_id: str, route: str, status: int, began_ns: int) -> None:
        """Tell of a request that was answered just now."""
        self._ids.next = root_span_of(job_id)
        span = self._tracer.start_span(
            f"{scope['method']} {route}",
            Context(),
            SpanKind.SERVER,
            links=_client_links(scope),
            start_time=began_ns,
            attributes={
                "http.request.method": scope["method"],
                "http.route": route,
                "http.response.status_code": status,
                "gigavqa.job_id": job_id,
                "gigavqa.http_request_id": request_id_of(scope),
            },
        )
        if status >= _FAILED:
            span.set_status(StatusCode.ERROR)
        span.end()

    def close(self) -> None:
        """Send what is left, and end. Blocks."""
        self._provider.shutdown()


class _PresetIds(IdGenerator):  # type: ignore[misc]  # mypy is not shown OpenTelemetry
    """Gives the next span the numbers that it has to have."""

    next: SpanContext

    def generate_span_id(self) -> int:
        return int(self.next.span_id)

    def generate_trace_id(self) -> int:
        return int(self.next.trace_id)


def _client_links(scope: Scope) -> list[Link]:
    told = TraceContextTextMapPropagator().extract(Headers(scope=scope), Context())
    context = get_current_span(told).get_span_context()
    return [Link(context)] if context.is_valid else []
