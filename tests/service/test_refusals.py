"""A state store that answers and does not write: clients come back later, and the probe says so."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis

from gigavqa.runtime.embedded_store import start_store
from tests.service.datasets import write_town
from tests.service.gateways import RunningGateway, problem_of, running, settings_of

REFUSING = {"maxmemory": ("100000", "0"), "min-replicas-to-write": ("1", "0")}
"""Settings that make a server refuse, and what ends it: memory is full (OOM), replicas are gone (NOREPLICAS)."""


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[RunningGateway]:
    """A gateway with a server of its own."""
    server = start_store(tmp_path / "server")
    settings = settings_of(tmp_path, server.url)
    write_town(settings.data)
    with running(settings) as gateway:
        yield gateway
    server.stop()


@pytest.mark.parametrize("setting", REFUSING)
def test_a_server_that_refuses_to_write_is_told_from_a_fault(gateway: RunningGateway, setting: str) -> None:
    """503 with a time to come back, not ready, and all as before when it writes again; what only reads goes on."""
    job_id = gateway.submit().json()["id"]
    refuse, accept = REFUSING[setting]
    with Redis.from_url(gateway.redis_url) as redis:
        redis.config_set(setting, refuse)
        response = gateway.submit()
        problem_of(response, 503, "server-refuses-writes")
        assert int(response.headers["retry-after"]) >= 1
        readiness = gateway.client.get("/readyz")
        assert readiness.status_code == 503
        assert readiness.json()["checks"]["server"] != "ok"
        assert gateway.job(job_id)["status"] == "in_progress"
        redis.config_set(setting, accept)
    assert gateway.client.get("/readyz").status_code == 200
    assert gateway.submit().status_code == 201
