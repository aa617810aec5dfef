"""Chats on the real engine, through OpenAI's client: the texts that the engine writes in process."""

import asyncio
import importlib.util
import io
import json
from collections.abc import Coroutine, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import openai
import pytest
from PIL import Image

from gigavqa.contract.requests import Sampling
from gigavqa.contract.responses import TurnResponse
from gigavqa.runtime.embedded_store import start_store
from gigavqa.tiling.renderer import Renderer
from gigavqa.tiling.rendering import render
from gigavqa.tiling.roots import ImageRoot
from gigavqa.tiling.views import View
from gigavqa.workers.engines.engine import Engine, Message, PromptRaster
from gigavqa.workers.engines.vllm.engine import VllmEngine
from gigavqa.workers.preparation import RasterPreparation
from tests.checkpoints.build import ensure_checkpoint
from tests.service.datasets import NAME, write_town
from tests.service.gateways import MODEL, RunningGateway, running, settings_of
from tests.service.openai.pictures import asking, data_url
from tests.service.openai.workers import ENTRY, RunningWorker, working
from tests.waiting import wait_until
from tests.workers.examples import draw_images
from tests.workers.tool_chats import in_order, looping, rounds_of, zoom

Result = TypeVar("Result")
pytestmark = [
    pytest.mark.engine,
    pytest.mark.timeout(300),
    pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vllm is not installed"),
]
IMAGE = f"{NAME}/images/plaza-1.png"
SHOWN = f"gigavqa:{IMAGE}"
TEXT = "Which quadrant holds more people?"

GREEDY = Sampling(**{**ENTRY.decoding.model_dump(), "temperature": 0.0, "max_tokens": 16})
LOOKS = (*(zoom(100 * number, 0, 100 * number + 100, 500) for number in range(9)), "1911")
"""What is said for the model in each round: random weights would never look closer."""
Counts = tuple[int, int, int]
"""Rasters that were rendered, made ready for the vision encoder, and encoded."""


class Round(NamedTuple):
    """What the model itself wrote in a round, and the tokens that it was told in."""

    text: str
    prompt_tokens: int
    cached_tokens: int


class Served:
    """A gateway, its worker with the engine, and OpenAI's client."""

    def __init__(self, gateway: RunningGateway, worker: RunningWorker) -> None:
        self.data = gateway.settings.data
        self.client = openai.OpenAI(base_url=f"{gateway.url}/v1", api_key="none", max_retries=0, timeout=120)
        self._worker = worker

    def ask(self, *urls: str, **asked: Any) -> Any:
        """Ask a chat."""
        given = {"temperature": 0, "max_tokens": 24, **asked}
        return self.client.chat.completions.create(model=MODEL, messages=asking(*urls, text=TEXT), **given)

    def in_process(self, image: str | None) -> TurnResponse:
        """What the same engine answers to the same chat when it is asked by itself."""
        parts: tuple[str | PromptRaster, ...] = (TEXT,)
        if image:
            raster = render(self.data / image, View(image=image), ENTRY.visual_budget)
            parts = (PromptRaster(raster.key, raster.pixels), TEXT)
        sampling = GREEDY.model_copy(update={"max_tokens": 24})
        asked = self._engine.generate([Message("user", parts)], sampling, f"alone-{image}")
        return self._await(asked)

    def in_a_loop(self, folder: Path) -> tuple[list[Round], Sequence[Message], Counts]:
        """Ten rounds on the same engine, as a job's request plays them: each round, the last chat, and the work."""
        before = self._work()
        rounds, chat, renders = self._await(self._loop(folder))
        return rounds, chat, (renders, *_less(self._work(), before)[1:])

    def as_a_client(self, chat: Sequence[Message]) -> tuple[list[Round], Counts]:
        """The same chat asked round by round, each time with all that was said and shown: each round, and the work."""
        before, rounds, said = self._work(), [], [_as_sent(message) for message in chat]
        ends = [at for at, message in enumerate(chat) if message.role == "assistant"] + [len(chat)]
        for end in ends:
            body = {"temperature": 0, "max_tokens": GREEDY.max_tokens}
            answer = self.client.chat.completions.create(model=MODEL, messages=said[:end], **body)
            usage, text = answer.usage, answer.choices[0].message.content
            rounds.append(Round(text, usage.prompt_tokens, usage.prompt_tokens_details.cached_tokens))
        return rounds, _less(self._work(), before)

    async def _loop(self, folder: Path) -> tuple[list[Round], Sequence[Message], int]:
        library = Renderer(ImageRoot(draw_images(folder / "data")), folder / "pyramids", 2**26)
        preparation = RasterPreparation(library, ENTRY.visual_budget, limit_bytes=2**28, threads=1)
        rounds, chats, written = list[Round](), list[Sequence[Message]](), in_order(*LOOKS)

        async def generate(chat: Sequence[Message], sampling: Sampling, turn_id: str) -> TurnResponse:
            answer = await self._engine.generate(chat, sampling, turn_id)
            chats.append(chat)
            rounds.append(Round(answer.text, answer.usage.prompt_tokens, answer.usage.cached_tokens))
            return answer.model_copy(update={"text": written(chat)})

        request = looping("twin", sampling=GREEDY)
        async with preparation.rasters(request.views) as prepared:
            await rounds_of(request, prepared, preparation, generate).play()
        preparation.close()
        return rounds, chats[-1], library.stats().renders

    @property
    def _engine(self) -> Engine:
        (engine,) = self._worker.engines
        return engine

    def _work(self) -> Counts:
        stats = self._await(self._engine.stats())
        return self._worker.renders, stats.processed_rasters, stats.encoder_runs

    def _await(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(coroutine, self._worker.loop).result(timeout=240)


def _less(after: Counts, before: Counts) -> Counts:
    return (after[0] - before[0], after[1] - before[1], after[2] - before[2])


def _as_sent(message: Message) -> dict[str, Any]:
    """A message as a client sends it, its pictures as PNG."""
    parts = [
        {"type": "text", "text": part}
        if isinstance(part, str)
        else {"type": "image_url", "image_url": {"url": data_url(_png(part))}}
        for part in message.parts
    ]
    return {"role": message.role, "content": message.text if message.role != "user" else parts}


def _png(raster: PromptRaster) -> bytes:
    file = io.BytesIO()
    Image.fromarray(raster.pixels).save(file, "png")
    return file.getvalue()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One engine for all tests of this file."""
    home = tmp_path_factory.mktemp("home")
    checkpoint = ensure_checkpoint(ENTRY.weights, home / "checkpoints")
    server = start_store(home / "server")
    settings = settings_of(home, server.url)
    write_town(settings.data)
    with running(settings) as gateway, working(settings, lambda: VllmEngine(ENTRY, str(checkpoint))) as worker:
        loaded = lambda: gateway.client.get(f"/v1/models/{MODEL}").json()["loaded"] == 1  # noqa: E731
        wait_until(loaded, timeout=240, what="the engine's start")
        yield Served(gateway, worker)
    server.stop()


@pytest.mark.parametrize("image", [None, IMAGE])
def test_a_chat_is_answered_with_what_the_engine_writes_in_process(served: Served, image: str | None) -> None:
    """The same text and tokens, whole and streamed, and the pieces of the stream are the whole."""
    alone = served.in_process(image)
    urls = [SHOWN] if image else []
    whole = served.ask(*urls)
    assert whole.choices[0].message.content == alone.text
    assert whole.choices[0].finish_reason == alone.finish_reason == "length"
    assert whole.usage.prompt_tokens == alone.usage.prompt_tokens
    assert whole.usage.completion_tokens == 24
    chunks = list(served.ask(*urls, stream=True))
    pieces = [chunk.choices[0].delta.content or "" for chunk in chunks]
    assert "".join(pieces) == alone.text
    assert sum(bool(piece) for piece in pieces) > 1


def test_draws_of_a_seed_are_the_same_streamed_and_whole(served: Served) -> None:
    """Several answers at once are told apart, and each is its own."""
    asked = {"temperature": 1.0, "seed": 5, "n": 3}
    whole = served.ask(SHOWN, **asked)
    texts = ["", "", ""]
    for chunk in served.ask(SHOWN, stream=True, **asked):
        texts[chunk.choices[0].index] += chunk.choices[0].delta.content or ""
    assert texts == [choice.message.content for choice in whole.choices]
    assert len(set(texts)) == 3


def test_a_stop_ends_the_text_and_is_not_told(served: Served) -> None:
    """Streamed and whole; tokens behind it are not generated."""
    text = served.ask().choices[0].message.content
    stop = text[6:9]
    cut = text[: text.index(stop)]
    whole = served.ask(stop=[stop])
    assert (whole.choices[0].message.content, whole.choices[0].finish_reason) == (cut, "stop")
    assert whole.usage.completion_tokens < 24
    assert "".join(c.choices[0].delta.content or "" for c in served.ask(stop=stop, stream=True)) == cut


def test_logprobs_are_those_of_the_tokens(served: Served) -> None:
    """One for each token, the likeliest first, which greedy decoding takes; streamed as when whole."""
    choice = served.ask(logprobs=True, top_logprobs=3, max_tokens=6).choices[0]
    told = choice.logprobs.content
    assert len(told) == 6
    for each in told:
        assert len(each.top_logprobs) == 3
        assert each.logprob == each.top_logprobs[0].logprob <= 0
        assert each.top_logprobs[0].logprob >= each.top_logprobs[2].logprob
    streamed: list[Any] = []
    for chunk in served.ask(logprobs=True, top_logprobs=3, max_tokens=6, stream=True):
        if chunk.choices[0].logprobs:
            streamed += chunk.choices[0].logprobs.content
    assert [each.token for each in streamed] == [each.token for each in told]


def test_an_answer_keeps_to_a_schema(served: Served) -> None:
    """Random weights write nothing else, since nothing else is allowed."""
    schema = {"enum": ["upper left", "lower right"]}
    wanted = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
    answer = served.ask(SHOWN, response_format=wanted, max_tokens=200)
    assert json.loads(answer.choices[0].message.content) in schema["enum"]
    assert answer.choices[0].finish_reason == "stop"
    chosen = served.ask(SHOWN, extra_body={"structured_outputs": {"choice": ["left", "right"]}})
    assert chosen.choices[0].message.content in ("left", "right")


def test_an_object_has_the_fields_of_its_schema(served: Served) -> None:
    """Each of several draws, as a client that reads JSON takes it: every field there, of its kind and in its bounds.

    Random weights would fill the room between the fields with spaces, if they were let.
    """
    fields = {
        "count": {"type": "integer", "minimum": 0, "maximum": 99},
        "where": {"enum": ["upper left", "lower right"]},
        "sure": {"type": "boolean"},
    }
    schema = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
    wanted = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": True}}
    answer = served.ask(SHOWN, response_format=wanted, max_tokens=200, temperature=1.0, seed=1, n=3)
    assert len(answer.choices) == 3
    for choice in answer.choices:
        assert choice.finish_reason == "stop"
        told = json.loads(choice.message.content)
        assert list(told) == list(fields)
        assert type(told["count"]) is int and 0 <= told["count"] <= 99
        assert told["where"] in fields["where"]["enum"] and type(told["sure"]) is bool


def test_what_the_engine_refuses_is_the_client_s_to_mend(served: Served) -> None:
    """A chat beyond the context, a grammar that is none, and a schema that would not be kept to."""
    with pytest.raises(openai.BadRequestError) as raised:
        served.client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": "word " * 20_000}])
    assert raised.value.code == "context_length_exceeded"
    with pytest.raises(openai.BadRequestError):
        served.ask(extra_body={"structured_outputs": {"regex": "(("}})
    with pytest.raises(openai.BadRequestError):
        served.ask(extra_body={"structured_outputs": {"json": {"type": "integer", "multipleOf": 5}}})


def test_a_chat_that_resends_its_pictures_costs_what_a_loop_costs(served: Served, tmp_path: Path) -> None:
    """Ten rounds with nine zooms: the same texts and tokens, and each raster rendered, made ready and encoded once.

    Of all prompts together no more is prefilled than the last one has, and a block a round.
    """
    looped, chat, in_loop = served.in_a_loop(tmp_path)
    asked, by_client = served.as_a_client(chat)
    assert in_loop == by_client == (10, 10, 10)
    assert [(each.text, each.prompt_tokens) for each in asked] == [(each.text, each.prompt_tokens) for each in looped]
    assert len(asked) == len(LOOKS) == 10
    for rounds in (looped, asked):
        prefilled = sum(each.prompt_tokens - each.cached_tokens for each in rounds)
        assert prefilled <= rounds[-1].prompt_tokens + ENTRY.engine["block_size"] * len(rounds)
