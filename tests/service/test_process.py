"""The gateway as a process: `python -m gigavqa.service`."""

import itertools
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from redis import Redis

from gigavqa.launcher.preflight import free_port
from gigavqa.runtime.embedded_store import start_store
from gigavqa.service.settings import GatewaySettings
from gigavqa.store.redis_keys import KEYS
from gigavqa.workers.engines.simulation.engine import SimulatedEngine
from tests.service.datasets import NAME
from tests.service.gateways import MODEL
from tests.service.openai.pictures import asking
from tests.service.openai.workers import ENTRY, working
from tests.service.reviewing import ROUTE, SHIPS, verdict, write_ships
from tests.service.tenants import make_key
from tests.service.workers import play
from tests.waiting import wait_until

pytestmark = pytest.mark.slow

BODY = {"dataset": NAME, "models": [MODEL], "plan": "table1"}
Launch = Callable[..., tuple["subprocess.Popen[bytes]", str]]


@pytest.fixture
def launch(settings: GatewaySettings, tmp_path: Path) -> Iterator[Launch]:
    """Starts gateway processes; what is left of them ends with the test."""
    started: list[subprocess.Popen[bytes]] = []
    environ = {"GIGAVQA_HOME": str(settings.folder), "REDIS_URL": str(settings.redis_url)}

    def start(**variables: str) -> tuple["subprocess.Popen[bytes]", str]:
        port = free_port("127.0.0.1")
        command = [sys.executable, "-m", "gigavqa.service", "--port", str(port)]
        with (tmp_path / "gateway.log").open("ab") as log:
            process = subprocess.Popen(command, env={**os.environ, **environ, **variables}, stderr=log)
        started.append(process)
        return process, f"http://127.0.0.1:{port}"

    yield start
    for process in started:
        process.kill()
        process.wait()


def answers(url: str) -> bool:
    """Whether the gateway is ready."""
    try:
        return httpx.get(f"{url}/readyz").is_success
    except httpx.TransportError:
        return False


def status(url: str, job_id: str) -> str:
    """The status of a job."""
    return str(httpx.get(f"{url}/v1/jobs/{job_id}", timeout=60).json()["status"])


def test_a_gateway_does_not_start_on_a_server_that_evicts(launch: Launch, tmp_path: Path) -> None:
    """Status 2, and one sentence that says what to set."""
    server = start_store(tmp_path / "evicting")
    Redis.from_url(server.url).config_set("maxmemory-policy", "allkeys-lru")
    process, _ = launch(REDIS_URL=server.url)
    assert process.wait(timeout=60) == 2
    server.stop()
    (line,) = (tmp_path / "gateway.log").read_text().splitlines()
    assert "set `maxmemory-policy noeviction`" in line


def test_a_gateway_process_ends_cleanly_with_an_open_stream(launch: Launch, tmp_path: Path) -> None:
    """SIGTERM ends the stream and then the process, which does not wait until its grace period is over."""
    process, url = launch()
    wait_until(lambda: answers(url), timeout=60, what="readiness")
    job_id = httpx.post(f"{url}/v1/jobs", json=BODY, timeout=60).json()["id"]
    with httpx.stream("GET", f"{url}/v1/jobs/{job_id}/events", timeout=60) as response:
        received = response.iter_lines()
        assert "event:" in next(received) + next(received)
        process.send_signal(signal.SIGTERM)
        for _ in received:
            pass
    process.wait(timeout=60)
    assert "graceful shutdown exceeded" not in (tmp_path / "gateway.log").read_text()


def test_a_streamed_chat_goes_on_to_its_end_when_the_gateway_is_told_to_end(
    launch: Launch, settings: GatewaySettings
) -> None:
    """Within its grace: the signal cuts nothing that is still written."""
    process, url = launch(GIGAVQA_GRACE_SECONDS="60")
    wait_until(lambda: answers(url), timeout=60, what="readiness")
    body = {"model": MODEL, "messages": asking(text="Which one?"), "stream": True, "max_tokens": 64, "ignore_eos": True}
    with working(settings, lambda: SimulatedEngine(ENTRY, speed=0.1)):
        wait_until(lambda: httpx.get(f"{url}/v1/workers").json()["data"], what="the worker")
        with httpx.stream("POST", f"{url}/v1/chat/completions", json=body, timeout=60) as response:
            lines = response.iter_lines()
            assert next(lines).startswith("data: ")
            process.send_signal(signal.SIGTERM)
            rest = [line for line in lines if line]
    assert rest[-1] == "data: [DONE]"
    process.wait(timeout=60)


def test_a_job_that_a_killed_gateway_was_validating_is_taken_up(launch: Launch, settings: GatewaySettings) -> None:
    """SIGKILL between accepting a job and queueing it loses nothing: the next gateway goes on with it."""
    limits = {"GIGAVQA_INLINE_SAMPLES": "1", "GIGAVQA_QUEUE_REQUESTS": "8"}
    process, url = launch(**limits)
    wait_until(lambda: answers(url), timeout=60, what="readiness")
    first = httpx.post(f"{url}/v1/jobs", json=BODY, timeout=60).json()["id"]
    wait_until(lambda: status(url, first) == "in_progress", what="the first job's progress")
    second = httpx.post(f"{url}/v1/jobs", json=BODY, timeout=60).json()["id"]
    assert status(url, second) == "validating"
    process.kill()
    process.wait()
    play(str(settings.redis_url))
    _, url = launch(**limits)
    wait_until(lambda: answers(url), timeout=60, what="readiness")
    wait_until(lambda: status(url, second) == "in_progress", what="the second job's progress")


def test_a_gateway_that_is_killed_amid_a_job_queues_the_rest_of_it(launch: Launch, settings: GatewaySettings) -> None:
    """Some bundles are in the queue and some are not; the next gateway appends what is missing, and nothing twice."""
    process, url = launch()
    wait_until(lambda: answers(url), timeout=60, what="readiness")
    job_id = httpx.post(f"{url}/v1/jobs", json={**BODY, "repeats": 3_000}, timeout=60).json()["id"]
    with Redis.from_url(str(settings.redis_url)) as redis:
        wait_until(lambda: redis.hlen(KEYS.bundles(job_id)), timeout=60, what="the first bundles")
        process.kill()
        process.wait()
        before = redis.hgetall(KEYS.bundles(job_id))
        assert redis.hget(KEYS.job(job_id), "status") == b"validating"
        _, url = launch()
        wait_until(lambda: answers(url), timeout=60, what="readiness")
        wait_until(lambda: status(url, job_id) == "in_progress", timeout=60, what="the job's progress")
        bundles = redis.hgetall(KEYS.bundles(job_id))
        assert before.items() <= bundles.items()
        assert sum(int(state.split()[0]) for state in bundles.values()) == 4 * 2 * 3_000
        assert redis.get(KEYS.outstanding()) == b"24000"
        entries = redis.xrange(KEYS.queue(MODEL, "batch"))
        assert sorted(fields[b"bundle"] for _, fields in entries) == sorted(bundles)


def test_a_gateway_does_not_listen_to_other_machines_unasked(
    launch: Launch, tmp_path: Path, settings: GatewaySettings
) -> None:
    """Status 2 and one sentence; told by name that it may, or with a key, it starts, and then asks for the key."""
    process, _ = launch(GIGAVQA_HOST="0.0.0.0")
    assert process.wait(timeout=60) == 2
    (line,) = (tmp_path / "gateway.log").read_text().splitlines()
    assert "GIGAVQA_ALLOW_UNAUTHENTICATED=1" in line
    _, url = launch(GIGAVQA_HOST="0.0.0.0", GIGAVQA_ALLOW_UNAUTHENTICATED="1")
    wait_until(lambda: answers(url), timeout=60, what="readiness")
    assert httpx.get(f"{url}/v1/jobs", timeout=60).status_code == 200
    key, _ = make_key(str(settings.redis_url), "ada", "read")
    _, url = launch(GIGAVQA_HOST="0.0.0.0")
    wait_until(lambda: answers(url), timeout=60, what="readiness")
    assert httpx.get(f"{url}/v1/jobs", timeout=60).status_code == 401
    assert httpx.get(f"{url}/v1/jobs", headers={"X-API-Key": key}, timeout=60).status_code == 200


def test_wrong_settings_end_the_process_with_their_name(launch: Launch, tmp_path: Path) -> None:
    """The variable is named, and nothing starts."""
    process, _ = launch(GIGAVQA_INLINE_SAMPLES="few")
    assert process.wait(timeout=60) == 2
    assert "GIGAVQA_INLINE_SAMPLES" in (tmp_path / "gateway.log").read_text()


def test_no_verdict_is_lost_or_doubled_by_gateways_that_are_killed(launch: Launch, settings: GatewaySettings) -> None:
    """Whenever that is: what was told to be taken stands in the file, and what is sent again stands there once."""
    write_ships(settings.data)
    log = settings.data / SHIPS / "reviews/anonymous.jsonl"
    taken: set[str] = set()
    for killed in range(3):
        process, url = launch()
        wait_until(lambda url=url: answers(url), timeout=60, what="readiness")  # type: ignore[misc]
        killer = threading.Timer(0.5, process.kill)
        with httpx.Client(base_url=url, timeout=60) as client:
            body = verdict(client, "count-1")
            killer.start()
            try:
                for number in itertools.count():
                    name = f"verdict-{number:05d}"
                    assert client.post(ROUTE, json={**body, "id": name}).status_code == 201
                    taken.add(name)
            except httpx.TransportError:
                pass
        killer.join()
        written = [json.loads(line)["id"] for line in log.read_text().splitlines(keepends=True) if line[-1:] == "\n"]
        assert len(written) == len(set(written)), killed
        assert taken <= set(written), killed
    assert len(taken) > 3
