"""A state store that refuses the gateway while it runs: probes and pages say why, and the log says it in a line."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import ConnectionError as RedisConnectionError

from gigavqa.service.operations.background import BackgroundTasks
from gigavqa.service.operations.instrumentation import GatewayInstrumentation
from tests.service.gateways import RunningGateway, problem_of, running, settings_of
from tests.store.own_servers import redis_server
from tests.waiting import async_wait_until, wait_until


@pytest.fixture
def admin(tmp_path: Path) -> Iterator[Redis]:
    """Somebody who may do all on a server with a user of the gateway's."""
    user = "user vqa on >secret ~* &* +@all"
    with redis_server(tmp_path / "redis", "appendonly yes", user) as port, Redis(port=port) as admin:
        yield admin


@pytest.fixture
def refused(admin: Redis, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> Iterator[RunningGateway]:
    """A gateway whose password was changed while it ran."""
    caplog.set_level(logging.WARNING)
    url = f"redis://vqa:secret@127.0.0.1:{admin.get_connection_kwargs()['port']}/0"
    with running(settings_of(tmp_path / "home", url)) as gateway:
        gateway.client.get("/readyz").raise_for_status()
        admin.execute_command("ACL", "SETUSER", "vqa", "resetpass", ">other")
        admin.execute_command("CLIENT", "KILL", "USER", "vqa")
        yield gateway
        admin.execute_command("ACL", "SETUSER", "vqa", ">secret")


def test_a_changed_password_is_said_by_probe_page_and_log(
    refused: RunningGateway, caplog: pytest.LogCaptureFixture
) -> None:
    """At once, and not as silence; there is no traceback of loops that can do nothing about it."""
    readiness = refused.client.get("/readyz")
    assert readiness.status_code == 503
    assert "is refused" in readiness.json()["checks"]["server"]
    assert "is refused" in problem_of(refused.client.get("/v1/jobs"), 503, "server-unavailable")["detail"]

    def concern() -> bool:
        return "is refused" in str(refused.client.get("/v1/watch").json()["concerns"])

    wait_until(concern, timeout=30, what="the concern")
    told = [record for record in caplog.records if record.name.endswith("background")]
    assert [record.exc_info for record in told] == [None] * len(told)
    assert len({record.message for record in told}) == len(told) <= 2


async def test_loops_that_wait_for_the_store_log_one_line_together(caplog: pytest.LogCaptureFixture) -> None:
    """What is no store's fault keeps its traceback."""
    counted = GatewayInstrumentation()
    tasks = BackgroundTasks(counted)

    async def away() -> None:
        raise RedisConnectionError("nobody listens")

    async def broken() -> None:
        raise ValueError("a fault of ours")

    for name in ("one", "two"):
        tasks.repeat(name, away, 0)
    tasks.once("three", broken)

    async def failed() -> bool:
        return (counted.registry.get_sample_value("gigavqa_background_failures_total", {"loop": "two"}) or 0) > 3

    await async_wait_until(failed, what="several failures")
    await tasks.stop()
    assert [record.message for record in caplog.records if "nobody listens" in record.message] == [
        "the state store does not serve, and one waits, as others may: nobody listens"
    ]
    assert [record.message for record in caplog.records if record.exc_info] == ["three failed"]
