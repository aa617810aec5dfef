"""Traffic shape: tenants that misbehave, beside some that do not and must not notice it."""

import random
import socket
import time
from collections import deque
from urllib.parse import urlsplit

from locust import constant, constant_pacing, task

from loadtests.shape import MODEL, REQUESTS, JobUser, key_header, record_duration
from loadtests.thresholds import Threshold, require

_TO_ITS_END = "a small job beside misbehaviour, to its end"
require(
    Threshold("status beside misbehaviour", 2000, most_failed=0),
    Threshold(_TO_ITS_END, 20_000),
    Threshold("nonsense", 5000, most_failed=0),
    Threshold("flood of jobs", 10_000, most_failed=0),
)

_HUGE = 9 << 20
_HOARDED = 20


class MisbehavingUser(JobUser):
    """Sends what no client should; each of it must be refused, and nothing of it be an error of the gateway."""

    wait_time = constant(0.2)
    who = 1

    def on_start(self) -> None:
        super().on_start()
        self._random = random.Random(7)
        self._lines: deque[socket.socket] = deque()
        self._jobs: list[str] = []

    def on_stop(self) -> None:
        while self._lines:
            self._lines.popleft().close()

    @task(3)
    def send_nonsense(self) -> None:
        """Bodies that are no jobs; the gateway may hang up on one that is too large."""
        bodies = (b"{", b"[" * 5000, b'{"dataset": 1e999}', bytes(self._random.randbytes(1000)), b"x" * _HUGE)
        body = self._random.choice(bodies)
        headers = {"Content-Type": "application/json"}
        with self.client.post("/v1/jobs", data=body, headers=headers, name="nonsense", catch_response=True) as answer:
            if 400 <= answer.status_code < 500 or (len(body) == _HUGE and answer.status_code == 0):
                answer.success()
            else:
                answer.failure(f"status {answer.status_code} to {body[:20]!r}")

    @task(3)
    def ask_for_what_is_not_there(self) -> None:
        """Unknown jobs, paths that lead out, numbers without an end."""
        paths = ("/v1/jobs/job_none", "/v1/jobs/..%2f..%2fetc", "/v1/jobs?limit=1000000000", "/v1/files/x/content")
        path = self._random.choice(paths)
        with self.client.get(path, name="nonsense", catch_response=True) as answer:
            if 400 <= answer.status_code < 500:
                answer.success()
            else:
                answer.failure(f"status {answer.status_code} to {path}")

    @task(2)
    def flood(self) -> None:
        """Jobs without an end: taken, or refused where there is no room or the key has had enough."""
        spec = {"dataset": self.dataset["name"], "models": [MODEL], "plan": "direct", "samples": self._few}
        spec["repeats"] = max(1, REQUESTS // 250)
        with self.client.post("/v1/jobs", json=spec, name="flood of jobs", catch_response=True) as answer:
            if answer.ok:
                self._jobs.append(answer.json()["id"])
            elif answer.status_code in {413, 429}:
                answer.success()
            else:
                answer.failure(f"status {answer.status_code}: {answer.text[:300]}")

    @task(2)
    def hoard(self) -> None:
        """Open streams, and read nothing of them."""
        if not self._jobs:
            return
        line = self._line()
        headers = "".join(f"{name}: {value}\r\n" for name, value in key_header(self.who).items())
        path = f"/v1/jobs/{self._random.choice(self._jobs)}/results?follow=true"
        line.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n".encode())
        self._lines.append(line)
        if len(self._lines) > _HOARDED:
            self._lines.popleft().close()

    @task(1)
    def hang_up(self) -> None:
        """Half a body, and gone."""
        headers = "".join(f"{name}: {value}\r\n" for name, value in key_header(self.who).items())
        with self._line() as line:
            head = f"POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\n{headers}Content-Length: 1000\r\n\r\n"
            line.sendall(head.encode() + b"{")

    def _line(self) -> socket.socket:
        address = urlsplit(self.host or "")
        return socket.create_connection((address.hostname, address.port), timeout=10)


class WellBehavedUser(JobUser):
    """Behaves, and looks at how it goes."""

    wait_time = constant_pacing(1)

    @task
    def ask(self) -> None:
        """Submit a small job."""
        began = time.perf_counter()
        if job_id := self.submit(1):
            self.client.get(f"/v1/jobs/{job_id}", name="status beside misbehaviour")
            self.until_final(job_id)
            record_duration(self, _TO_ITS_END, time.perf_counter() - began)
