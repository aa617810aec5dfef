"""A real Prometheus over a real installation under load: every panel has data, and faults fire their alerts.

The engine is simulated, and the rules' windows are seconds instead of minutes: an hour of operation in half a minute.
"""

import json
import math
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from redis import Redis

from tests.collector import Collector, collecting
from tests.flow.jobs import MODEL, submit
from tests.waiting import wait_until
from tests.watching.faults import worker_gone
from tests.watching.programs import program
from tests.watching.test_dashboards import NAMES, asked, choices_of, lines_of
from tests.watching.watched import WINDOW_SECONDS, Watched

pytestmark = pytest.mark.slow

PATIENCE = 120.0


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    """Who is told of traces."""
    with collecting() as collector:
        yield collector


def _traced_to(collector: Collector) -> dict[str, str]:
    traces = {"GIGAVQA_TRACES": collector.url, "GIGAVQA_WORKER_TRACES": collector.url}
    return {**traces, "OTEL_BSP_SCHEDULE_DELAY": "300", "NO_PROXY": "127.0.0.1"}


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory, collector: Collector) -> Iterator[Watched]:
    """An installation under load, watched."""
    program("prometheus")
    watched = Watched(tmp_path_factory.mktemp("watched"), minute=0.2, settings=_traced_to(collector))
    try:
        watched.start()
        submit(watched.url, samples=["plaza-0-0"])
        submit(watched.url, repeats=20)
        yield watched
    finally:
        watched.stop()


@pytest.mark.timeout(600)
def test_every_panel_has_data(watched: Watched) -> None:
    """Each query is answered with a number, and with the labels that its lines are called by: others have no name.

    What a variable offers for a choice is there, too.
    """
    left = {line for name in NAMES for line in lines_of(name)}
    nameless = set[str]()
    left |= {(metric, frozenset({label})) for name in NAMES for metric, label in choices_of(name)}

    def is_answered(query: str, labels: frozenset[str]) -> bool:
        found = watched.ask(asked(query, f"{WINDOW_SECONDS}s"))
        nameless.update(query for one in found if not labels <= {*one["metric"]})
        return any(not math.isnan(float(one["value"][1])) for one in found)

    def all_answered() -> bool:
        left.difference_update([line for line in left if is_answered(*line)])
        time.sleep(0.5)
        return not left

    try:
        wait_until(all_answered, timeout=PATIENCE, what="data for every panel")
    except AssertionError:
        raise AssertionError(f"no data for {sorted(query for query, _ in left)}") from None
    assert not nameless


def test_lines_of_the_gateways_log_are_json_with_the_ids_of_requests_and_jobs(watched: Watched) -> None:
    """An answer's id finds its line, which names the job that was asked for."""
    installation = watched.installation
    (job_id, *_) = [job["id"] for job in httpx.get(f"{installation.url}/v1/jobs", timeout=20).json()["data"]]
    answer = httpx.get(f"{installation.url}/v1/jobs/{job_id}", headers={"X-Request-Id": "look-here"}, timeout=20)
    assert answer.headers["x-request-id"] == "look-here"

    def found() -> list[dict[str, Any]]:
        lines = map(json.loads, (installation.home / "gateway.log").read_text(encoding="utf-8").splitlines())
        return [line for line in lines if line.get("request_id") == "look-here"]

    wait_until(found, what="the line of the request")
    (line,) = found()
    told = {"process": "gateway", "job_id": job_id, "route": "/v1/jobs/{job_id}", "status": 200, "level": "info"}
    assert told.items() <= line.items()


@pytest.mark.timeout(600)
def test_one_trace_leads_from_an_http_request_to_what_the_worker_did(watched: Watched, collector: Collector) -> None:
    """A chat's is its HTTP request's, which links to the client's own; requests of a job link to the submission."""
    client = {"traceparent": f"00-{7:032x}-{9:016x}-01"}
    chat = {"model": MODEL, "messages": [{"role": "user", "content": "What is it?"}]}
    httpx.post(f"{watched.url}/v1/chat/completions", json=chat, headers=client, timeout=120).raise_for_status()
    began = _until_told(collector, "POST /v1/chat/completions")
    assert [(link.trace_id.hex(), link.span_id.hex()) for link in began.links] == [(f"{7:032x}", f"{9:016x}")]

    def inside() -> dict[str, Any]:
        return {span.name: span for span in list(collector.spans) if span.trace_id == began.trace_id}

    wait_until(lambda: "generate" in inside(), timeout=PATIENCE, what="what the worker tells of the chat")
    assert inside().keys() == {began.name, "request", "queue", "wait for pixels", "wait for a place", "generate"}
    assert inside()["request"].parent_span_id == began.span_id
    assert began.start_time_unix_nano <= inside()["generate"].start_time_unix_nano
    assert inside()["generate"].end_time_unix_nano <= began.end_time_unix_nano
    submitted = _until_told(collector, "POST /v1/jobs")
    of_the_job = [span for span in list(collector.spans) if span.name == "request" and span.links]
    links = {(link.trace_id, link.span_id) for span in of_the_job for link in span.links}
    assert (submitted.trace_id, submitted.span_id) in links


def _until_told(collector: Collector, name: str) -> Any:
    def found() -> list[Any]:
        return [span for span in list(collector.spans) if span.name == name]

    wait_until(found, timeout=PATIENCE, what=f"the span {name}")
    return found()[0]


@pytest.mark.timeout(600)
def test_faults_fire_their_alerts(watched: Watched) -> None:
    """A worker that is killed, a results folder that is none, and a server that is full."""
    installation = watched.installation
    assert not watched.ask('ALERTS{alertname=~"GigavqaServer.*|GigavqaGateway.*|GigavqaNoWorker|GigavqaSinkFailing"}')
    results = installation.home / "results"
    wait_until(results.exists, timeout=60, what="the first part")
    results.rename(installation.home / "results-away")
    results.write_text("a file where a folder should be")
    gone = worker_gone(watched)
    next(gone)
    watched.until_fired("GigavqaWorkerGone")
    watched.until_fired("GigavqaSinkFailing")
    next(gone, None)
    assert installation.server is not None
    with Redis.from_url(installation.server.url) as redis:
        redis.config_set("maxmemory", 1)
        watched.until_fired("GigavqaServerFull")
        redis.config_set("maxmemory", 0)
