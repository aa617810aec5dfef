"""A trace leads from a job to one request's wait in the queue, for pixels, and its answer, as collectors read it."""

from itertools import pairwise
from pathlib import Path
from typing import Any

from redis.asyncio import Redis

from gigavqa.runtime.traces import root_span_of
from gigavqa.workers.traces import Traces
from tests.collector import attribute, collecting
from tests.workers.examples import image, make_request, submit_requests
from tests.workers.simulated_worker import running_worker


async def test_each_request_is_a_trace_with_its_stages(redis: Redis, data: Path, tmp_path: Path) -> None:
    """Found by the job's id; stages follow each other within the request; a failure is marked as one."""
    requests = [make_request("good", image(1)), make_request("bad", "demo/images/nowhere.png")]
    job_id = await submit_requests(redis, *requests)
    with collecting() as collector:
        traces = Traces.to(collector.url)
        async with running_worker(redis, data, tmp_path, traces=traces) as rig:
            await rig.until_final(job_id)
        traces.close()
    by_trace: dict[bytes, list[Any]] = {}
    for span in collector.spans:
        by_trace.setdefault(span.trace_id, []).append(span)
    assert len(by_trace) == 2
    told = {attribute(_whole(spans), "gigavqa.request_id"): spans for spans in by_trace.values()}
    assert {attribute(_whole(spans), "gigavqa.job_id") for spans in told.values()} == {job_id}
    brought = root_span_of(job_id)
    for spans in told.values():
        (link,) = _whole(spans).links
        assert link.trace_id == brought.trace_id.to_bytes(16, "big")
        assert link.span_id == brought.span_id.to_bytes(8, "big")
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
