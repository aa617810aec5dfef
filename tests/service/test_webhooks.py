"""A job's end is told to an address of the client's: signed, until it is taken, and nowhere inside of a network."""

import base64
import hashlib
import hmac
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

from gigavqa.service.results import webhooks
from gigavqa.service.results.webhooks import signature_headers
from tests.service.gateways import RunningGateway, problem_of
from tests.service.workers import play
from tests.waiting import wait_until

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
Message = tuple[dict[str, str], bytes]


class Receiver:
    """A server of the client's, and what it was told; it answers with these statuses in turn, and then with 200."""

    def __init__(self, *statuses: int) -> None:
        told: list[Message] = []
        answers = iter(statuses)

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                content = self.rfile.read(int(self.headers["Content-Length"]))
                told.append(({name.lower(): value for name, value in self.headers.items()}, content))
                self.send_response(next(answers, 200))
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.told = told
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A server that fails once."""
    receiver = Receiver(500)
    yield receiver
    receiver.server.shutdown()
    receiver.server.server_close()


def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave no pause between attempts."""
    monkeypatch.setattr(webhooks, "LOOK_SECONDS", 0.02)
    monkeypatch.setattr(webhooks, "PAUSES", (0.0, 0.0))


def put(gateway: RunningGateway, job_id: str, url: str, secret: str = SECRET) -> httpx.Response:
    """Give a job a webhook."""
    return gateway.client.put(f"/v1/jobs/{job_id}/webhook", json={"url": url, "secret": secret})


def test_the_signature_is_that_of_the_standard() -> None:
    """The example that Standard Webhooks' own libraries are tested with."""
    headers = signature_headers(SECRET, "msg_p5jXN8AQM9LWM0D4loKWxJek", b'{"test": 2432232314}', 1614265330)
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_the_end_of_a_job_is_told_until_it_is_taken(
    start: Callable[..., RunningGateway], receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing before the end; a gateway that starts later tells it, twice because the first attempt failed."""
    first = start(webhook_hosts=("127.0.0.1",))
    job_id = first.submit().json()["id"]
    assert put(first, job_id, receiver.url).json() == {"job_id": job_id, "url": receiver.url}
    first.stop()
    play(first.redis_url)
    assert receiver.told == []
    hurry(monkeypatch)
    start(webhook_hosts=("127.0.0.1",))
    wait_until(lambda: len(receiver.told) == 2, timeout=90, what="the second attempt")
    (headers, content), (again, _) = receiver.told
    assert headers["webhook-id"] == again["webhook-id"]
    message = json.loads(content)
    assert (message["type"], message["data"]["id"]) == ("job.completed", job_id)
    assert message["data"]["request_counts"] == {"total": 4, "completed": 4, "failed": 0}
    text = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + content
    digest = hmac.new(base64.b64decode(SECRET.removeprefix("whsec_")), text, hashlib.sha256).digest()
    assert headers["webhook-signature"] == f"v1,{base64.b64encode(digest).decode()}"


INSIDE = ("http://127.0.0.1:1/x", "http://localhost/x", "http://[::1]/x", "http://169.254.169.254/")


@pytest.mark.parametrize("url", INSIDE)
def test_addresses_inside_of_a_network_are_refused(gateway: RunningGateway, url: str) -> None:
    """Whatever the name says; what is no web address, and a secret that is none, are malformed."""
    job_id = gateway.submit().json()["id"]
    problem = problem_of(put(gateway, job_id, url), 422, "submission-invalid")
    assert "GIGAVQA_WEBHOOK_HOSTS" in problem["detail"]
    problem_of(put(gateway, job_id, "ftp://example.org/x"), 422, "request-invalid")
    problem_of(put(gateway, job_id, "https://example.org/x", "secret"), 422, "request-invalid")
    problem_of(put(gateway, "job_none", "https://example.org/x"), 404, "job-not-found")
