"""The remote engine against a real HTTP server on this machine, which answers with the simulated engine."""

import asyncio
import base64
import io
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest
from PIL import Image

from gigavqa.catalogue.entry import MIN_ANSWER_TOKENS, CatalogueEntry, Prices, RemoteTerms
from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.requests import Sampling
from gigavqa.workers.engines.engine import EngineDeadError, Message, PromptRaster
from gigavqa.workers.engines.remote.endpoint_settings import RemoteSettings
from gigavqa.workers.engines.remote.engine import RemoteEngine
from gigavqa.workers.engines.remote.error_replies import RequestRefusedError, ServerFailedError
from gigavqa.workers.engines.remote.raster_encoding import RasterEncoder, encode_raster
from gigavqa.workers.engines.remote.rate_limiter import RateLimiter
from gigavqa.workers.settings import WorkerSettings
from tests.waiting import async_wait_until
from tests.workers.examples import ENTRY
from tests.workers.remote_server import Elsewhere, Mood, serving

SAMPLING = Sampling(seed=1, max_tokens=50)


def raster(number: int, height: int = 40, width: int = 30) -> PromptRaster:
    """A raster of noise."""
    pixels = np.random.default_rng(number).integers(0, 255, (height, width, 3), dtype=np.uint8)
    return PromptRaster(f"raster-{number}", pixels)


LARGE = PromptRaster("large", np.full((1024, 1024, 3), 77, dtype=np.uint8))
"""One that is worth sending once."""


def ask_about(*rasters: PromptRaster, text: str = "A. one B. two?") -> list[Message]:
    """A chat of one question about these pictures."""
    return [Message("system", ("Be brief.",)), Message("user", (*rasters, text))]


@asynccontextmanager
async def asking(there: Elsewhere, entry: CatalogueEntry = ENTRY, **settings: Any) -> AsyncIterator[RemoteEngine]:
    """An engine that has met the server."""
    engine = RemoteEngine(entry, RemoteSettings(there.url, **{"backoff_seconds": 0.001, **settings}))
    await engine.start()
    try:
        yield engine
    finally:
        await engine.stop()


async def ask_all(engine: RemoteEngine, chats: Sequence[Sequence[Message]]) -> list[str]:
    """The texts of the answers to chats that are asked at once."""
    turns = [engine.generate(chat, SAMPLING, f"r{number}") for number, chat in enumerate(chats)]
    return [turn.text for turn in await asyncio.gather(*turns)]


async def test_a_chat_is_sent_as_it_is_with_every_pixel() -> None:
    """Texts and pictures in their order, a system text and an answer as texts, pictures lossless."""
    first, second = raster(1), raster(2)
    chat = [
        Message("system", ("Be brief.",)),
        Message("user", (first, second, "Which? ", "A. one B. two")),
        Message("assistant", ("<think>Ü</think>A.",)),
        Message("user", ("Sure?",)),
    ]
    with serving(Elsewhere()) as there:
        async with asking(there) as engine:
            await engine.generate(chat, SAMPLING, "r")
    (body,) = there.chats
    assert [message["role"] for message in body["messages"]] == ["system", "user", "assistant", "user"]
    assert [body["messages"][number]["content"] for number in (0, 2, 3)] == ["Be brief.", "<think>Ü</think>A.", "Sure?"]
    parts = body["messages"][1]["content"]
    assert [part["type"] for part in parts] == ["image_url", "image_url", "text", "text"]
    for part, shown in zip(parts[:2], (first, second), strict=True):
        kind, _, data = part["image_url"]["url"].partition(",")
        assert kind == "data:image/png;base64"
        assert np.array_equal(np.asarray(Image.open(io.BytesIO(base64.b64decode(data)))), shown.pixels)


@pytest.mark.parametrize(
    ("owner", "dialect", "identity"),
    [
        ("vllm", "vllm", "uuid"),
        ("sglang", "sglang", "content_hash"),
        ("nvidia", "dynamo", "uuid"),
        ("organization-owner", "openai", ""),  # Ray Serve's word for all its models
    ],
)
async def test_each_kind_of_server_gets_the_names_of_pictures_that_it_knows(
    owner: str, dialect: str, identity: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A stranger gets none, and no parameter beyond OpenAI's; what is not sent is said, and what to do about it."""
    with serving(Elsewhere(owner=owner)) as there:
        async with asking(there) as engine:
            await engine.generate(ask_about(raster(1)), SAMPLING, "r")
            info = engine.info
    (body,) = there.chats
    part = body["messages"][1]["content"][0]
    named = {name for name in ("uuid", "content_hash") if name in part or name in part["image_url"]}
    assert named == ({identity} if identity else set())
    assert info.remote is not None
    assert (info.name, info.remote.dialect, info.remote.pictures) == ("remote", dialect, "png")
    assert info.remote.not_sent == (("repetition_penalty", "top_k") if dialect == "openai" else ())
    assert ("top_k" in body) == (dialect != "openai")
    said = "is not sent repetition_penalty and top_k; where vLLM answers, say GIGAVQA_WORKER_REMOTE_DIALECT=vllm"
    assert (said in caplog.text) == (dialect == "openai")
    assert body["seed"] == 1


async def test_what_ends_a_turn_is_told_as_tokens_where_the_server_tells_them() -> None:
    """A mark that is no token of the vocabulary ends nothing; a server that tells no tokens gets the marks' texts."""
    vocabulary = {"<|im_end|>": [7], "<|endoftext|>": [1, 2, 3]}
    for told, sent in ((vocabulary, ([7], None)), (None, (None, ["<|im_end|>", "<|endoftext|>"]))):
        with serving(Elsewhere(vocabulary=told)) as there:
            async with asking(there) as engine:
                await engine.generate(ask_about(text="What?"), SAMPLING, "r")
        assert (there.chats[0].get("stop_token_ids"), there.chats[0].get("stop")) == sent


async def test_a_large_picture_is_encoded_and_sent_once() -> None:
    """However many requests show it at once: a server that keeps pictures is sent its name after that."""
    with serving(Elsewhere()) as there:
        async with asking(there) as engine:
            await ask_all(engine, [ask_about(LARGE, text=f"Question {number}?") for number in range(8)])
            stats = await engine.stats()
    assert there.uploads == 1
    assert (stats.processed_rasters, stats.primers) == (1, 1)
    assert len(there.chats) == 9


async def test_a_picture_that_the_server_has_lost_is_sent_again_once() -> None:
    """Another process at the same address knows none: the first to notice brings it back for all."""
    with serving(Elsewhere()) as there:
        async with asking(there) as engine:
            await engine.generate(ask_about(LARGE), SAMPLING, "before")
            there.pictures.clear()
            texts = await ask_all(engine, [ask_about(LARGE)] * 4)
            stats = await engine.stats()
    assert len(texts) == 4
    assert there.uploads == 2
    assert stats.primers == 2


async def test_a_server_that_never_keeps_pictures_is_sent_them() -> None:
    """Behind a router that goes round its servers names are worth nothing, and soon they are hardly tried."""
    with serving(Elsewhere()) as there:
        async with asking(there) as engine:
            for number in range(20):
                there.pictures.clear()
                await engine.generate(ask_about(LARGE), SAMPLING, f"r{number}")
            tried = len(there.chats)
            for number in range(5):
                there.pictures.clear()
                await engine.generate(ask_about(LARGE), SAMPLING, f"s{number}")
    assert len(there.chats) < tried + 2 * 5  # three each, were names tried every time


@pytest.mark.parametrize(
    "mood",
    [
        Mood(429, {"error": {"message": "slow down", "type": "rate_limit"}}, {"retry-after-ms": "1"}),
        Mood(429, "request evicted by flow control", {"retry-after": "0"}),
        Mood(503, {"message": "no instance is ready", "type": "unavailable", "code": 503}),
        Mood(529, {"error": {"message": "overloaded", "type": "overloaded_error"}}),
        Mood(500, "Internal Server Error"),
        Mood(404, {"error": {"message": "the model is being loaded"}}),
        Mood(200, {"error": {"message": "upstream is away", "code": 502}}),
        Mood(200, {"choices": [{"message": {"content": "half"}, "finish_reason": "abort"}]}),
        Mood(200, "<html>a gateway's page</html>"),
        Mood(drops=True),
    ],
    ids=lambda mood: f"{mood.status} {'cut' if mood.drops else str(mood.body)[:24]}",
)
async def test_what_is_over_soon_is_waited_for(mood: Mood) -> None:
    """The request is sent again, and its answer is the only one; retries are counted."""
    with serving(Elsewhere(moods=[mood, mood])) as there:
        async with asking(there) as engine:
            turn = await engine.generate(ask_about(raster(1)), SAMPLING, "r")
            stats = await engine.stats()
            assert await engine.healthy()
    assert turn.text.startswith("The answer is")
    assert (stats.retries, len(there.chats)) == (2, 3)


async def test_a_server_that_is_gone_is_waited_for_and_is_said_to_be_away() -> None:
    """Not healthy, with a phase that says why, and requests that wait; then it is there again, and all are answered."""
    with serving(Elsewhere()) as there:
        engine = RemoteEngine(ENTRY, RemoteSettings(there.url, backoff_seconds=0.01))
        await engine.start()
    port = int(there.url.split(":")[2].split("/")[0])
    asked = asyncio.ensure_future(ask_all(engine, [ask_about(raster(number)) for number in range(5)]))

    async def all_wait() -> bool:
        return (await engine.stats()).waiting == 5 and not await engine.healthy()

    await async_wait_until(all_wait)
    assert engine.phase and there.url in engine.phase.name
    with serving(Elsewhere(), port):
        assert len(await asked) == 5
    assert await engine.healthy()
    assert engine.phase is None
    await engine.stop()


async def test_a_request_that_the_server_fails_at_is_given_up() -> None:
    """After sixteen times, as a failure that may be asked again; while others are answered, and when it is the last."""
    with serving(Elsewhere(poison="poison")) as there:
        async with asking(there, backoff_seconds=1e-6) as engine:
            asked = asyncio.ensure_future(engine.generate(ask_about(text="poison"), SAMPLING, "poison"))
            while not asked.done():
                await engine.generate(ask_about(text="fine"), SAMPLING, "other")
            with pytest.raises(ServerFailedError, match="16 times: 500: CUDA error") as failed:
                await asked
            there.chats.clear()
            with pytest.raises(ServerFailedError, match="16 times: 500: CUDA error"):
                await engine.generate(ask_about(text="poison"), SAMPLING, "last")
            assert len(there.chats) == 16
    assert failed.value.is_retryable


async def test_while_the_server_answers_nobody_nothing_counts() -> None:
    """Nor does it list its models: the request is asked for as long as that lasts, and then is answered."""
    with serving(Elsewhere()) as there:
        async with asking(there, backoff_seconds=1e-6, most_asks=2) as engine:
            there.is_broken = True
            asked = asyncio.ensure_future(engine.generate(ask_about(raster(1)), SAMPLING, "patient"))

            async def was_asked_often() -> bool:
                return len(there.chats) > 3

            await async_wait_until(was_asked_often)
            assert engine.phase and "503: no GPU" in engine.phase.name
            there.is_broken = False
            assert (await asked).text.startswith("The answer is")


async def test_usage_and_cost_are_kept_and_so_is_what_answered() -> None:
    """Cached tokens cost less; the snapshot that a vendor names stands with the text."""
    terms = RemoteTerms(prices=Prices(prompt=2.0, cached=0.5, completion=8.0))
    usage = {
        "prompt_tokens": 1000,
        "completion_tokens": 100,
        "prompt_tokens_details": {"cached_tokens": 400, "multimodal_tokens": {"image": 256}},
        "completion_tokens_details": {"reasoning_tokens": 64},
    }
    choice = {"message": {"content": "B", "reasoning": "Hm."}, "finish_reason": "stop"}
    answer = {"model": "gpt-x-2026-01-01", "system_fingerprint": "fp", "choices": [choice], "usage": usage}
    with serving(Elsewhere(moods=[Mood(body=answer)])) as there:
        async with asking(there, ENTRY.model_copy(update={"remote": terms})) as engine:
            turn = await engine.generate(ask_about(raster(1)), SAMPLING, "r")
    assert turn.text == "<think>Hm.</think>B"
    assert turn.served_as == "gpt-x-2026-01-01 fp"
    assert (turn.usage.cached_tokens, turn.usage.reasoning_tokens, turn.usage.visual_tokens) == (400, 64, (256,))
    assert turn.usage.dollars == pytest.approx((600 * 2 + 400 * 0.5 + 100 * 8) / 1e6)


async def test_parameters_that_a_model_refuses_are_not_sent_and_that_is_recorded() -> None:
    """As for reasoning models: no temperature, and another name for the bound of an answer."""
    entry = load_catalogue()["gpt-5.5"]
    with serving(Elsewhere(owner="openai", model="gpt-5.5")) as there:
        async with asking(there, entry) as engine:
            await engine.generate(ask_about(raster(1)), SAMPLING, "r")
            remote = engine.info.remote
    (body,) = there.chats
    assert {"temperature", "top_p", "top_k", "seed", "max_tokens"} & set(body) == set()
    assert body["max_completion_tokens"] == 50
    assert body["messages"][1]["content"][0]["image_url"]["detail"] == "original"
    assert remote and remote.detail == "original"
    assert remote.not_sent == ("presence_penalty", "repetition_penalty", "seed", "temperature", "top_k", "top_p")


async def test_an_answer_is_bounded_by_what_its_own_prompt_leaves_of_the_context() -> None:
    """vLLM does so itself where no limit is sent; another server is sent what is surely left."""
    context = ENTRY.max_model_len
    long, short = ask_about(text="word " * 2000), ask_about(text="What?")
    for owner in ("vllm", "somebody"):
        with serving(Elsewhere(owner=owner)) as there:
            async with asking(there) as engine:
                for chat, most in ((short, 512), (short, context), (long, context)):
                    await engine.generate(chat, Sampling(max_tokens=most), "r")
        fits, *bounded = (body.get("max_tokens") for body in there.chats)
        assert fits == 512
        if owner == "vllm":
            assert bounded == [None, None]
        else:
            assert MIN_ANSWER_TOKENS <= bounded[1] < context - 2000 < bounded[0] < context


async def test_what_a_response_is_made_with_is_recorded() -> None:
    """The visual budget, the template's arguments where the server takes them, and what else is sent."""
    terms = RemoteTerms(extra={"reasoning_effort": "low"})
    entry = ENTRY.model_copy(update={"chat_template": {"enable_thinking": True}, "remote": terms})
    for owner, template in (("vllm", {"enable_thinking": True}), ("somebody", None)):
        with serving(Elsewhere(owner=owner)) as there:
            async with asking(there, entry) as engine:
                info = engine.info
        assert (info.chat_template, info.budget) == (template, str(ENTRY.visual_budget))
        assert info.remote and info.remote.extra == {"reasoning_effort": "low"}


@pytest.mark.parametrize(("status", "key"), [(401, None), (403, "k" * 20)])
async def test_a_server_that_refuses_the_key_is_waited_for_with_a_sentence(status: int, key: str | None) -> None:
    """It names the variable, and never the key, which the server repeats; when the key is taken again, all goes on."""
    with serving(Elsewhere()) as there:
        async with asking(there, key=key, key_name="MY_KEY", backoff_seconds=0.01) as engine:
            there.refuses = status
            asked = asyncio.ensure_future(engine.generate(ask_about(raster(1)), SAMPLING, "r"))

            async def waits() -> bool:
                return engine.phase is not None

            await async_wait_until(waits)
            assert engine.phase
            wanted = "the key in MY_KEY; start" if key else "requests without a key: --api-key-env names one"
            assert engine.phase.name.startswith(f"waits: key refused ({status}); {there.url} does not take {wanted}")
            assert len(there.chats) == 1
            there.refuses = None
            assert (await asked).text.startswith("The answer is")
            assert engine.phase is None


@pytest.mark.parametrize("status", [401, 402, 403])
async def test_one_request_that_is_refused_is_a_failure_of_its_own(status: int) -> None:
    """The list of models takes the key: others are asked as ever, and this one once."""
    mood = Mood(status, {"error": {"message": "This input was flagged"}})
    with serving(Elsewhere(moods=[mood])) as there:
        async with asking(there) as engine:
            with pytest.raises(RequestRefusedError, match=f"{status}: This input was flagged"):
                await engine.generate(ask_about(text="?"), SAMPLING, "flagged")
            assert engine.phase is None
            await engine.generate(ask_about(text="?"), SAMPLING, "other")
    assert len(there.chats) == 2


async def test_a_server_without_the_model_says_what_it_has() -> None:
    """At the start, with the argument that helps; and with that argument it is asked under its own name."""
    with serving(Elsewhere(model="Qwen/demo")) as there:
        with pytest.raises(EngineDeadError, match=r"lists Qwen/demo: say --remote-model NAME"):
            async with asking(there):
                pass
        async with asking(there, name="Qwen/demo") as engine:
            await engine.generate(ask_about(raster(1)), SAMPLING, "r")
    assert there.chats[0]["model"] == "Qwen/demo"


async def test_a_server_that_lists_nothing_yet_is_waited_for() -> None:
    """As Dynamo does before its workers are there; the phase says so."""
    with serving(Elsewhere(lists=False)) as there:
        engine = RemoteEngine(ENTRY, RemoteSettings(there.url, backoff_seconds=0.01))
        starting = asyncio.ensure_future(engine.start())

        async def waits() -> bool:
            return bool(engine.phase and "lists no model yet" in engine.phase.name)

        await async_wait_until(waits)
        there.lists = True
        await starting
        await engine.stop()


async def test_jpegs_are_of_the_quality_and_chroma_that_are_said() -> None:
    """And another file of the same raster has another name wherever files are kept by name."""
    shown = raster(1, 64, 64)
    fine, coarse = encode_raster(shown, "jpeg:95:444"), encode_raster(shown, "jpeg:95:420")
    sampling = [
        Image.open(io.BytesIO(base64.b64decode(each.url.partition(b",")[2]))).layer[0][1:3] for each in (fine, coarse)
    ]
    assert sampling == [(1, 1), (2, 2)]
    assert len({RasterEncoder(kind).name("k") for kind in ("jpeg:95:444", "jpeg:95:420", "png")}) == 3
    pictures = RasterEncoder("jpeg:95:444")
    first, again = await asyncio.gather(pictures.of(ask_about(shown)), pictures.of(ask_about(shown)))
    pictures.close()
    assert first == again == {shown.key: fine}
    assert pictures.encoded == 1


@pytest.mark.parametrize(
    ("endpoint", "dialect", "headers"),
    [
        ("https://api.openai.com/v1", "openai", {"authorization"}),
        ("https://api.anthropic.com/v1", "anthropic", {"authorization", "x-api-key", "anthropic-version"}),
        ("https://generativelanguage.googleapis.com/v1beta/openai", "google", {"authorization"}),
    ],
)
def test_vendors_are_known_by_their_addresses(endpoint: str, dialect: str, headers: set[str]) -> None:
    """And get the headers that their lists of models want; nobody else gets those."""
    settings = RemoteSettings(endpoint, key="k")
    assert settings.known_dialect is not None
    assert (settings.known_dialect.name, set(settings.headers)) == (dialect, headers)
    assert set(RemoteSettings("http://127.0.0.1:1/v1", key="k").headers) == {"authorization"}


def test_an_endpoint_of_azure_keeps_its_version_and_gets_its_own_header() -> None:
    """The query belongs to every address, and a key is no bearer's token there."""
    settings = WorkerSettings(endpoint="https://me.openai.azure.com/openai/deployments/d/?api-version=2024-10-21")
    asked = RemoteSettings(str(settings.endpoint), key="k")
    root = "https://me.openai.azure.com/openai/deployments/d"
    assert asked.url("/chat/completions") == f"{root}/chat/completions?api-version=2024-10-21"
    assert asked.headers == {"api-key": "k"}


async def test_a_model_that_is_gone_is_waited_for_with_a_sentence() -> None:
    """The server says so and lists it no more; when it is back, what waited is answered."""
    gone = Mood(404, {"error": {"message": "The model does not exist", "code": "model_not_found"}})
    with serving(Elsewhere(moods=[gone])) as there:
        async with asking(there, backoff_seconds=0.01) as engine:
            there.lists = False
            asked = asyncio.ensure_future(engine.generate(ask_about(text="?"), SAMPLING, "r"))

            async def waits() -> bool:
                return engine.phase is not None

            await async_wait_until(waits)
            assert engine.phase
            assert engine.phase.name == f"waits: model gone (404); {there.url} lists {ENTRY.id} no more"
            there.lists = True
            assert (await asked).text.startswith("The answer is")
    assert len(there.chats) == 2


def test_rates_spread_what_is_taken_and_make_up_for_what_was_guessed() -> None:
    """Sixty a minute is one a second; idleness is worth five of them; more than was thought delays the next."""
    rate = RateLimiter(60, since=0.0)
    assert [rate.due(1, now=0.0) for _ in range(3)] == [0.0, 1.0, 2.0]
    assert [rate.due(1, now=100.0) for _ in range(7)] == [0, 0, 0, 0, 0, 0, 1]
    rate.correct(10)
    assert rate.due(1, now=100.0) == 12.0
