"""Chats on the real engine, through OpenAI's client: the texts that the engine writes in process."""

import asyncio
import importlib.util
import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest

from jobs.models import Sampling, TurnResponse
from jobs.server import start_server
from tests.checkpoints.build import ensure_checkpoint
from tests.service.datasets import NAME, write_town
from tests.service.gateways import MODEL, RunningGateway, running, settings_of
from tests.service.openai.pictures import asking
from tests.service.openai.workers import ENTRY, RunningWorker, working
from tests.waiting import wait_until
from tiling.rendering import render
from tiling.views import View
from workers.engines.engine import Message, PromptRaster
from workers.engines.vllm_arguments import parse_engine_arguments
from workers.engines.vllm_engine import VllmEngine

pytestmark = [
    pytest.mark.engine,
    pytest.mark.timeout(300),
    pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vllm is not installed"),
]
IMAGE = f"{NAME}/images/plaza-1.png"
SHOWN = f"gigavqa:{IMAGE}"
TEXT = "Which quadrant holds more people?"
COMPACT = 'structured_outputs_config={"backend": "xgrammar", "disable_any_whitespace": true}'
"""What an operator may add: without it, random weights fill the room between the fields of an object with spaces."""


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
        sampling = Sampling(**{**ENTRY.decoding.model_dump(), "temperature": 0.0, "max_tokens": 24})
        (engine,) = self._worker.engines
        asked = engine.generate([Message("user", parts)], sampling, f"alone-{image}")
        return asyncio.run_coroutine_threadsafe(asked, self._worker.loop).result(timeout=120)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One engine for all tests of this file."""
    home = tmp_path_factory.mktemp("home")
    checkpoint = ensure_checkpoint(ENTRY.weights, home / "checkpoints")
    server = start_server(home / "server")
    settings = settings_of(home, server.url)
    write_town(settings.data)
    compact = ENTRY.model_copy(update={"engine": {**ENTRY.engine, **parse_engine_arguments([COMPACT])}})
    with running(settings) as gateway, working(settings, lambda: VllmEngine(compact, str(checkpoint))) as worker:
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
    assert sum(bool(piece) for piece in pieces) > 4


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
    """Each of several draws, as a client that reads JSON takes it: every field there, of its kind and in its bounds."""
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
    """A chat beyond the context, and a grammar that is none."""
    with pytest.raises(openai.BadRequestError) as raised:
        served.client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": "word " * 20_000}])
    assert raised.value.code == "context_length_exceeded"
    with pytest.raises(openai.BadRequestError):
        served.ask(extra_body={"structured_outputs": {"regex": "(("}})
