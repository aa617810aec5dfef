"""Workers wait while their server refuses to write, and go on where they were."""

import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from redis.asyncio import Redis

from gigavqa.contract.requests import Sampling
from gigavqa.contract.responses import OnTokens, TurnResponse
from gigavqa.runtime.embedded_store import StateStoreProcess, start_store
from gigavqa.store.connection import connect
from gigavqa.workers.engines.engine import Message
from gigavqa.workers.engines.simulation.engine import SimulatedEngine
from tests.waiting import async_wait_until
from tests.workers.examples import ENTRY, job_of, responses_of, submit
from tests.workers.processes import simulated, worker_process
from tests.workers.refusals import Refusal, full_disk, full_memory
from tests.workers.simulated_worker import SETTINGS, running_worker

NUM_BUNDLES, REQUESTS_EACH = 40, 4
NUM_REQUESTS = NUM_BUNDLES * REQUESTS_EACH
REFUSALS = pytest.mark.parametrize("refusal", [full_memory, full_disk])


class CountingEngine(SimulatedEngine):
    """Counts how often each request was asked."""

    def __init__(self) -> None:
        super().__init__(ENTRY, speed=0.2)
        self.asked = Counter[str]()

    async def generate(
        self,
        chat: Sequence[Message],
        sampling: Sampling,
        request_id: str,
        priority: int = 0,
        grow: OnTokens | None = None,
    ) -> TurnResponse:
        """Count, and answer."""
        self.asked[request_id] += 1
        return await super().generate(chat, sampling, request_id, priority, grow)


@pytest.fixture
def own_server(tmp_path: Path) -> StateStoreProcess:
    """A server that the test may spoil; it ends with this process at the latest."""
    return start_store(tmp_path / "server")


@pytest.fixture
async def own_redis(own_server: StateStoreProcess) -> AsyncIterator[Redis]:
    """A client of that server."""
    client = connect(own_server.url)
    yield client
    await client.aclose()
    own_server.stop()


async def until_recorded(redis: Redis, job_id: str, number: int) -> None:
    """Wait until more than so many responses are recorded."""

    async def recorded() -> bool:
        return (await job_of(redis, job_id)).request_counts.completed > number

    await async_wait_until(recorded, timeout=60, what=f"more than {number} responses")


@pytest.mark.slow
@REFUSALS
async def test_what_was_generated_while_the_server_refused_is_recorded_once(
    own_redis: Redis, data: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, refusal: Refusal
) -> None:
    """Refused for three leases, the worker asks nothing twice, spends no attempt, and logs two lines."""
    job_id = await submit(own_redis, NUM_BUNDLES, REQUESTS_EACH)
    engine = CountingEngine()
    with caplog.at_level(logging.WARNING, logger="workers"):
        async with running_worker(own_redis, data, tmp_path, lambda: engine) as rig:
            await until_recorded(own_redis, job_id, 10)
            async with refusal(own_redis, tmp_path / "server"):
                began = time.monotonic()

                async def waited() -> bool:
                    stats = await engine.stats()
                    idle = stats.running + stats.waiting == 0
                    return idle and "refuses to write" in caplog.text and time.monotonic() > began + waiting

                waiting = 3 * SETTINGS.lease_seconds
                await async_wait_until(waited, what="a worker that waits")
            await rig.until_final(job_id)
    responses, counts = await responses_of(own_redis, job_id), (await job_of(own_redis, job_id)).request_counts
    assert (counts.completed, counts.failed, len(responses)) == (NUM_REQUESTS, 0, NUM_REQUESTS)
    assert {response.attempt for response in responses} == {1}
    assert set(engine.asked.values()) == {1}
    assert rig.count("unexpected_errors_total") == 0
    assert [record.message.split("(")[0].strip() for record in caplog.records] == [
        "the server is away or refuses to write",
        "the server is back",
    ]


@pytest.mark.slow
@REFUSALS
async def test_a_worker_process_lives_through_a_server_that_refuses(
    own_redis: Redis, own_server: StateStoreProcess, data: Path, tmp_path: Path, refusal: Refusal
) -> None:
    """The process goes on by itself when the server takes writes again; its log has no traceback."""
    job_id = await submit(own_redis, NUM_BUNDLES, REQUESTS_EACH)
    with worker_process(tmp_path, data, own_server.url, *simulated(0.2, "--max-requests", "8")) as worker:
        await until_recorded(own_redis, job_id, 10)
        async with refusal(own_redis, tmp_path / "server"):

            async def waits() -> bool:
                return "refuses to write" in worker.log

            await async_wait_until(waits, what="the worker's word that it waits")
        await until_recorded(own_redis, job_id, NUM_REQUESTS - 1)
        worker.tell_to_end()
        assert worker.wait() == 0, worker.log
    assert "Traceback" not in worker.log
    assert {response.attempt for response in await responses_of(own_redis, job_id)} == {1}
