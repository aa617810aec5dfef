"""A real Prometheus over a real installation under load: every panel has data, and faults fire their alerts.

The engine is simulated, and the rules' windows are seconds instead of minutes: an hour of operation in half a minute.
"""

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from redis import Redis

from cli.preflight import free_port
from tests.flow.installation import Installation
from tests.flow.jobs import MODEL, submit
from tests.flow.pictures import draw_dataset
from tests.waiting import wait_until
from tests.watching.programs import DEPLOY, program
from tests.watching.test_dashboards import NAMES, asked, queries_of

WINDOW = "20s"
PATIENCE = 120.0


class Watched:
    """An installation, and the Prometheus that watches it by the files of deploy/prometheus."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.installation = Installation(folder / "home", {"GIGAVQA_TRIM_SECONDS": "1", "GIGAVQA_LOG_FORMAT": "json"})
        self.port = free_port("127.0.0.1")
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start everything, with two workers."""
        draw_dataset(self.folder / "home" / "data" / "plazas", images=2, questions=40)
        self.installation.start_server()
        self.installation.start_gateway()
        for _ in range(2):
            self.start_worker()
        _write_rules(self.folder, self.installation.port)
        command = [program("prometheus"), f"--config.file={self.folder / 'prometheus.yml'}"]
        command += [f"--storage.tsdb.path={self.folder / 'tsdb'}", f"--web.listen-address=127.0.0.1:{self.port}"]
        with (self.folder / "prometheus.log").open("wb") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)

    def start_worker(self) -> subprocess.Popen[bytes]:
        """Start a worker that takes its time, with short leases."""
        return self.installation.start_worker("--model", MODEL, "--engine", "simulated", "--lease", "2", "--grace", "1")

    def stop(self) -> None:
        """End everything."""
        if self.process is not None:
            self.process.terminate()
            self.process.wait(timeout=30)
        self.installation.stop()

    def ask(self, query: str) -> list[dict[str, Any]]:
        """What Prometheus answers; nothing while it starts."""
        try:
            answer = httpx.get(f"http://127.0.0.1:{self.port}/api/v1/query", params={"query": query}, timeout=10)
        except httpx.TransportError:
            return []
        if answer.status_code == httpx.codes.SERVICE_UNAVAILABLE:
            return []
        assert answer.status_code == httpx.codes.OK, (query, answer.text)
        found: list[dict[str, Any]] = answer.json()["data"]["result"]
        return found

    def until_fired(self, alert: str) -> None:
        """Wait until an alert fires."""
        firing = f'ALERTS{{alertname="{alert}",alertstate="firing"}}'
        wait_until(lambda: self.ask(firing), timeout=PATIENCE, what=alert)


def _write_rules(folder: Path, port: int) -> None:
    """The files of deploy/prometheus, with seconds for minutes."""
    for name in ("prometheus.yml", "recording.yml", "alerts.yml"):
        text = (DEPLOY / "prometheus" / name).read_text(encoding="utf-8")
        text = text.replace("127.0.0.1:8470", f"127.0.0.1:{port}")
        text = re.sub(r"(evaluation_interval|refresh_interval): \d+s", r"\1: 1s", text)
        # Longer than the gateway waits for a server that is away: a scrape may take no longer than this.
        text = re.sub(r"scrape_interval: \d+s", "scrape_interval: 3s", text)
        text = re.sub(r"for: \d+m", "for: 1s", text)
        text = re.sub(r"\[(5|15|30)m\]", f"[{WINDOW}]", text)
        text = re.sub(r"(_seconds(?::max)?(?:\{[^}]*\})?\)?) > (300|900)", r"\1 > 3", text)
        (folder / name).write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    """An installation under load, watched."""
    program("prometheus")
    watched = Watched(tmp_path_factory.mktemp("watched"))
    try:
        watched.start()
        url = watched.installation.url
        wait_until(lambda: len(httpx.get(f"{url}/v1/workers", timeout=10).json()["data"]) == 2, timeout=90)
        submit(url, samples=["plaza-0-0"])
        submit(url, repeats=20)
        yield watched
    finally:
        watched.stop()


@pytest.mark.timeout(600)
def test_every_panel_has_data(watched: Watched) -> None:
    """Each query of each dashboard is answered by Prometheus with at least one series."""
    left = {query for name in NAMES for query in queries_of(name)}

    def all_answered() -> bool:
        left.difference_update([query for query in left if watched.ask(asked(query, WINDOW))])
        time.sleep(0.5)
        return not left

    try:
        wait_until(all_answered, timeout=PATIENCE, what="data for every panel")
    except AssertionError:
        raise AssertionError(f"no data for {sorted(left)}") from None


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
def test_faults_fire_their_alerts(watched: Watched) -> None:
    """A worker that is killed, a results folder that is none, and a server that is full."""
    installation = watched.installation
    assert not watched.ask('ALERTS{alertname=~"GigavqaServer.*|GigavqaGateway.*|GigavqaNoWorker|GigavqaSinkFailing"}')
    results = installation.home / "results"
    wait_until(results.exists, timeout=60, what="the first part")
    results.rename(installation.home / "results-away")
    results.write_text("a file where a folder should be")
    installation.processes[1].kill()
    watched.until_fired("GigavqaWorkerGone")
    watched.until_fired("GigavqaSinkFailing")
    assert installation.server is not None
    with Redis.from_url(installation.server.url) as redis:
        redis.config_set("maxmemory", 1)
        watched.until_fired("GigavqaServerFull")
        redis.config_set("maxmemory", 0)


@pytest.mark.skipif("GIGAVQA_EVERY_FAULT" not in os.environ, reason="the slower faults are for `make alerts`")
@pytest.mark.timeout(900)
def test_slower_faults_fire_their_alerts(watched: Watched) -> None:
    """The last worker hangs and is killed, so that none is left; then server and gateway are killed."""
    installation = watched.installation
    worker = installation.processes[2]
    os.kill(worker.pid, signal.SIGSTOP)
    watched.until_fired("GigavqaWorkerUnreachable")
    os.kill(worker.pid, signal.SIGKILL)
    watched.until_fired("GigavqaNoWorker")
    installation.kill_server()
    watched.until_fired("GigavqaServerAway")
    installation.processes[0].kill()
    watched.until_fired("GigavqaGatewayDown")
