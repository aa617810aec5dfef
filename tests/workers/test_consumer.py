"""The worker's loop on a real server and real image files; only the engine is simulated."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from PIL import Image
from redis.asyncio import Redis

from gigavqa.contract.jobs import JobStatus
from gigavqa.contract.requests import InferenceRequest, Sampling, Turn
from gigavqa.contract.responses import Failure, OnTokens, TurnResponse
from gigavqa.store.chats import Chats, new_chat_id
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.queue import JobQueue
from gigavqa.store.redis_keys import KEYS
from gigavqa.store.results import ResultStore
from gigavqa.store.worker_registry import WorkerRegistry
from gigavqa.tiling.views import View
from gigavqa.workers.engines.engine import Message
from gigavqa.workers.engines.simulation.engine import SimulatedEngine
from gigavqa.workers.responses import Outcome, make_response
from tests.waiting import async_wait_until
from tests.workers.examples import (
    ENTRY,
    NUM_IMAGES,
    image,
    job_of,
    make_bundle,
    make_request,
    responses_of,
    submit,
    submit_requests,
)
from tests.workers.simulated_worker import SETTINGS, MortalEngine, running_worker


async def test_every_request_of_a_job_is_recorded_once(redis: Redis, data: Path, tmp_path: Path) -> None:
    """Many small bundles leave exactly one response per request."""
    job_id = await submit(redis, 30, 3)
    async with running_worker(redis, data, tmp_path) as rig:
        await rig.until_final(job_id)
    responses = await responses_of(redis, job_id)
    assert len({response.request_id for response in responses}) == len(responses) == 90
    assert (await job_of(redis, job_id)).request_counts.completed == 90


async def test_an_answer_of_a_chat_is_a_line_of_the_log(
    redis: Redis, data: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """By the ids that the gateway's line and the client's answer have."""
    chat_id, request = new_chat_id(), make_request("0", image(1))
    bundle = make_bundle(chat_id, f"{chat_id}-0", [request]).model_copy(update={"priority": "interactive"})
    line = f"job {chat_id}, request 0, sample {request.sample_id}: answered"

    async def logged() -> bool:
        return line in caplog.messages

    with caplog.at_level(logging.INFO):
        async with running_worker(redis, data, tmp_path):
            await Chats(redis, limit_requests=10).ask(bundle, "channel")
            await async_wait_until(logged, what="the line of the answer")


async def test_unique_work_is_done_once(redis: Redis, data: Path, tmp_path: Path) -> None:
    """Renders and preprocessed rasters are as many as images, however many requests look at them."""
    job_id = await submit(redis, 12, 10)
    async with running_worker(redis, data, tmp_path) as rig:
        await rig.until_final(job_id)
        stats = await rig.engines[0].stats()
    assert rig.library.stats().renders == NUM_IMAGES
    assert stats.processed_rasters == NUM_IMAGES
    assert rig.count("unique_rasters_total") == NUM_IMAGES


async def test_a_response_says_where_it_comes_from(redis: Redis, data: Path, tmp_path: Path) -> None:
    """Raster, engine, worker and timings stand in the record."""
    job_id = await submit_requests(redis, make_request("r", image(1)))
    async with running_worker(redis, data, tmp_path) as rig:
        await rig.until_final(job_id)
    (response,) = await responses_of(redis, job_id)
    (raster,) = response.rasters
    plan = ENTRY.visual_budget.plan(raster.source_size)
    assert (raster.raster_size, raster.visual_tokens) == (plan.raster, plan.visual_tokens)
    assert raster.region == "0,0,800,600"
    assert response.engine is not None
    assert response.engine.simulated
    assert response.worker == rig.worker.name


async def test_a_response_says_what_was_black_and_white(redis: Redis, data: Path, tmp_path: Path) -> None:
    """Of an image whose samples are shown as declared; of any other it says nothing."""
    Image.fromarray(np.arange(60 * 80, dtype=np.uint16).reshape(60, 80)).save(data / "demo/images/deep.png")
    seen = View(image="demo/images/deep.png", show="stretch=minmax")
    deep = make_request("deep", None, condition="V2", turns=(Turn(parts=(seen, "How many?")),))
    job_id = await submit_requests(redis, deep, make_request("plain", image(1)))
    async with running_worker(redis, data, tmp_path) as rig:
        await rig.until_final(job_id)
    tones = {one.request_id: one.rasters[0].tone for one in await responses_of(redis, job_id)}
    assert tones == {"deep": "bands=1 limits=0:4799", "plain": ""}


class ThinkingEngine(SimulatedEngine):
    """Thinks before it answers, and keeps what it was told of earlier answers."""

    told: ClassVar[list[str]] = []

    async def generate(
        self,
        chat: Sequence[Message],
        sampling: Sampling,
        request_id: str,
        priority: int = 0,
        grow: OnTokens | None = None,
    ) -> TurnResponse:
        """Think and answer."""
        self.told.extend(message.text for message in chat if message.role == "assistant")
        answer = await super().generate(chat, sampling, request_id, priority, grow)
        return answer.model_copy(update={"text": "<think>One, or two?</think>\n\nTwo."})


async def test_thoughts_are_recorded_and_not_repeated(redis: Redis, data: Path, tmp_path: Path) -> None:
    """Raw text keeps the thought and its marks; the chat's next turn repeats what follows."""
    job_id = await submit_requests(redis, make_request("r", None, turns=(Turn(parts=("one",)), Turn(parts=("two",)))))
    async with running_worker(redis, data, tmp_path, lambda: ThinkingEngine(ENTRY, speed=0)) as rig:
        await rig.until_final(job_id)
    (response,) = await responses_of(redis, job_id)
    assert [turn.text for turn in response.turns] == ["<think>One, or two?</think>\n\nTwo."] * 2
    assert ThinkingEngine.told == ["Two."]


async def test_a_chat_is_recorded_turn_by_turn(redis: Redis, data: Path, tmp_path: Path) -> None:
    """Every turn names its step, the question none; the examples that were told are those of the request."""
    turns = (
        Turn(parts=("Step 1?",), asks="S1"),
        Turn(parts=("Step 2?",), asks="S2", given="4"),
        Turn(parts=("Answer?",)),
    )
    told: dict[str, Any] = {"prompt_version": "sequential/1", "details": {"examples": ["other"]}}
    job_id = await submit_requests(redis, make_request("chat", image(1), turns=turns, protocol="S5", **told))
    async with running_worker(redis, data, tmp_path) as rig:
        await rig.until_final(job_id)
    (response,) = await responses_of(redis, job_id)
    assert [turn.asks for turn in response.turns] == ["S1", "S2", None]
    assert all(turn.text for turn in response.turns)
    assert (response.prompt_version, response.details) == ("sequential/1", {"examples": ["other"]})


async def failures_of(
    redis: Redis, data: Path, tmp_path: Path, *requests: InferenceRequest
) -> dict[str, Failure | None]:
    """What became of the requests of one job, played by a worker to its end."""
    job_id = await submit_requests(redis, *requests)
    async with running_worker(redis, data, tmp_path) as rig:
        await rig.until_final(job_id)
    return {response.request_id: response.failure for response in await responses_of(redis, job_id)}


async def test_a_missing_image_fails_only_its_request(redis: Redis, data: Path, tmp_path: Path) -> None:
    """The failure names its type and is not worth a retry; the other requests are answered."""
    failures = await failures_of(
        redis, data, tmp_path, make_request("bad", "demo/images/none.png"), make_request("good", image(0))
    )
    assert failures["good"] is None
    assert failures["bad"] is not None
    assert (failures["bad"].type, failures["bad"].retryable) == ("ImageNotFoundError", False)


async def test_a_picture_that_goes_on_changing_is_worth_a_retry(
    redis: Redis, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is never the one that it was planned as; the requests about others are answered."""
    monkeypatch.setattr("gigavqa.workers.preparation._PAUSES_SECONDS", (0.0, 0.0))
    monkeypatch.setattr("gigavqa.tiling.files.OpenFile.is_unchanged", property(lambda file: file.path.name != "1.png"))
    failures = await failures_of(
        redis, data, tmp_path, make_request("changing", image(1)), make_request("good", image(0))
    )
    assert failures["good"] is None
    assert failures["changing"] is not None
    assert (failures["changing"].type, failures["changing"].retryable) == ("ImageChangedError", True)


async def test_a_prompt_beyond_the_context_fails_only_its_request(redis: Redis, data: Path, tmp_path: Path) -> None:
    """The failure is the engine's, with the counts in its message."""
    requests = make_request("long", None, "word " * 10000), make_request("short", None)
    failures = await failures_of(redis, data, tmp_path, *requests)
    assert failures["short"] is None
    assert failures["long"] is not None
    assert (failures["long"].type, failures["long"].by_model) == ("ContextExceededError", False)
    assert "8192" in failures["long"].message


async def test_a_chat_that_fills_its_own_context_is_laid_to_the_model(redis: Redis, data: Path, tmp_path: Path) -> None:
    """Text and questions alone would fit; what was answered is kept. One whose second question is too long is ours."""
    first = Turn(parts=("word " * 8184,), asks="S1")
    job_id = await submit_requests(
        redis,
        make_request("own", None, turns=(first, Turn(parts=("So?",)))),
        make_request("ours", None, turns=(first, Turn(parts=("word " * 100,)))),
        make_request("given", None, turns=(Turn(parts=("word " * 8184,), given="1"), Turn(parts=("word " * 100,)))),
    )
    async with running_worker(redis, data, tmp_path) as rig:
        await rig.until_final(job_id)
    responses = {response.request_id: response for response in await responses_of(redis, job_id)}
    failures = {name: response.failure for name, response in responses.items()}
    assert {name: failure and (failure.type, failure.by_model) for name, failure in failures.items()} == {
        "own": ("ChatOverflowError", True),
        "ours": ("ContextExceededError", False),
        "given": ("ContextExceededError", False),
    }
    assert [turn.asks for turn in responses["own"].turns] == ["S1"]


async def test_recorded_requests_are_not_played_again(redis: Redis, data: Path, tmp_path: Path) -> None:
    """A bundle that comes back with half of its responses recorded is played for the other half only."""
    job_id = await submit(redis, 1, 6)
    results, engine = ResultStore(redis), SimulatedEngine(ENTRY)
    (lease,) = await JobQueue(redis).claim([ENTRY.id], "crashed", 1, 1.0)
    for request in lease.bundle.requests[:3]:
        await results.record(make_response(lease, request, Outcome(), engine.info), lease)
    async with running_worker(redis, data, tmp_path) as rig:
        await rig.until_final(job_id)
    assert rig.count("requests_total", outcome="completed") == 3
    assert rig.count("requests_total", outcome="repeated") == 0
    assert (await job_of(redis, job_id)).request_counts.completed == 6


async def test_cancellation_reaches_the_engine(redis: Redis, data: Path, tmp_path: Path) -> None:
    """Cancelling a job aborts what an endlessly slow engine is generating for it."""
    job_id = await submit(redis, 2, 3)
    async with running_worker(redis, data, tmp_path, lambda: SimulatedEngine(ENTRY, speed=1e-6)) as rig:

        async def generating() -> bool:
            stats = await rig.engines[0].stats()
            return stats.running + stats.waiting == 6

        await async_wait_until(generating, what="six requests in the engine")
        await JobRegistry(redis).cancel(job_id)
        await rig.until_final(job_id)
        stats = await rig.engines[0].stats()
    assert stats.running + stats.waiting == 0
    assert (await job_of(redis, job_id)).status is JobStatus.CANCELLED


@pytest.mark.slow
async def test_requests_of_a_dead_engine_are_played_on_the_next(redis: Redis, data: Path, tmp_path: Path) -> None:
    """An engine that dies while it generates costs no request, and leaves no failure."""
    job_id = await submit(redis, 4, 4)
    async with running_worker(redis, data, tmp_path, lambda: SimulatedEngine(ENTRY, speed=0.1)) as rig:

        async def generating() -> bool:
            return (await rig.engines[0].stats()).running > 0

        await async_wait_until(generating, what="the engine generating")
        await rig.engines[0].stop()
        await rig.until_final(job_id)
    assert all(response.ok for response in await responses_of(redis, job_id))
    assert rig.count("engine_restarts_total") == 1


@pytest.mark.slow
async def test_a_request_that_kills_engines_fails_alone(redis: Redis, data: Path, tmp_path: Path) -> None:
    """Poison ends on probation with a failure; the requests that were beside it are answered."""
    innocent = [make_request(f"good{number}", image(number)) for number in range(3)]
    job_id = await submit_requests(redis, *innocent, make_request("bad", None, "poison"))
    async with running_worker(redis, data, tmp_path, lambda: MortalEngine(ENTRY, speed=0.2)) as rig:
        await rig.until_final(job_id)
    failures = {response.request_id: response.failure for response in await responses_of(redis, job_id)}
    assert failures.pop("bad") is not None
    assert set(failures.values()) == {None}


async def test_a_drained_worker_hands_back_at_once(redis: Redis, data: Path, tmp_path: Path) -> None:
    """What an endlessly slow engine had begun can be claimed right away, its attempt unspent."""
    await submit(redis, 2, 2)
    queue = JobQueue(redis)
    async with running_worker(redis, data, tmp_path, lambda: SimulatedEngine(ENTRY, speed=1e-6)):

        async def leased() -> bool:
            return (await queue.depth(ENTRY.id)).leased == 2

        await async_wait_until(leased, what="both bundles leased")
    leases = await queue.claim([ENTRY.id], "next", 10, 0)
    assert [lease.attempt for lease in leases] == [1, 1]


async def test_a_worker_leases_no_more_than_it_plays_twice(redis: Redis, data: Path, tmp_path: Path) -> None:
    """From its first claim on, and by requests: the rest is for others. Its largest claim ends inside a bundle."""
    await submit(redis, 30, 5)
    queue = JobQueue(redis)
    async with running_worker(redis, data, tmp_path, lambda: SimulatedEngine(ENTRY, speed=1e-6)) as rig:

        async def playing() -> bool:
            stats = await rig.engines[0].stats()
            return stats.running + stats.waiting == SETTINGS.max_requests

        await async_wait_until(playing, what="as many requests in play as may be")
        leased = (await queue.depth(ENTRY.id)).leased
    assert leased == -(-2 * SETTINGS.max_requests // 5)


async def test_nothing_is_parked_for_a_worker_that_ended(redis: Redis, data: Path, tmp_path: Path) -> None:
    """It gives up its pictures with its last claim, and bundles about them go to whoever comes."""
    job_id = await submit(redis, NUM_IMAGES, 1)
    async with running_worker(redis, data, tmp_path) as rig:
        await rig.until_final(job_id)
        assert await redis.exists(KEYS.room(f"{ENTRY.id}:{rig.worker.name}"))
    assert not await redis.exists(KEYS.room(f"{ENTRY.id}:{rig.worker.name}"))
    await submit(redis, NUM_IMAGES, 1)
    leases = await JobQueue(redis, defer_seconds=10).claim([ENTRY.id], "next", 10, 0)
    assert len(leases) == NUM_IMAGES


async def test_a_worker_announces_itself_until_it_ends(redis: Redis, data: Path, tmp_path: Path) -> None:
    """The fleet knows a ready worker, and forgets it when it has drained."""
    fleet = WorkerRegistry(redis)
    async with running_worker(redis, data, tmp_path) as rig:

        async def ready() -> bool:
            return any(status.state == "ready" for status in await fleet.workers())

        await async_wait_until(ready, what="a ready worker")
        (status,) = await fleet.workers()
        assert (status.worker, status.models) == (rig.worker.name, (ENTRY.id,))
    assert await fleet.workers() == []
