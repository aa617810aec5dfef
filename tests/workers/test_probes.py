"""What a worker answers to those that ask whether it lives, and whether it can play."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from gigavqa.workers import probes
from gigavqa.workers.probes import ProbeServer


def _ask(served: ProbeServer, path: str) -> tuple[int, str]:
    answer = httpx.get(served.metrics_url.replace("/metrics", path), timeout=60)
    return answer.status_code, answer.text


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
async def test_a_worker_is_ready_from_its_engines_start_to_its_drain(host: str) -> None:
    """While it switches models it stays ready; an address of either kind is served, beside the metrics."""
    served, told = ProbeServer(host, 0), []
    states = ["starting", "ready", "switching", "draining"]
    assert _ask(served, "/readyz") == (503, "starting\n")
    for state in states:
        served.watch(lambda state=state: state)  # type: ignore[misc]
        told.append(_ask(served, "/readyz"))
    assert told == [(503, "starting\n"), (200, "ready\n"), (200, "switching\n"), (503, "draining\n")]
    assert _ask(served, "/metrics")[1].startswith("# HELP ")


async def test_a_worker_whose_loop_stands_still_does_not_live(monkeypatch: pytest.MonkeyPatch) -> None:
    """It lives while its event loop turns; one that only answers probes is to be started again."""
    monkeypatch.setattr(probes, "_TURN_SECONDS", 0.2)
    served = ProbeServer("127.0.0.1", 0)
    with ThreadPoolExecutor(1) as other:
        assert (await asyncio.wrap_future(other.submit(_ask, served, "/healthz")))[0] == 200
        assert other.submit(_ask, served, "/healthz").result()[0] == 503  # which this loop waits for, standing still
