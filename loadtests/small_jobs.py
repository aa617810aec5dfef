"""Traffic shape: many clients with small jobs, who poll.

Each simulated client submits small jobs, polls them until they are final, and reads results and report. Run it
against a gateway on this machine whose worker answers at once:

    gigavqa up --engine simulated --model demo-qwen3-vl
    locust -f loadtests/small_jobs.py --headless -u 20 -r 5 -t 30s --host http://127.0.0.1:8470

Ends with status 1 when more than 1 % of the calls fail. Refuses any host but this machine's loopback addresses.
"""

import random
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import gevent
from locust import HttpUser, constant_pacing, events, task
from locust.env import Environment

_MODEL = "demo-qwen3-vl"
_MOST_FAILURES = 0.01
_POLLS = 100
_FINAL = {"completed", "failed", "cancelled"}


@events.test_start.add_listener
def _refuse_other_machines(environment: Environment, **_: Any) -> None:
    name = urlsplit(environment.host or "").hostname or ""
    if name != "localhost" and not ip_address(name).is_loopback:
        raise SystemExit(f"{environment.host}: load is sent to this machine only")


@events.quitting.add_listener
def _judge(environment: Environment, **_: Any) -> None:
    total = environment.stats.total
    failed = total.num_requests == 0 or total.fail_ratio > _MOST_FAILURES
    environment.process_exit_code = int(failed)


class SmallJobs(HttpUser):
    """One client: at most one job a second, over the first data set that the gateway has."""

    wait_time = constant_pacing(1)

    def on_start(self) -> None:
        """Choose data set and samples, seeded so that every run asks the same."""
        self._random = random.Random(7)
        datasets = self.client.get("/v1/datasets").json()["data"]
        self._dataset = datasets[0]["name"]

    @task(5)
    def ask_and_read(self) -> None:
        """Submit a job, poll until it is final, read its results and report."""
        spec = {"dataset": self._dataset, "models": [_MODEL], "plan": "table1", "seed": self._random.randrange(2**31)}
        job_id = self.client.post("/v1/jobs", json=spec).json()["id"]
        for _ in range(_POLLS):
            job = self.client.get(f"/v1/jobs/{job_id}", name="/v1/jobs/{id}").json()
            if job["status"] in _FINAL:
                break
            gevent.sleep(0.1)
        self.client.get(f"/v1/jobs/{job_id}/results", name="/v1/jobs/{id}/results")
        self.client.get(f"/v1/jobs/{job_id}/report?format=json", name="/v1/jobs/{id}/report")

    @task(1)
    def look_around(self) -> None:
        """What dashboards and people do: models, jobs, metrics."""
        for path in ("/v1/models", "/v1/jobs", "/readyz", "/metrics"):
            self.client.get(path)
