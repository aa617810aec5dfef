"""A job on the real engine lives through the deaths of a worker, the server and the gateway."""

import signal
from collections import Counter

import pytest

from tests.flow.installation import Installation, Program
from tests.flow.jobs import MODEL, job, recorded, responses, submit
from tests.waiting import wait_until

WORKER = ("--model", MODEL, "--lease", "3", "--max-requests", "8")
REQUESTS = 200


def _kill(process: Program) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()


@pytest.mark.engine
@pytest.mark.timeout(1200)
def test_200_requests_are_answered_once_though_the_worker_dies_twice_and_the_server_once(
    installation: Installation,
) -> None:
    """Worker killed, server killed and started again, gateway killed and started again, worker killed: 200 answers."""
    installation.start_server()
    gateway = installation.start_gateway()
    url = installation.url
    worker = installation.start_worker(*WORKER)
    job_id = submit(url)

    def has(least: int) -> None:
        wait_until(lambda: recorded(url, job_id) >= least, timeout=400, what=f"response {least}")

    has(20)
    _kill(worker)
    worker = installation.start_worker(*WORKER)
    has(60)
    installation.kill_server()
    installation.start_server()
    has(100)
    _kill(gateway)
    installation.start_gateway()
    has(120)
    _kill(worker)
    installation.start_worker(*WORKER)
    has(REQUESTS)

    ended = job(url, job_id)
    assert ended["status"] == "completed"
    assert ended["request_counts"] == {"total": REQUESTS, "completed": REQUESTS, "failed": 0}
    times = Counter(response["request_id"] for response in responses(url, job_id))
    assert len(times) == REQUESTS
    assert set(times.values()) == {1}
