"""A trace leads from a job to one request's wait in the queue, for pixels, and its answer, as collectors read it."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from tests.workers.examples import image, make_request, submit_requests
from tests.workers.rig import running_worker
from workers.traces import Traces

otlp = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
pytest.importorskip("opentelemetry.exporter.otlp.proto.http.trace_exporter")


class Collector(HTTPServer):
    """Takes what OpenTelemetry's exporter sends over HTTP, and reads it by OpenTelemetry's own definition."""

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


@pytest.fixture
def collector() -> Iterator[Collector]:
    """A collector that listens."""
    server = Collector()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


async def test_each_request_is_a_trace_with_its_stages(
    redis: Redis, data: Path, tmp_path: Path, collector: Collector
) -> None:
    """Found by the job's id; stages follow each other within the request; a failure is marked as one."""
    requests = [make_request("good", image(1)), make_request("bad", "demo/images/nowhere.png")]
    job_id = await submit_requests(redis, *requests)
    traces = Traces.to(collector.url)
    async with running_worker(redis, data, tmp_path, traces=traces) as rig:
        await rig.until_final(job_id)
    traces.close()
    by_trace: dict[bytes, list[Any]] = {}
    for span in collector.spans:
        by_trace.setdefault(span.trace_id, []).append(span)
    assert len(by_trace) == 2
    told = {_attribute(_whole(spans), "gigavqa.request_id"): spans for spans in by_trace.values()}
    assert {_attribute(_whole(spans), "gigavqa.job_id") for spans in told.values()} == {job_id}
    names = {name: {span.name for span in spans} for name, spans in told.items()}
    assert names["good"] == {"request", "queue", "wait for pixels", "wait for a place", "generate"}
    assert names["bad"] == {"request", "queue", "wait for pixels"}
    assert _whole(told["bad"]).status.code == _ERROR
    assert _whole(told["good"]).status.code != _ERROR
    parts = sorted((span for span in told["good"] if span.name != "request"), key=lambda span: span.end_time_unix_nano)
    assert [span.name for span in parts] == ["queue", "wait for pixels", "wait for a place", "generate"]
    assert parts[0].start_time_unix_nano == _whole(told["good"]).start_time_unix_nano
    assert parts[-1].end_time_unix_nano == _whole(told["good"]).end_time_unix_nano
    for before, after in pairwise(parts):
        assert before.end_time_unix_nano == after.start_time_unix_nano


_ERROR = 2


def _whole(spans: list[Any]) -> Any:
    (whole,) = (span for span in spans if not span.parent_span_id)
    return whole


def _attribute(span: Any, name: str) -> str:
    return str(next(one.value.string_value for one in span.attributes if one.key == name))
