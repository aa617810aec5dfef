"""An engine with few places plays no more chats at once, whatever the worker may play; counted by what runs."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from redis.asyncio import Redis

from jobs.growth import Grow
from jobs.models import Sampling, TurnResponse
from jobs.queue import JobQueue
from tests.workers.examples import ENTRY, create_job, image, make_bundle, make_request
from tests.workers.rig import SETTINGS, running_worker
from workers.engines.engine import EngineDeadError, Message
from workers.engines.simulated_engine import SimulatedEngine

CHATS, PLACES = 6, 2


class CrowdedEngine(SimulatedEngine):
    """Has places for a few chats, and notes how many it was asked at once; the first engine of a list dies once."""

    def __init__(self, engines: list["CrowdedEngine"]) -> None:
        super().__init__(ENTRY, speed=0)
        engines.append(self)
        self._is_first = len(engines) == 1
        self._asked = 0
        self.most = 0

    @property
    def places(self) -> int | None:
        """Two."""
        return PLACES

    async def generate(
        self, chat: Sequence[Message], sampling: Sampling, request_id: str, priority: int = 0, grow: Grow | None = None
    ) -> TurnResponse:
        """Answer when others had time to come, too."""
        self._asked += 1
        self.most = max(self.most, self._asked)
        try:
            for _ in range(20):
                await asyncio.sleep(0)
            if self._is_first:
                await self.stop()
                raise EngineDeadError("of old age")
            return await super().generate(chat, sampling, request_id, priority, grow)
        finally:
            self._asked -= 1


async def test_chats_wait_for_a_place_also_in_the_engine_that_comes_next(
    redis: Redis, data: Path, tmp_path: Path
) -> None:
    """Eight might be played, six are there, two are: before the first engine's death and after it."""
    engines: list[CrowdedEngine] = []
    job_id = await create_job(redis)
    requests = [make_request(f"r{number}", image(0), f"Question {number}?") for number in range(CHATS)]
    await JobQueue(redis).enqueue(job_id, [make_bundle(job_id, "b", requests)], None)
    async with running_worker(redis, data, tmp_path, make=lambda: CrowdedEngine(engines)) as rig:
        await rig.until_final(job_id)
    assert SETTINGS.max_requests > CHATS > PLACES
    assert [engine.most for engine in engines] == [PLACES, PLACES]
