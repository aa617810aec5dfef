"""A trace of each request, for whoever looks into a slow one: its wait in the queue, for pixels, and its answer."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from gigavqa.contract.responses import Response
from gigavqa.runtime.errors import TracesMissingError
from gigavqa.store.chats import CHAT_ID_PREFIX

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span

_SPAN = {"pixels": "wait for pixels", "place": "wait for a place", "engine": "generate"}


class StageMark(NamedTuple):
    """The moment at which a request entered a stage, in nanoseconds of the clock."""

    stage: str
    at_ns: int


class Traces:
    """Sends spans in the background; what a collector does not take is dropped, and no request waits for it.

    A chat's requests belong to the trace of the HTTP request that brought it. Each request of a job is a trace of its
    own, because a job may have millions: it links to the one that brought the job, which is an attribute, too.
    """

    def __init__(self, provider: "TracerProvider") -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("gigavqa")

    @classmethod
    def to(cls, endpoint: str) -> "Traces":
        """Send by OTLP over HTTP. Raises TracesMissingError where OpenTelemetry is not installed."""
        try:
            from gigavqa.runtime.traces import make_tracer_provider
        except ImportError as error:
            raise TracesMissingError from error
        return cls(make_tracer_provider(endpoint, "worker"))

    def tell(self, response: Response, marks: Sequence[StageMark], ended_ns: int) -> None:
        """Tell of a request that was recorded; `marks` are its stages in their order."""
        from opentelemetry import trace

        claimed = marks[0].at_ns if marks else ended_ns
        queued = claimed - int(1e9 * response.queued_seconds)
        whole = self._whole(response, queued)
        if response.failure:
            whole.set_status(trace.StatusCode.ERROR, f"{response.failure.type}: {response.failure.message}")
        inside = trace.set_span_in_context(whole)
        self._tracer.start_span("queue", inside, start_time=queued).end(claimed)
        ends = [*(mark.at_ns for mark in marks[1:]), ended_ns]
        for mark, end in zip(marks, ends, strict=True):
            self._tracer.start_span(_SPAN[mark.stage], inside, start_time=mark.at_ns).end(end)
        whole.end(ended_ns)

    def _whole(self, response: Response, began_ns: int) -> "Span":
        from opentelemetry import trace

        from gigavqa.runtime.traces import root_span_of

        brought = root_span_of(response.job_id)
        is_chat = response.job_id.startswith(CHAT_ID_PREFIX)
        return self._tracer.start_span(
            "request",
            trace.set_span_in_context(trace.NonRecordingSpan(brought)) if is_chat else None,
            start_time=began_ns,
            attributes=_attributes(response),
            links=None if is_chat else [trace.Link(brought)],
        )

    def close(self) -> None:
        """Send what is left, and end."""
        self._provider.shutdown()


def _attributes(response: Response) -> dict[str, str | int]:
    usages = [answer.usage for answer in response.answers]
    return {
        "gigavqa.job_id": response.job_id,
        "gigavqa.request_id": response.request_id,
        "gigavqa.sample_id": response.sample_id,
        "gigavqa.worker": response.worker,
        "gigavqa.attempt": response.attempt,
        "gigavqa.rasters": len(response.rasters),
        "gen_ai.request.model": response.model,
        "gen_ai.usage.input_tokens": sum(usage.prompt_tokens for usage in usages),
        "gen_ai.usage.output_tokens": sum(usage.completion_tokens for usage in usages),
        "gigavqa.cached_tokens": sum(usage.cached_tokens for usage in usages),
    }
