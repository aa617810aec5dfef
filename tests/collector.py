"""A collector of traces: what OpenTelemetry's exporter sends over HTTP, read by OpenTelemetry's own definition."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

otlp = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
pytest.importorskip("opentelemetry.exporter.otlp.proto.http.trace_exporter")


class Collector(HTTPServer):
    """Keeps every span that it is sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.spans: list[Any] = []

    @property
    def url(self) -> str:
        """Where spans are sent."""
        return f"http://127.0.0.1:{self.server_port}/v1/traces"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        """Take spans."""
        sent = otlp.ExportTraceServiceRequest()
        sent.ParseFromString(self.rfile.read(int(self.headers["Content-Length"])))
        assert isinstance(self.server, Collector)
        for of_resource in sent.resource_spans:
            for of_scope in of_resource.scope_spans:
                self.server.spans += of_scope.spans
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def collecting() -> Iterator[Collector]:
    """A collector that listens."""
    server = Collector()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def attribute(span: Any, name: str) -> str:
    """An attribute that is a text."""
    return str(next(one.value.string_value for one in span.attributes if one.key == name))
