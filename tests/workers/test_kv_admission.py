"""An engine with few slots plays no more chats at once, whatever the worker may play; counted by what runs."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from redis.asyncio import Redis

from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.requests import Sampling
from gigavqa.contract.responses import OnTokens, TurnResponse
from gigavqa.store.queue import JobQueue
from gigavqa.workers.engines.engine import EngineDeadError, Message
from gigavqa.workers.engines.kv_admission import ChatSlots, chat_slots
from gigavqa.workers.engines.simulation.engine import SimulatedEngine
from tests.workers.examples import ENTRY, create_job, image, make_bundle, make_request
from tests.workers.simulated_worker import SETTINGS, running_worker

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
    def places(self) -> ChatSlots | None:
        """For two, and the one small view that they show."""
        return ChatSlots(PLACES * 10_000 + 1000, 10_000)

    async def generate(
        self,
        chat: Sequence[Message],
        sampling: Sampling,
        request_id: str,
        priority: int = 0,
        grow: OnTokens | None = None,
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


async def entered(room: ChatSlots, chats: Sequence[Mapping[str, int]]) -> list[bool]:
    """Which of these chats have room beside those before them."""
    async with AsyncExitStack() as stack:
        tasks = [asyncio.create_task(stack.enter_async_context(room.hold(views))) for views in chats]
        for _ in range(5 * len(tasks)):
            await asyncio.sleep(0)
        found = [task.done() for task in tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return found


async def test_a_view_takes_room_once_and_each_chat_some_of_its_own() -> None:
    """Of 100: six chats of ten each about one view of 40, or two about one of their own."""
    same, others = [{"a": 40}] * 8, [{letter: 40} for letter in "abcd"]
    assert sum(await entered(ChatSlots(100, 10), same)) == 6
    assert await entered(ChatSlots(100, 10), others) == [True, True, False, False]


async def test_large_chats_wait_for_others_and_go_before_those_that_came_later() -> None:
    """One alone has room whatever it shows; what would fit beside it waits behind the next one that does not."""
    large = {"a": 60, "b": 60, "c": 60}
    assert await entered(ChatSlots(100, 10), [large, {}, {}]) == [True, False, False]
    assert await entered(ChatSlots(100, 10), [{}, large, {}]) == [True, False, False]


async def test_room_that_is_left_is_taken_by_the_next() -> None:
    """Also when one of those that waited has given up."""
    room = ChatSlots(100, 60)
    async with room.hold({}):
        given_up, next_one = (asyncio.create_task(room.hold({}).__aenter__()) for _ in range(2))
        await asyncio.sleep(0)
        given_up.cancel()
        await asyncio.gather(given_up, return_exceptions=True)
        assert not next_one.done()
    await asyncio.wait_for(next_one, 10)


async def test_a_hybrid_model_has_places_for_chats_by_its_kv_cache() -> None:
    """Seventeen about one view of the largest size; a model without recurrent states has as many as anybody asks."""
    entries = load_catalogue()
    assert chat_slots(entries["qwen3-vl-8b"], 230_000) is None
    room = chat_slots(entries["qwen3.5-27b"], 230_000)
    assert room is not None
    assert sum(await entered(room, [{"k": 16384}] * 20)) == 17
