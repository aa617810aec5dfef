"""A chat that may look closer and search: what the model is told, what is recorded, and how it ends."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from redis.asyncio import Redis

from gigavqa.contract.requests import Turn
from gigavqa.contract.responses import Response
from gigavqa.retrieval.errors import SourceFailedError
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.previews import PreviewStore
from gigavqa.store.redis_keys import KEYS
from gigavqa.tiling.views import View
from gigavqa.workers.engines.engine import Message
from tests.waiting import async_wait_until
from tests.workers.examples import ENTRY, image, responses_of, submit_requests
from tests.workers.simulated_worker import running_worker
from tests.workers.tool_chats import (
    LOOK_UP,
    LOOP,
    SHOWN,
    THUMB,
    CountingSource,
    WritingEngine,
    assert_prefilled_once,
    call,
    in_order,
    looping,
    write_pages,
    zoom,
)


@pytest.fixture
def source(tmp_path: Path) -> CountingSource:
    """A small corpus that counts its searches."""
    return CountingSource(write_pages(tmp_path / "pages"), tmp_path / "indexes")


async def played(
    redis: Redis, data: Path, folder: Path, engine: WritingEngine, source: CountingSource, **changes: Any
) -> Response:
    """The response to one chat with a loop."""
    job_id = await submit_requests(redis, looping("r", **changes))
    async with running_worker(redis, data, folder, lambda: engine, sources=source.sources) as rig:
        await rig.until_final(job_id)
    (response,) = await responses_of(redis, job_id)
    return response


async def test_a_chat_grows_by_what_it_asked_for(
    redis: Redis, data: Path, tmp_path: Path, source: CountingSource
) -> None:
    """Every result stands in a message of the user's, with its picture in its place; what was said stays as it was."""
    texts = (zoom(250, 500, 500, 625), call("look_up", query="who founded Norrland"), call("alike"), "It is 1911.")
    engine = WritingEngine(in_order(*texts))
    response = await played(redis, data, tmp_path, engine, source)
    assert response.failure is None
    keys = [raster.key for raster in response.rasters]
    chats = engine.chats["r"]
    assert all(later[: len(earlier)] == earlier for earlier, later in pairwise(chats))
    last = chats[-1]
    assert last[:4] == [
        ("system", ["Be brief."]),
        ("user", [keys[0], "Whose crane is it, r?"]),
        ("assistant", [texts[0]]),
        ("user", ["<r>\nCloser:", keys[1], "\n</r>"]),
    ]
    ((said,),) = [parts for role, parts in last[5:6]]
    assert said.startswith(
        "<r>\nwho founded Norrland: Norrland Works\nNorrland Works makes cranes. It was founded in 1911"
    )
    assert last[6:] == [("assistant", [texts[2]]), ("user", ["<r>\nTitle 1: Quay 4\n", keys[2], "\n</r>"])]
    assert [turn.text for turn in response.turns] == [*texts]
    assert (response.stop, response.max_rounds) == ("answered", 10)


async def test_a_response_tells_what_was_asked_for_and_shown(
    redis: Redis, data: Path, tmp_path: Path, source: CountingSource
) -> None:
    """Each call with its status, result, rasters and pages; each raster with the turn that showed it."""
    texts = (zoom(250, 500, 500, 625), call("look_up", query="who founded Norrland"), call("alike"), "It is 1911.")
    response = await played(redis, data, tmp_path, WritingEngine(in_order(*texts)), source)
    closer, look_up, alike, none = (turn.call for turn in response.turns)
    assert none is None
    assert closer and look_up and alike
    assert (closer.status, closer.result, closer.rasters) == ("ok", "<r>\nCloser:[IMAGE 1]\n</r>", (1,))
    assert closer.arguments == '{"bbox_2d": [250, 500, 500, 625], "label": "mark", "img_idx": 0}'
    assert (look_up.documents[0], look_up.cached) == ("d-1", False)
    assert look_up.source == f"{LOOK_UP.source} {source.version} extractive/1"
    assert (alike.result, alike.rasters) == ("<r>\nTitle 1: Quay 4\n[IMAGE 2]\n</r>", (2,))
    crop = View(image=image(0), region="200,300,200,75", sizing="fit:32:4096:65536:28")
    assert [(raster.turn, raster.view) for raster in response.rasters] == [(0, SHOWN), (1, crop), (3, THUMB)]
    assert all(raster.visual_tokens > 0 for raster in response.rasters)


async def test_a_chat_fails_where_its_picture_is_replaced_between_two_rounds(
    redis: Redis, data: Path, tmp_path: Path, source: CountingSource
) -> None:
    """No chat mixes two pictures; asked again, it is about the new one alone."""
    answers = in_order(zoom(250, 500, 500, 625), "It is 1911.")

    def replace(chat: Sequence[Message]) -> str:
        replaced = Image.new("RGB", (800, 600), "teal")
        replaced.save(data / "new.png")
        (data / "new.png").replace(data / image(0))
        return answers(chat)

    response = await played(redis, data, tmp_path, WritingEngine(replace), source)
    assert response.failure is not None
    assert (response.failure.type, response.failure.retryable) == ("ImageChangedError", True)
    assert "between two rounds" in response.failure.message


async def test_pictures_of_rounds_are_kept_small_as_others_are(
    redis: Redis, data: Path, tmp_path: Path, source: CountingSource
) -> None:
    """A preview of each raster that the response names: the request's own, a zoom's and a given one."""
    engine = WritingEngine(in_order(zoom(250, 500, 500, 625), call("alike"), "It is 1911."))
    job_id = await submit_requests(redis, looping("r"))
    async with running_worker(
        redis, data, tmp_path, lambda: engine, sources=source.sources, previews=tmp_path / "results"
    ) as rig:
        await rig.until_final(job_id)
    (response,) = await responses_of(redis, job_id)
    assert [raster.turn for raster in response.rasters] == [0, 1, 2]
    keys = PreviewStore(str(tmp_path / "results")).keys()
    assert keys == sorted(raster.key for raster in response.rasters)


async def test_rounds_go_on_from_the_last_turn(
    redis: Redis, data: Path, tmp_path: Path, source: CountingSource
) -> None:
    """A chat may have turns before; calls in answers to those are texts."""
    turns = (Turn(parts=(SHOWN, "What is it?"), asks="first"), Turn(parts=("Whose?",)))
    response = await played(
        redis, data, tmp_path, WritingEngine(in_order(call("alike"), call("alike"), "Ansel's.")), source, turns=turns
    )
    assert [(turn.asks, turn.call is not None) for turn in response.turns] == [
        ("first", False),
        (None, True),
        (None, False),
    ]
    assert [raster.turn for raster in response.rasters] == [0, 2]


@pytest.mark.parametrize(
    ("text", "status", "told"),
    [
        (call("farther"), "unknown_tool", "no farther"),
        ('<tool_call>["closer"]</tool_call>', "bad_arguments", "not so"),
        (call("closer"), "empty", "no box"),
        (call("look_up", query=""), "empty", "no query"),
        (zoom(0, 0, "x", 1), "bad_box", "no box"),  # type: ignore[arg-type]
        (zoom(500, 500, 400, 600), "bad_box", "no box"),
        (zoom(500, 500, 500.1, 600), "bad_box", "no box"),  # no pixel
    ],
)
async def test_what_cannot_be_done_is_told_and_the_chat_goes_on(
    redis: Redis, data: Path, tmp_path: Path, source: CountingSource, *, text: str, status: str, told: str
) -> None:
    """By the text that the loop declares."""
    engine = WritingEngine(in_order(text, "1911"))
    response = await played(redis, data, tmp_path, engine, source)
    made = response.turns[0].call
    assert made is not None
    assert (made.status, made.result, made.rasters) == (status, told, ())
    assert engine.chats["r"][-1][-1] == ("user", [told])
    assert (response.stop, len(response.turns)) == ("answered", 2)


@pytest.mark.parametrize(
    ("text", "status", "stop"),
    [
        (zoom(0, 0, 500, 500), "not_run", "rounds"),
        (call("look_up", query="cranes"), "not_run", "rounds"),
        (zoom(500, 500, 400, 600), "bad_box", "rounds"),
        (call("farther"), "unknown_tool", "rounds"),
        ("<tool_call>closer</tool_call>", "malformed", "answered"),
        ("1911", None, "answered"),
    ],
)
async def test_the_last_round_is_answered_or_not(
    redis: Redis, data: Path, tmp_path: Path, source: CountingSource, *, text: str, status: str | None, stop: str
) -> None:
    """A call in it is not carried out, since nobody would see what comes of it."""
    engine = WritingEngine(in_order(call("alike"), text))
    loop = LOOP.model_copy(update={"max_rounds": 2})
    response = await played(redis, data, tmp_path, engine, source, loop=loop)
    made = response.turns[-1].call
    assert (made.status if made else None, response.stop, response.max_rounds) == (status, stop, 2)
    assert (len(response.turns), len(response.rasters), source.asked) == (2, 2, [])


async def test_a_chat_that_outgrows_its_context_keeps_its_rounds(
    redis: Redis, data: Path, tmp_path: Path, source: CountingSource
) -> None:
    """It ends there, and is no failure; one whose first round is too long is."""
    narrow = ENTRY.model_copy(update={"max_model_len": 400})
    engine = WritingEngine(in_order(zoom(0, 0, 500, 500)), narrow)
    response = await played(redis, data, tmp_path, engine, source)
    assert (response.failure, response.stop) == (None, "context")
    assert 1 < len(response.turns) < 10
    made = response.turns[-1].call
    assert made is not None
    assert made.rasters == (len(response.rasters) - 1,)
    turns = (Turn(parts=(SHOWN, "word " * 1000)),)
    response = await played(redis, data, tmp_path, WritingEngine(in_order("1911"), narrow), source, turns=turns)
    assert response.failure is not None
    assert (response.failure.type, response.stop) == ("ContextExceededError", None)


async def test_a_chat_has_so_many_pictures_and_no_more(
    redis: Redis, data: Path, tmp_path: Path, source: CountingSource
) -> None:
    """One and nine times seven are 64; the tenth call's pictures are not shown."""
    many = LOOP.tools[2].model_copy(update={"parts": ("Seven:", *[THUMB] * 7)})
    loop = LOOP.model_copy(update={"tools": (many,), "max_rounds": 64})
    response = await played(redis, data, tmp_path, WritingEngine(in_order(call("alike"))), source, loop=loop)
    assert (response.stop, len(response.turns), len(response.rasters)) == ("context", 10, 64)


async def test_a_source_that_is_down_is_a_failure_and_no_answer(
    redis: Redis, data: Path, tmp_path: Path, source: CountingSource
) -> None:
    """It may be asked again, and keeps what was answered before; a source that changed may not."""
    source.error = SourceFailedError("it is down")
    text = call("look_up", query="cranes")
    response = await played(redis, data, tmp_path, WritingEngine(in_order(call("alike"), text)), source)
    assert response.failure is not None
    assert (response.failure.type, response.failure.retryable, len(response.turns)) == ("SourceFailedError", True, 2)
    other = LOOK_UP.model_copy(update={"source_version": "another"})
    loop = LOOP.model_copy(update={"tools": (other,)})
    response = await played(redis, data, tmp_path, WritingEngine(in_order(text)), source, loop=loop)
    assert response.failure is not None
    assert (response.failure.type, response.failure.retryable) == ("SourceChangedError", False)


@pytest.mark.parametrize(
    ("query", "says_nothing", "told", "pages"),
    [("起", False, "no 起", 0), ("cranes", True, "cranes is not summed up", 1), ("{result}", True, "no {result}", 0)],
)
async def test_a_search_without_a_text_says_why(
    redis: Redis,
    data: Path,
    tmp_path: Path,
    source: CountingSource,
    *,
    query: str,
    says_nothing: bool,
    told: str,
    pages: int,
) -> None:
    """No page was found, or nothing could be made of those that were; both are answers, and the chat goes on."""
    source.says_nothing = says_nothing
    engine = WritingEngine(in_order(call("look_up", query=query), "1911"))
    response = await played(redis, data, tmp_path, engine, source)
    made = response.turns[0].call
    assert made is not None
    assert (made.status, made.result, len(made.documents)) == ("ok", f"<r>\n{told}\n</r>", pages)
    assert response.stop == "answered"


async def test_a_job_searches_once_for_the_same(
    redis: Redis, data: Path, tmp_path: Path, source: CountingSource
) -> None:
    """Twenty chats at once, and the rounds of each, share one result, which goes with the job."""
    engine = WritingEngine(in_order(call("look_up", query="cranes"), call("look_up", query="cranes"), "1911"))
    source.may_answer.clear()
    job_id = await submit_requests(redis, *(looping(f"r{number}") for number in range(20)))
    async with running_worker(redis, data, tmp_path, lambda: engine, sources=source.sources) as rig:

        async def asked() -> bool:
            return bool(source.asked)

        await async_wait_until(asked, what="the search")
        source.may_answer.set()
        await rig.until_final(job_id)
    assert source.asked == ["cranes"]
    made = [turn.call for response in await responses_of(redis, job_id) for turn in response.turns if turn.call]
    assert len({call.result for call in made}) == 1
    assert sorted(call.cached for call in made) == [False] + [True] * 39
    assert await redis.exists(KEYS.searches(job_id))
    await JobRegistry(redis).delete(job_id)
    assert not await redis.exists(KEYS.searches(job_id))


async def test_later_rounds_go_before_chats_that_begin(
    redis: Redis, data: Path, tmp_path: Path, source: CountingSource
) -> None:
    """Of one picture; the next picture's come behind all of them."""
    engine = WritingEngine(in_order(call("alike"), "1911"))
    await played(redis, data, tmp_path, engine, source)
    assert engine.priorities["r/1"] == engine.priorities["r/0"] - 1
    assert engine.priorities["r/1"] % 2 == 0


async def test_ten_rounds_are_rendered_encoded_and_prefilled_once(redis: Redis, data: Path, tmp_path: Path) -> None:
    """Each raster of nine zooms and of the picture, and each token but for the rest of a block a round."""
    engine = WritingEngine(in_order(*(zoom(100 * n, 0, 100 * n + 100, 500) for n in range(9)), "1911"))
    job_id = await submit_requests(redis, looping("r"))
    async with running_worker(redis, data, tmp_path, lambda: engine) as rig:
        await rig.until_final(job_id)
        stats, renders = await engine.stats(), rig.library.stats().renders
    (response,) = await responses_of(redis, job_id)
    assert len(response.turns) == len(response.rasters) == renders == stats.encoder_runs == 10
    assert_prefilled_once(response.turns, ENTRY.engine["block_size"])
