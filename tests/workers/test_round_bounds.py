"""Many chats that look closer again and again end, with little room for their pictures."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from redis.asyncio import Redis

from gigavqa.contract.requests import Sampling, Turn
from gigavqa.contract.responses import OnTokens, TurnResponse
from gigavqa.workers.engines.engine import Message
from tests.workers.examples import ENTRY, responses_of, submit_requests
from tests.workers.simulated_worker import running_worker
from tests.workers.tool_chats import SHOWN, WritingEngine, in_order, looping, zoom

CHATS, ZOOMS = 64, 9
OWN_BYTES = 2 * 3 * ENTRY.visual_budget.max_raster_pixels
ROUND_BYTES = 2 * 3 * 65_536
"""Room for two rasters of each kind."""


class WatchingEngine(WritingEngine):
    """Notes by how much the pictures of results that are being generated from are more than may be held."""

    def __init__(self) -> None:
        super().__init__(in_order("again"))
        self.at_work: Counter[str] = Counter()
        self.bytes: dict[str, int] = {}
        self.chats_at_work = 0
        self.most_beside = 0
        self.most = 0

    async def generate(
        self,
        chat: Sequence[Message],
        sampling: Sampling,
        request_id: str,
        priority: int = 0,
        grow: OnTokens | None = None,
    ) -> TurnResponse:
        """Note, and write what the chat's next zoom is."""
        shown = {raster.key: raster.pixels.nbytes for message in chat[2:] for raster in message.rasters}
        self.bytes |= shown
        self.at_work.update(shown.keys())
        self.chats_at_work += bool(shown)
        held = sum(self.bytes[key] for key, users in self.at_work.items() if users)
        self.most = max(self.most, held)
        if self.chats_at_work > 1:
            self.most_beside = max(self.most_beside, held)
        try:
            answer = await super().generate(chat, sampling, request_id, priority, grow)
        finally:
            self.at_work.subtract(shown.keys())
            self.chats_at_work -= bool(shown)
        name, number = int(request_id.split("/")[1]), len(chat) // 2 - 1
        text = zoom(name, 100 * number, name + 100, 100 * number + 100) if number < ZOOMS else "1911"
        return answer.model_copy(update={"text": text})


@pytest.mark.slow
async def test_many_chats_end_with_room_for_two_pictures(redis: Redis, data: Path, tmp_path: Path) -> None:
    """What is held of results stays within the bound, but for a chat that is alone with more than it has room for."""
    engine = WatchingEngine()
    views = [SHOWN.model_copy(update={"region": f"0,0,800,{600 - number % 8}"}) for number in range(CHATS)]
    chats = [
        looping(str(number), turns=(Turn(parts=(view, f"Whose is number {number}?")),))
        for number, view in enumerate(views)
    ]
    job_id = await submit_requests(redis, *chats)
    bounds = {"ahead_bytes": OWN_BYTES, "round_bytes": ROUND_BYTES, "max_requests": CHATS}
    async with running_worker(redis, data, tmp_path, lambda: engine, **bounds) as rig:
        await rig.until_final(job_id)
        renders = rig.library.stats().renders
    responses = await responses_of(redis, job_id)
    assert {(response.failure, response.stop, len(response.turns)) for response in responses} == {
        (None, "answered", ZOOMS + 1)
    }
    assert renders == len({raster.key for response in responses for raster in response.rasters})
    assert 0 < engine.most_beside <= ROUND_BYTES < engine.most
