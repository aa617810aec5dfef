"""Join the traces of gateway and workers: the span that began a job or a chat is found by its id alone.

So a worker says what it belongs to though nothing but the id has come to it, and though the gateway has ended since.
Imported only where traces are sent: OpenTelemetry is no dependency of the service.
"""

import hashlib

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.trace import SpanContext, TraceFlags


def root_span_of(job_id: str) -> SpanContext:
    """Return the span of the HTTP request that brought a job or a chat.

    Its numbers are the first bits of the id's SHA-256.
    """
    digest = hashlib.sha256(job_id.encode()).digest()
    trace_id, span_id = int.from_bytes(digest[:16], "big"), int.from_bytes(digest[16:24], "big")
    return SpanContext(trace_id, span_id, is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED))


def make_tracer_provider(endpoint: str, process: str, ids: IdGenerator | None = None) -> TracerProvider:
    """Return what sends a process' spans by OTLP over HTTP, in the background.

    What a collector does not take is dropped.
    """
    provider = TracerProvider(resource=Resource.create({"service.name": f"gigavqa-{process}"}), id_generator=ids)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint)))
    return provider
