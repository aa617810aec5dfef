"""What an engine that is short of room answers first: lane by lane, and in a lane picture by picture as claimed."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from redis.asyncio import Redis

from gigavqa.contract.requests import Bundle, Sampling, Turn
from gigavqa.contract.responses import OnTokens, TurnResponse
from gigavqa.store.queue import JobQueue
from gigavqa.workers.engines.engine import Message
from gigavqa.workers.engines.simulation.engine import SLOTS_ARGUMENT, SimulatedEngine
from gigavqa.workers.lanes import EnginePriorities
from tests.workers.examples import ENTRY, create_job, image, make_bundle, make_request
from tests.workers.simulated_worker import running_worker

TURNS, OTHERS = 4, 6


class NarrowEngine(SimulatedEngine):
    """Answers one chat at a time, begins when all chats are there, and notes what it answered."""

    def __init__(self) -> None:
        super().__init__(ENTRY.model_copy(update={"engine": {SLOTS_ARGUMENT: 1}}), speed=0)
        self.answered: list[str] = []
        self._all_there = asyncio.Barrier(1 + OTHERS)

    async def generate(
        self,
        chat: Sequence[Message],
        sampling: Sampling,
        request_id: str,
        priority: int = 0,
        grow: OnTokens | None = None,
    ) -> TurnResponse:
        """Answer, and note it."""
        if request_id.endswith("/0"):
            await self._all_there.wait()
        answer = await super().generate(chat, sampling, request_id, priority, grow)
        self.answered.append(request_id.partition("/")[2])
        return answer


async def test_later_turns_go_before_the_next_pictures_first(redis: Redis, data: Path, tmp_path: Path) -> None:
    """A turn of a chain waits for what runs already, and never behind all that is asked about the next picture."""
    engine = NarrowEngine()
    turns = (*make_request("c", image(0)).turns, *[Turn(parts=("And then?",))] * (TURNS - 1))
    job_id = await create_job(redis)
    others = [make_request(f"other-{n}", image(1), f"Question {n}?") for n in range(OTHERS)]
    bundles = [
        make_bundle(job_id, "first", [make_request("chain", image(0), turns=turns)]),
        make_bundle(job_id, "next", others).model_copy(update={"image": image(1)}),
    ]
    await JobQueue(redis).enqueue(job_id, bundles, "digest")
    async with running_worker(redis, data, tmp_path, lambda: engine) as rig:
        await rig.until_final(job_id)

    assert len(engine.answered) == TURNS + OTHERS
    for turn in range(TURNS):
        assert engine.answered.index(f"chain/{turn}") <= 2 * turn


def _bundle(picture: int, priority: str = "batch") -> Bundle:
    bundle = make_bundle("job", "b", [make_request("r", image(picture))])
    return bundle.model_copy(update={"image": image(picture), "priority": priority})


def test_pictures_go_in_the_order_of_their_claim() -> None:
    """Bundles of one picture share its place; one that comes again after its end stands last."""
    precedence = EnginePriorities()
    with precedence.of(_bundle(0)) as first:
        with precedence.of(_bundle(1)) as second, precedence.of(_bundle(0)) as first_again:
            assert first == first_again < second
        with precedence.of(_bundle(1)) as third:
            assert second < third
    with precedence.of(_bundle(0)) as last:
        assert third < last


def test_an_interactive_picture_goes_before_all_others() -> None:
    """However late it comes."""
    precedence = EnginePriorities()
    with precedence.of(_bundle(0)) as batch, precedence.of(_bundle(1, "interactive")) as interactive:
        assert interactive < batch
