"""Traffic shape: tenants that misbehave, beside some that do not and must not notice it."""

import random
import socket
from urllib.parse import urlsplit

from locust import HttpUser, constant, constant_pacing, task

from loadtests.shape import Client, Threshold, require

require(Threshold("status beside misbehaviour", 2000))

_HUGE = 9 << 20


class Misbehaving(HttpUser):
    """Sends what no client should; each of it must be refused, and nothing of it be an error of the gateway."""

    wait_time = constant(0.2)

    def on_start(self) -> None:
        self._random = random.Random(7)

    @task
    def send_nonsense(self) -> None:
        """Bodies that are no jobs."""
        bodies = (b"{", b"[" * 5000, b'{"dataset": 1e999}', bytes(self._random.randbytes(1000)), b"x" * _HUGE)
        self._require_refused(self._random.choice(bodies))

    @task
    def ask_for_what_is_not_there(self) -> None:
        """Unknown jobs, paths that lead out, methods that do not fit."""
        paths = ("/v1/jobs/job_none", "/v1/jobs/..%2f..%2fetc", "/v1/jobs?limit=1000000000", "/v1/files/x/content")
        with self.client.get(self._random.choice(paths), name="nonsense", catch_response=True) as answer:
            _judge(answer)

    @task
    def hang_up(self) -> None:
        """Half a body, and gone."""
        address = urlsplit(self.host or "")
        with socket.create_connection((address.hostname, address.port), timeout=10) as line:
            line.sendall(b"POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{")

    def _require_refused(self, body: bytes) -> None:
        headers = {"Content-Type": "application/json"}
        with self.client.post("/v1/jobs", data=body, headers=headers, name="nonsense", catch_response=True) as answer:
            _judge(answer)


def _judge(answer: object) -> None:
    status = answer.status_code  # type: ignore[attr-defined]
    if 400 <= status < 500 or status == 0:  # it may hang up on a body that is too large
        answer.success()  # type: ignore[attr-defined]
    elif status >= 500:
        answer.failure(f"status {status}")  # type: ignore[attr-defined]


class Beside(Client):
    """Behaves, and looks at how it goes."""

    wait_time = constant_pacing(1)

    @task
    def ask(self) -> None:
        """A small job."""
        if job_id := self.submit(1):
            self.client.get(f"/v1/jobs/{job_id}", name="status beside misbehaviour")
            self.until_final(job_id)
