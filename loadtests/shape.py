"""What all shapes of traffic share: where they may be sent, what they ask for, and when they have failed."""

import os
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import gevent
from locust import HttpUser, events
from locust.env import Environment

MODEL = "demo-qwen3-vl"
SECONDS = float(os.environ.get("GIGAVQA_LOAD_SECONDS", "30"))
"""How long shapes take that have a course of their own."""
REQUESTS = int(os.environ.get("GIGAVQA_LOAD_REQUESTS", "100000"))
"""Of the job that is huge, followed, or exported."""
_WANTED = set(filter(None, os.environ.get("GIGAVQA_LOAD_UNTIL_CALLED", "").split("|")))
_FINAL = {"completed", "failed", "cancelled"}
_MOST_FAILURES = 0.01
_POLL_SECONDS = 0.2


@dataclass(frozen=True)
class Threshold:
    """What calls of a name may take: milliseconds at the 99th percentile, on an installation that is not starved."""

    name: str
    p99_ms: float


_thresholds: list[Threshold] = []


def require(*thresholds: Threshold) -> None:
    """Add what this run is judged by: at most 1 % of the calls fail, and none of these takes longer."""
    _thresholds.extend(thresholds)


@events.test_start.add_listener
def _refuse_other_machines(environment: Environment, **_: Any) -> None:
    name = urlsplit(environment.host or "").hostname or ""
    if name != "localhost" and not ip_address(name).is_loopback:
        raise SystemExit(f"{environment.host}: load is sent to this machine only")


@events.init.add_listener
def _end_when_called(environment: Environment, **_: Any) -> None:
    """End early where nothing more is wanted than that these were called once."""
    if _WANTED:
        gevent.spawn(_quit_when_called, environment)


def _quit_when_called(environment: Environment) -> None:
    while _uncalled(environment):
        gevent.sleep(_POLL_SECONDS)
    if environment.runner:
        environment.runner.quit()


def _uncalled(environment: Environment) -> set[str]:
    return _WANTED - {name for name, _ in environment.stats.entries}


@events.quitting.add_listener
def _judge(environment: Environment, **_: Any) -> None:
    total = environment.stats.total
    missed = (
        [] if os.environ.get("GIGAVQA_LOAD_UNTIMED") else [one for one in _thresholds if _is_over(environment, one)]
    )
    for threshold in missed:
        print(f"over its threshold of {threshold.p99_ms:g} ms at the 99th percentile: {threshold.name}")
    if uncalled := _uncalled(environment):
        print(f"never called: {', '.join(sorted(uncalled))}")
    failed = total.num_requests == 0 or total.fail_ratio > _MOST_FAILURES
    environment.process_exit_code = int(failed or bool(missed or uncalled))


def _is_over(environment: Environment, threshold: Threshold) -> bool:
    found = [entry for (name, _), entry in environment.stats.entries.items() if name == threshold.name]
    return any(entry.get_response_time_percentile(0.99) > threshold.p99_ms for entry in found if entry.num_requests)


class Client(HttpUser):
    """Somebody who submits jobs over the first data set that the gateway has, and waits for them."""

    abstract = True

    def on_start(self) -> None:
        named = self.client.get("/v1/datasets").json()["data"][0]["name"]
        path = f"/v1/datasets/{named}"
        self.dataset = self.client.get(path, name="/v1/datasets/{name}").json()
        few = self.client.get(f"{path}/samples?limit=5", name="/v1/datasets/{name}/samples").json()["data"]
        self._few = [sample["id"] for sample in few]

    def submit(self, num_requests: int) -> str | None:
        """Submit a job of about so many requests; None when the queue has no room, which is no failure."""
        repeats = num_requests // self.dataset["num_samples"]
        spec: dict[str, Any] = {
            "dataset": self.dataset["name"],
            "models": [MODEL],
            "plan": self._plan,
            "sampling": {"max_tokens": 16},
            "repeats": max(1, repeats),
            "samples": [] if repeats else self._few,
        }
        with self.client.post("/v1/jobs", json=spec, catch_response=True) as answer:
            if answer.status_code == 429:
                answer.success()
                return None
            if not answer.ok:
                answer.failure(answer.text[:300])
                return None
            return str(answer.json()["id"])

    @property
    def _plan(self) -> str:
        """A plan of the data set's benchmark."""
        return "table1" if self.dataset["benchmark"] == "ultravr" else "direct"

    def until_final(self, job_id: str) -> dict[str, Any]:
        """Poll a job until it is final."""
        while True:
            job: dict[str, Any] = self.client.get(f"/v1/jobs/{job_id}", name="/v1/jobs/{id}").json()
            if job.get("status") in _FINAL:
                return job
            gevent.sleep(_POLL_SECONDS)
