"""The base of all shapes of traffic: where they may be sent, who sends them, and when they end."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import gevent
from locust import HttpUser, events
from locust.env import Environment
from requests.exceptions import RequestException
from urllib3.exceptions import HTTPError

MODEL = "demo-qwen3-vl"
SECONDS = float(os.environ.get("GIGAVQA_LOAD_SECONDS", "60"))
"""How long shapes take that have a course of their own."""
REQUESTS = int(os.environ.get("GIGAVQA_LOAD_REQUESTS", "100000"))
"""Of the job that is huge, followed, or exported."""
_KEYS = os.environ.get("GIGAVQA_LOAD_KEYS", "").split()
"""API keys of those who behave and of those who do not, where the installation asks for keys."""
_REQUIRED_CALLS = set(filter(None, os.environ.get("GIGAVQA_LOAD_UNTIL_CALLED", "").split("|")))
_FINAL = {"completed", "failed", "cancelled"}
_POLL_SECONDS = 0.2
_TIMEOUT_SECONDS = 60.0


@events.test_start.add_listener
def _refuse_other_machines(environment: Environment, **_: Any) -> None:
    name = urlsplit(environment.host or "").hostname or ""
    if name != "localhost" and not ip_address(name).is_loopback:
        raise SystemExit(f"{environment.host}: load is sent to this machine only")


@events.init.add_listener
def _end_when_called(environment: Environment, **_: Any) -> None:
    """End early where nothing more is wanted than that these were called once."""
    if _REQUIRED_CALLS:
        gevent.spawn(
            _quit_when, environment, lambda: not _REQUIRED_CALLS - {name for name, _ in environment.stats.entries}
        )


def end_when(done: Callable[[], bool]) -> None:
    """End the run as soon as `done` holds, for shapes that have a last thing to do; `-t` is then a bound."""
    if not _REQUIRED_CALLS:
        events.init.add_listener(lambda environment, **_: gevent.spawn(_quit_when, environment, done))


def _quit_when(environment: Environment, done: Callable[[], bool]) -> None:
    while not done():
        gevent.sleep(_POLL_SECONDS)
    if environment.runner:
        environment.runner.quit()


def authenticate(user: HttpUser, who: int = 0) -> None:
    """Show somebody's key with every call, and wait for no answer without an end: what hangs has failed."""
    user.client.headers.update(key_header(who))
    user.client.request = partial(user.client.request, timeout=_TIMEOUT_SECONDS)  # type: ignore[method-assign]


def key_header(who: int) -> dict[str, str]:
    """Return the header of somebody who behaves (0) or does not (1); none where keys are not asked for."""
    return {"Authorization": f"Bearer {_KEYS[who]}"} if _KEYS else {}


def record_duration(user: HttpUser, name: str, seconds: float) -> None:
    """Count something that took so long and is no call by itself."""
    user.environment.events.request.fire(
        request_type="", name=name, response_time=1000 * seconds, response_length=0, exception=None, context={}
    )


@contextmanager
def time_whole_stream(answer: Any) -> Iterator[None]:
    """Let a streamed answer have taken until the end of the block, which reads it; locust's own time ends at its head.

    What breaks while it is read is a failure of the call.
    """
    began, head = time.perf_counter(), answer.request_meta["response_time"]
    try:
        yield
    except (RequestException, HTTPError) as error:
        answer.failure(f"it broke off: {error!r}")
    finally:
        answer.request_meta["response_time"] = head + 1000 * (time.perf_counter() - began)


class JobUser(HttpUser):
    """Somebody who submits jobs over the first data set that the gateway has, and waits for them.

    `refusable` says that a full queue is an answer, and no failure; `who` says whose key is shown.
    """

    abstract = True
    refusable = False
    who = 0

    def on_start(self) -> None:
        authenticate(self, self.who)
        named = self.client.get("/v1/datasets").json()["data"][0]["name"]
        path = f"/v1/datasets/{named}"
        self.dataset = self.client.get(path, name="/v1/datasets/{name}").json()
        few = self.client.get(f"{path}/samples?limit=5", name="/v1/datasets/{name}/samples").json()["data"]
        self._few = [sample["id"] for sample in few]

    def submit(self, num_requests: int) -> str | None:
        """Submit a job of about so many requests; None when it was not taken."""
        repeats = num_requests // self.dataset["num_samples"]
        spec: dict[str, Any] = {
            "dataset": self.dataset["name"],
            "models": [MODEL],
            "plan": self._plan,
            "sampling": {"max_tokens": 16},
            "repeats": max(1, repeats),
            "samples": [] if repeats else self._few,
        }
        with self.client.post("/v1/jobs", json=spec, name="/v1/jobs (submit)", catch_response=True) as answer:
            if answer.status_code == 429 and self.refusable:
                answer.success()
            elif not answer.ok:
                answer.failure(answer.text[:300])
            return str(answer.json()["id"]) if answer.ok else None

    @property
    def _plan(self) -> str:
        """A plan of the data set's benchmark."""
        return "table1" if self.dataset["benchmark"] == "ultravr" else "direct"

    def until_final(self, job_id: str) -> dict[str, Any]:
        """Poll a job until it is final; who is not answered asks again."""
        while True:
            answer = self.client.get(f"/v1/jobs/{job_id}", name="/v1/jobs/{id}")
            if answer.ok and answer.json()["status"] in _FINAL:
                job: dict[str, Any] = answer.json()
                return job
            gevent.sleep(_POLL_SECONDS)
