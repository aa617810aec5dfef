"""Probes, instrumentation and shutdown."""

import asyncio
import shutil
import threading
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from redis import Redis

from gigavqa.contract.jobs import JobStatus
from gigavqa.runtime.embedded_store import start_store
from gigavqa.service.settings import GatewaySettings
from gigavqa.store.connection import connect
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.worker_registry import WorkerRegistry, WorkerStatus
from tests.service.datasets import write_town
from tests.service.gateways import MODEL, RunningGateway, running, settings_of
from tests.service.workers import play
from tests.store.examples import SPEC
from tests.waiting import wait_until

SCRAPED = ("zcard", "zrange", "hget", "hgetall", "hmget", "smembers", "mget", "keys", "scan", "llen", "xinfo")
"""Commands that a scrape might ask by."""


def metric(gateway: RunningGateway, name: str, **labels: str) -> float:
    """The sum of the samples with these labels in the gateway's instrumentation; 0 before there is one."""
    families = text_string_to_metric_families(gateway.client.get("/metrics").text)
    samples = [sample for family in families for sample in family.samples if sample.name == name]
    return sum(sample.value for sample in samples if labels.items() <= sample.labels.items())


def test_a_gateway_with_its_server_and_data_is_ready(gateway: RunningGateway) -> None:
    """Workers are no condition: without any, jobs wait."""
    response = gateway.client.get("/readyz")
    assert response.status_code == 200
    checks = {"gateway": "ok", "server": "ok", "data_root": "ok", "results": "ok"}
    assert response.json() == {"ready": True, "checks": checks, "workers": {}, "loaded": {}}


async def test_workers_are_shown_by_model_and_state(gateway: RunningGateway) -> None:
    """What a worker announces is in the probe's answer, in the instrumentation and on the model's card."""
    redis = connect(gateway.redis_url)
    status = WorkerStatus(worker="w-1", models=(MODEL,), state="ready", since=datetime.now(UTC))
    await WorkerRegistry(redis).announce(status)
    await redis.aclose()
    assert gateway.client.get("/readyz").json()["workers"] == {MODEL: {"ready": 1}}
    assert metric(gateway, "gigavqa_workers", model=MODEL, state="ready") == 1
    assert gateway.client.get(f"/v1/models/{MODEL}").json()["workers"] == 1


async def test_a_worker_that_starts_is_shown_with_its_phase(gateway: RunningGateway) -> None:
    """In the list of workers, and on the card of the model that it is to serve."""
    redis, phase = connect(gateway.redis_url), {"name": "reading weights", "done_bytes": 1, "total_bytes": 2}
    status = {"worker": "w-1", "models": [MODEL], "state": "starting", "phase": phase, "since": datetime.now(UTC)}
    await WorkerRegistry(redis).announce(WorkerStatus.model_validate(status))
    await redis.aclose()
    (worker,) = gateway.client.get("/v1/workers").json()["data"]
    assert (worker["state"], worker["phase"]) == ("starting", phase)
    assert gateway.client.get(f"/v1/models/{MODEL}").json()["starting"] == [phase]


async def test_a_worker_that_answers_nothing_is_a_concern(
    start: Callable[..., RunningGateway], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is ready, and waits for a server elsewhere that refuses its key: the operator is told in its words."""
    monkeypatch.setattr("gigavqa.service.gateway.WATCH_SECONDS", 0.2)
    gateway = start()
    redis, phase = connect(gateway.redis_url), {"name": "waits: key refused (401)"}
    status = {"worker": "w-1", "models": [MODEL], "state": "ready", "phase": phase, "since": datetime.now(UTC)}
    await WorkerRegistry(redis).announce(WorkerStatus.model_validate(status))
    await redis.aclose()
    said = f"The worker of {MODEL} answers nothing: waits: key refused (401)."
    wait_until(
        lambda: said in [each["says"] for each in gateway.client.get("/v1/watch").json()["concerns"]],
        what="the concern",
    )


async def test_a_worker_of_several_models_is_shown_with_the_one_it_has_loaded(gateway: RunningGateway) -> None:
    """It counts as a worker of each of its models, and as loaded for one."""
    redis, other = connect(gateway.redis_url), "qwen3-vl-8b"
    status = WorkerStatus(worker="w-1", models=(MODEL, other), loaded=other, state="ready", since=datetime.now(UTC))
    await WorkerRegistry(redis).announce(status)
    await redis.aclose()
    ready = gateway.client.get("/readyz").json()
    assert ready["workers"] == {MODEL: {"ready": 1}, other: {"ready": 1}}
    assert ready["loaded"] == {other: 1}
    cards = {card["id"]: card for card in gateway.client.get("/v1/models").json()["data"]}
    assert [(cards[model]["workers"], cards[model]["loaded"]) for model in (MODEL, other)] == [(1, 0), (1, 1)]


def test_a_gateway_without_its_data_root_is_not_ready(gateway: RunningGateway) -> None:
    """The check that failed is named; the process lives all the same."""
    shutil.rmtree(gateway.settings.data)
    response = gateway.client.get("/readyz")
    assert response.status_code == 503
    assert response.json()["checks"]["server"] == "ok"
    assert response.json()["checks"]["data_root"] != "ok"
    assert gateway.client.get("/healthz").json() == {"status": "ok"}


@pytest.mark.slow
def test_a_gateway_whose_server_is_gone_is_not_ready_until_it_is_back(tmp_path: Path) -> None:
    """The probe answers at once instead of waiting for the server, and again when it has come back."""
    server = start_store(tmp_path / "server")
    settings = settings_of(tmp_path, server.url)
    with running(settings) as gateway:
        server.stop()
        assert gateway.client.get("/readyz").json()["checks"]["server"] != "ok"
        server = start_store(tmp_path / "server")
        wait_until(lambda: gateway.client.get("/readyz").status_code == 200, what="readiness")
    server.stop()


def test_the_instrumentation_counts_jobs_bundles_and_responses(new_gateway: RunningGateway) -> None:
    """Before work the queue holds one bundle an image; after it everything is recorded."""
    new_gateway.submit()
    assert metric(new_gateway, "gigavqa_jobs", status="in_progress") == 1
    assert metric(new_gateway, "gigavqa_queue_bundles", model=MODEL, state="waiting") == 2
    assert metric(new_gateway, "gigavqa_submitted_requests_total", model=MODEL) == 4
    play(new_gateway.redis_url, lambda request: None if request.sample_id == "cctv-0003" else "A")
    assert metric(new_gateway, "gigavqa_jobs", status="completed") == 1
    assert metric(new_gateway, "gigavqa_queue_bundles", model=MODEL, state="waiting") == 0
    assert metric(new_gateway, "gigavqa_responses_recorded_total", outcome="completed") == 3
    assert metric(new_gateway, "gigavqa_responses_recorded_total", outcome="failed") == 1


def test_numbers_of_deleted_jobs_stay_counted(gateway: RunningGateway) -> None:
    """Responses by model and outcome, and the durations of jobs; the oldest bundle is there and gone."""
    job_id = gateway.submit().json()["id"]
    wait_until(lambda: metric(gateway, "gigavqa_queue_oldest_seconds", model=MODEL, state="waiting") > 0)
    play(gateway.redis_url)
    assert gateway.client.delete(f"/v1/jobs/{job_id}").is_success
    assert metric(gateway, "gigavqa_jobs") == 0
    assert metric(gateway, "gigavqa_responses_recorded_total", model=MODEL, outcome="completed") == 4
    assert metric(gateway, "gigavqa_job_seconds_count", kind="job", status="completed") == 1
    assert metric(gateway, "gigavqa_queue_oldest_seconds", model=MODEL, state="waiting") == 0
    assert metric(gateway, "gigavqa_unsunk_responses") == 4
    assert metric(gateway, "gigavqa_disk_free_bytes", place="results") > 0


@pytest.mark.slow
def test_a_server_that_takes_nothing_or_is_away_is_told_by_the_metrics(tmp_path: Path) -> None:
    """A scrape goes on in both cases, with the gateway's own counters."""
    server = start_store(tmp_path / "server")
    with running(settings_of(tmp_path, server.url)) as gateway:
        assert metric(gateway, "gigavqa_server_takes_writes") == 1
        with Redis.from_url(server.url) as redis:
            redis.config_set("maxmemory", 1)
        assert metric(gateway, "gigavqa_server_up") == 1
        assert metric(gateway, "gigavqa_server_takes_writes") == 0
        assert metric(gateway, "gigavqa_server_memory_limit_bytes") == 1
        server.stop()
        assert metric(gateway, "gigavqa_server_up") == 0
        assert metric(gateway, "gigavqa_http_requests_total", route="/metrics") >= 1


async def test_prometheus_finds_workers_by_the_gateway(gateway: RunningGateway) -> None:
    """Those that show metrics, at the addresses where they do."""
    redis, since = connect(gateway.redis_url), datetime.now(UTC)
    shown = WorkerStatus(
        worker="w-1", models=(MODEL, "b"), state="ready", since=since, metrics_url="http://10.0.0.7:9401/metrics"
    )
    for status in (shown, WorkerStatus(worker="w-2", models=(MODEL,), state="ready", since=since)):
        await WorkerRegistry(redis).announce(status)
    await redis.aclose()
    (target,) = gateway.client.get("/v1/workers/targets").json()
    assert target["targets"] == ["10.0.0.7:9401"]
    assert target["labels"] == {
        "worker": "w-1", "device": "cpu", "models": f"{MODEL},b", "__scheme__": "http", "__metrics_path__": "/metrics",
    }  # fmt: skip


def test_the_instrumentation_counts_requests_by_route_and_status(new_gateway: RunningGateway) -> None:
    """Routes are templates, so that jobs make no series of their own."""
    for number in range(3):
        new_gateway.client.get(f"/v1/jobs/job_{number}")
    labels = {"method": "GET", "route": "/v1/jobs/{job_id}", "status": "404"}
    new_gateway.client.get("/nowhere")
    # Counted when the answer is out, which a client may know first.
    wait_until(lambda: metric(new_gateway, "gigavqa_http_requests_total", **labels) == 3)
    wait_until(lambda: metric(new_gateway, "gigavqa_http_requests_total", route="unmatched", status="404") == 1)
    assert metric(new_gateway, "gigavqa_http_first_byte_seconds_count", method="GET", route="/v1/jobs/{job_id}") == 3


@pytest.mark.slow
def test_the_instrumentation_costs_the_same_however_many_jobs_there_are(new_gateway: RunningGateway) -> None:
    """With a thousand jobs a scrape asks the server as often as with ten, and tells as many lines."""

    async def add_jobs(number: int) -> None:
        redis = connect(new_gateway.redis_url)
        for _ in range(number):
            job, _ = await JobRegistry(redis).create(SPEC)
            await JobRegistry(redis).fail(job.id, [])
        await redis.aclose()

    def scrape() -> tuple[dict[str, int], int]:
        """Calls of the server by command, and lines of one scrape."""
        with Redis.from_url(new_gateway.redis_url) as redis:
            redis.config_resetstat()
            page = new_gateway.client.get("/metrics").text
            calls = redis.info("commandstats")
        return {name: calls.get(f"cmdstat_{name}", {"calls": 0})["calls"] for name in SCRAPED}, len(page.splitlines())

    def least() -> tuple[dict[str, int], int]:
        """That of the scrapes beside which no loop in the background called the server."""
        calls, lines = zip(*(scrape() for _ in range(6)), strict=True)
        return {name: min(each[name] for each in calls) for name in SCRAPED}, lines[-1]

    asyncio.run(add_jobs(10))
    scrape()  # the first one makes what later ones show
    few, lines = least()
    asyncio.run(add_jobs(990))
    many, as_many_lines = least()
    assert metric(new_gateway, "gigavqa_jobs", status="failed") == 1000
    assert (many, as_many_lines) == (few, lines)
    assert few["zcard"] == len(JobStatus)


def test_many_watchers_hold_up_nobody(gateway: RunningGateway) -> None:
    """More event streams than the gateway has connections to the server leave it as many for everybody else."""
    job_id = gateway.submit().json()["id"]
    with ExitStack() as stack:
        watchers = stack.enter_context(httpx.Client(limits=httpx.Limits(max_connections=None), timeout=20))
        for _ in range(40):
            stack.enter_context(watchers.stream("GET", f"{gateway.url}/v1/jobs/{job_id}/events"))
        wait_until(lambda: metric(gateway, "gigavqa_open_streams", kind="events") == 40, what="the event streams")
        assert gateway.client.get("/readyz").json()["checks"]["server"] == "ok"


def test_open_streams_end_when_the_gateway_stops(start: Callable[..., RunningGateway]) -> None:
    """A followed result stream and an event stream of a job that goes on do not hold the shutdown."""
    gateway = start()
    job_id = gateway.submit().json()["id"]
    ended: list[str] = []

    def read(path: str) -> None:
        with httpx.stream("GET", f"{gateway.url}/v1/jobs/{job_id}/{path}", timeout=60) as response:
            for _ in response.iter_bytes():
                pass
        ended.append(path)

    paths = ["results?follow=true", "events"]
    readers = [threading.Thread(target=read, args=(path,)) for path in paths]
    for reader in readers:
        reader.start()
    wait_until(lambda: metric(gateway, "gigavqa_open_streams", kind="results") == 1, what="the result stream")
    wait_until(lambda: metric(gateway, "gigavqa_open_streams", kind="events") == 1, what="the event stream")
    gateway.stop()
    for reader in readers:
        reader.join(timeout=60)
    assert sorted(ended) == sorted(paths)


def test_without_a_server_of_the_operators_the_embedded_one_is_started(tmp_path: Path) -> None:
    """A gateway alone in an empty folder takes a job; its server is shared by the folder's other processes."""
    settings = GatewaySettings.from_environment({"GIGAVQA_HOME": str(tmp_path)})
    write_town(settings.data)
    with running(settings) as gateway:
        assert gateway.submit().status_code == 201
    import redis  # noqa: PLC0415 - only to end the server that this test left running

    redis.Redis.from_url(f"unix://{settings.server}/server.sock").shutdown(nosave=True)
