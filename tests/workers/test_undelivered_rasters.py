"""The real engine, and chats that never reach it though their rasters were made ready: too long, cancelled, refused.

vLLM's front end believes that its core has each raster that it made ready; whoever asks next is not to pay for it.
"""

import asyncio
import importlib.util
import random
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
import pytest_asyncio

from gigavqa.contract.requests import GenerationConstraints, Sampling, StructuredOutput, Turn
from gigavqa.contract.responses import FINISH_REASONS, TokenLogprob, TurnResponse
from gigavqa.tiling.renderer import Renderer
from gigavqa.tiling.roots import ImageRoot
from gigavqa.tiling.views import View
from gigavqa.workers.chat import ChatPlayer
from gigavqa.workers.engines.engine import ContextExceededError, EngineError, Message, PromptRaster
from gigavqa.workers.engines.vllm.engine import VllmEngine
from gigavqa.workers.engines.vllm.prompts import render_prompt
from gigavqa.workers.engines.vllm.sender_cache import restore_on_failure
from gigavqa.workers.preparation import RasterPreparation
from gigavqa.workers.script import FixedTurns
from tests.checkpoints.build import ensure_checkpoint
from tests.workers.examples import ENTRY, draw_images, make_request
from tests.workers.rasters import raster, raster_of
from tests.workers.tool_chats import SHOWN, looping, rounds_of, zoom

pytestmark = [
    pytest.mark.engine,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vllm is not installed"),
]

GREEDY = Sampling(temperature=0.0, max_tokens=8)
TOO_LONG = "word " * 2690
"""Of three tokens a word: fits by itself, and not beside a raster of 256 tokens."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[VllmEngine]:
    """The engine of this file."""
    made = VllmEngine(ENTRY, str(ensure_checkpoint(ENTRY.weights, tmp_path_factory.mktemp("checkpoints"))))
    await made.start()
    yield made
    await made.stop()


async def ask(engine: VllmEngine, *parts: str | PromptRaster, sampling: Sampling = GREEDY) -> TurnResponse:
    """Ask one question."""
    return await engine.generate([Message("user", parts)], sampling, f"{parts[-1]}"[:40])


async def assert_answered(engine: VllmEngine, rasters: Sequence[PromptRaster]) -> None:
    """A short question about them has an answer with tokens, the one that it has under keys that nobody has used."""
    answer = await ask(engine, *rasters, "How many?")
    assert answer.finish_reason in FINISH_REASONS
    assert answer.usage.completion_tokens > 0
    fresh = [PromptRaster(f"{each.key} fresh", each.pixels) for each in rasters]
    assert answer.text == (await ask(engine, *fresh, "How many?")).text


@pytest.mark.parametrize("number", [1, 2, 3])
async def test_a_chat_beyond_the_context_leaves_its_rasters_as_they_were(engine: VllmEngine, number: int) -> None:
    """The next question about each of them is answered, and prepares what was not there before once."""
    known = raster(f"known-{number}")
    await ask(engine, known, "Is it known?")
    rasters = [known, *(raster(f"long-{number}-{each}") for each in range(number))]
    with pytest.raises(ContextExceededError):
        await ask(engine, *rasters, TOO_LONG)
    await ask(engine, "A step, with which the engine tells what it has counted.")
    before = await engine.stats()
    await ask(engine, *rasters, "How many?")
    assert (await engine.stats()).processed_rasters - before.processed_rasters == number
    await assert_answered(engine, rasters)


async def test_a_chat_that_the_engine_refuses_for_its_constraints_leaves_its_raster(engine: VllmEngine) -> None:
    """A grammar that is none is found after the raster is made ready."""
    wrong = Sampling(max_tokens=4, steering=GenerationConstraints(structure=StructuredOutput(regex="((((")))
    with pytest.raises(EngineError):
        await ask(engine, raster("wrong"), "How many?", sampling=wrong)
    await assert_answered(engine, [raster("wrong")])


@pytest.mark.parametrize("steps", range(0, 60, 4))
async def test_a_chat_that_is_cancelled_leaves_its_rasters(engine: VllmEngine, steps: int) -> None:
    """Before, while and after they are made ready, alone and beside a chat about one of them."""
    shared = raster(f"shared-{steps}", (1024, 1024))
    own = raster(f"own-{steps}", (1024, 1024))
    leaving = asyncio.create_task(ask(engine, shared, own, "Who leaves?"))
    staying = asyncio.create_task(ask(engine, shared, "Who stays?"))
    for _ in range(steps):
        await asyncio.sleep(0.001)
    leaving.cancel()
    await asyncio.gather(leaving, return_exceptions=True)
    stayed = await staying
    assert stayed.usage.completion_tokens > 0
    await assert_answered(engine, [own])
    await assert_answered(engine, [shared, own])


SMALL = {"mm_processor_cache_gb": 0.0155}
"""Holds some twenty rasters of the tests' size."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def small(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[VllmEngine]:
    """An engine whose cache of rasters is full all the time."""
    entry = ENTRY.model_copy(update={"engine": {**ENTRY.engine, **SMALL}})
    made = VllmEngine(entry, str(ensure_checkpoint(entry.weights, tmp_path_factory.mktemp("checkpoints"))))
    await made.start()
    yield made
    await made.stop()


async def test_both_sides_put_out_the_same_rasters_whatever_is_refused(small: VllmEngine) -> None:
    """In a full cache, a refused chat's use of rasters is taken back to the order, so that no question is asked twice.

    Chats of three to five of twenty rasters, nearly half of them beyond the context, and some that leave.
    """
    draw = random.Random(5)
    rasters = [raster(f"full-{number}", (512, 512)) for number in range(20)]

    async def chat(number: int) -> TurnResponse | None:
        shown = draw.sample(rasters, draw.randrange(3, 6))
        too_long = draw.random() < 0.45
        asked = asyncio.create_task(ask(small, *shown, TOO_LONG if too_long else f"Question {number}?"))
        if draw.random() < 0.15:
            await asyncio.sleep(draw.uniform(0, 0.1))
            asked.cancel()
        (said,) = await asyncio.gather(asked, return_exceptions=True)
        assert isinstance(said, TurnResponse | ContextExceededError | asyncio.CancelledError), said
        return said if isinstance(said, TurnResponse) else None

    for start in range(0, 240, 12):
        texts = (ask(small, f"Of texts alone {number}?") for number in range(start, start + 4))
        await asyncio.gather(*texts, *(chat(number) for number in range(start, start + 12)))
    assert (await small.stats()).retries == 0


async def test_a_prompt_that_shows_more_than_the_cache_holds_is_answered(small: VllmEngine) -> None:
    """Its rasters put out each other; asked once more of empty caches, it is as it would be in a larger one."""
    rasters = [raster(f"beyond-{number}", (512, 512)) for number in range(27)]
    await assert_answered(small, rasters[:2])
    for _ in range(2):
        answer = await ask(small, *rasters, "How many?")
        assert answer.usage.completion_tokens > 0
    await assert_answered(small, rasters[-2:])


@pytest.mark.parametrize("seed", range(50))
async def test_what_a_failed_prompt_did_to_the_front_ends_cache_is_undone(seed: int) -> None:
    """Rasters, their order, and what is put out next."""
    from vllm.utils.cache import LRUCache

    draw = random.Random(seed)
    lru = LRUCache[str, int](20, getsizeof=lambda size: size)
    for number in range(30):
        lru.put(str(number), draw.randrange(1, 5))
    before = [(key, lru.cache[key]) for key in lru.order]
    sender = SimpleNamespace(_cache=lru)
    with pytest.raises(asyncio.CancelledError), restore_on_failure(sender, ("any",)):
        for _ in range(draw.randrange(12)):
            key = str(draw.randrange(40))
            lru.touch(key) if key in lru else lru.put(key, draw.randrange(1, 5))
        raise asyncio.CancelledError
    assert [(key, lru.cache[key]) for key in lru.order] == before
    assert lru.currsize == sum(size for _, size in before)


async def test_many_chats_leave_at_once(engine: VllmEngine) -> None:
    """Half of sixty chats about twenty rasters leave, each after another while; all others are answered."""
    rasters = [raster(f"many-{number}") for number in range(20)]
    chats = [
        asyncio.create_task(ask(engine, rasters[number % 20], rasters[number * 7 % 20], f"Question {number}?"))
        for number in range(60)
    ]
    for chat in chats[::2]:
        await asyncio.sleep(0.003)
        chat.cancel()
    answers = await asyncio.gather(*chats, return_exceptions=True)
    stayed = answers[1::2]
    assert all(isinstance(answer, TurnResponse) and answer.usage.completion_tokens for answer in stayed)
    for number in range(20):
        answer = await ask(engine, rasters[number], "How many?")
        assert answer.usage.completion_tokens > 0


async def test_given_answers_that_overflow_leave_the_raster(engine: VllmEngine) -> None:
    """Turns with given answers are asked at once: those that fit are answered though the last one is too long."""
    view = View(image="given")
    pixels = raster("given")
    turns = (
        Turn(parts=(view, "First?"), given="One."),
        Turn(parts=("Second?",), given=TOO_LONG),
        Turn(parts=("Third?",)),
    )
    request = make_request("given", None, turns=turns, sampling=GREEDY)
    shown = [raster_of(view, 256, pixels.pixels)]
    player = ChatPlayer(request, FixedTurns(turns), shown, engine.generate)
    with pytest.raises(EngineError):
        await player.play()
    assert all(answer.usage.completion_tokens for answer in player.answers)
    await assert_answered(engine, [PromptRaster("given", pixels.pixels)])


async def test_a_round_that_overflows_leaves_the_raster_of_its_zoom(engine: VllmEngine, tmp_path: Path) -> None:
    """A chat of rounds stops where its context is full; what it was to be shown then can be asked about."""
    library = Renderer(ImageRoot(draw_images(tmp_path / "data")), tmp_path / "pyramids", 2**26)
    preparation = RasterPreparation(library, ENTRY.visual_budget, limit_bytes=2**28, threads=1)

    async def generate(chat: Sequence[Message], sampling: Sampling, turn_id: str) -> TurnResponse:
        answer = await engine.generate(chat, sampling, turn_id)
        return answer.model_copy(update={"text": zoom(0, 0, 500, 500)})

    turns = (Turn(parts=(SHOWN, "word " * 2655)),)
    request = looping("overflow", sampling=GREEDY, turns=turns)
    async with preparation.rasters(request.views) as prepared:
        rounds = rounds_of(request, prepared, preparation, generate)
        await rounds.play()
    assert (rounds.stop, len(rounds.answers)) == ("context", 1)
    async with preparation.rasters([rounds.rasters[0].view]) as prepared:
        await assert_answered(engine, [PromptRaster(each.key, each.pixels) for each in prepared.rasters])
    preparation.close()


async def test_nothing_was_sent_twice_that_arrived(engine: VllmEngine) -> None:
    """A raster that reached the engine stays known to it after a chat about it is refused, and one is cancelled."""
    arrived = raster("arrived")
    await ask(engine, arrived, "First?")
    with pytest.raises(ContextExceededError):
        await ask(engine, arrived, TOO_LONG)
    leaving = asyncio.create_task(ask(engine, arrived, "Who leaves?"))
    await asyncio.sleep(0)
    leaving.cancel()
    await asyncio.gather(leaving, return_exceptions=True)
    before = await engine.stats()
    await ask(engine, arrived, "Second?")
    assert (await engine.stats()).processed_rasters == before.processed_rasters


async def test_a_chat_is_asked_again_where_both_sides_of_the_cache_disagree(engine: VllmEngine) -> None:
    """A prompt that somebody else rendered and never sent costs the next chat about its raster one more ask."""
    lost = raster("lost")
    chat = [Message("user", (lost, "How many?"))]
    await render_prompt(engine._llm, ENTRY, chat)
    before = await engine.stats()
    await assert_answered(engine, [lost])
    assert (await engine.stats()).retries == before.retries + 1


@pytest.mark.parametrize("end_at_once", [True, False])
async def test_a_stream_tells_the_logprobs_that_the_whole_answer_has(engine: VllmEngine, end_at_once: bool) -> None:
    """Also that of the token which ends the answer, and of an answer that ends before it begins."""
    bias = dict.fromkeys(engine._end_ids, 100.0) if end_at_once else {}
    sampling = Sampling(temperature=0.0, max_tokens=12, steering=GenerationConstraints(logprobs=2, logit_bias=bias))
    told: list[TokenLogprob] = []
    texts: list[str] = []

    def grow(_: int, text: str, logprobs: tuple[TokenLogprob, ...] | None) -> None:
        texts.append(text)
        told.extend(logprobs or ())

    answer = await engine.generate([Message("user", ("How many?",))], sampling, "grow", grow=grow)
    assert answer.text == "".join(texts)
    assert bool(answer.text) != end_at_once
    assert tuple(told) == answer.logprobs
    assert len(told) == answer.usage.completion_tokens
