"""Tools of chats through OpenAI's own client: called by structured output, or as a model of Qwen's writes calls."""

import json
from typing import Any

import openai
import pytest

from gigavqa.service.settings import GatewaySettings
from gigavqa.workers.engines.engine import Message
from gigavqa.workers.engines.simulation.answers import AnswerScript
from gigavqa.workers.engines.simulation.engine import SimulatedEngine
from tests.service.gateways import MODEL, RunningGateway, openai_error_of
from tests.service.openai.conftest import wait_for_worker
from tests.service.openai.workers import ENTRY, RunningWorker, working

MESSAGES: list[Any] = [{"role": "user", "content": "What is the weather in Bern?"}]
PLACE = {"$ref": "#/$defs/Place"}
SCHEMA = {
    "type": "object",
    "properties": {"place": PLACE, "days": {"type": "integer", "minimum": 1}},
    "required": ["place", "days"],
    "$defs": {"Place": {"type": "string", "enum": ["Bern", "Chur"]}},
}
TOOLS: list[Any] = [
    {"type": "function", "function": {"name": "weather", "description": "Tell it.", "parameters": SCHEMA}},
    {"type": "function", "function": {"name": "now"}},
]
NAMED: Any = {"type": "function", "function": {"name": "now"}}
CALL = '<tool_call>\n{"name": "weather", "arguments": {"place": "Bern", "days": 2}}\n</tool_call>'


class Listening(AnswerScript):
    """A script that keeps the chats that it answered."""

    def __init__(self, *answers: str) -> None:
        super().__init__([answers])
        self.heard: list[list[Message]] = []

    def write(self, chat: Any) -> str:
        """Answer the chat, and keep it."""
        self.heard.append(list(chat))
        return super().write(chat)


def calls_of(client: openai.OpenAI, *, stream: bool, **asked: Any) -> tuple[str, list[tuple[str, Any]], str]:
    """Text, calls and reason of the answer, whole or put together of its chunks."""
    body = {"model": MODEL, "messages": MESSAGES, "tools": TOOLS, "max_tokens": 200, **asked}
    if not stream:
        choice = client.chat.completions.create(**body).choices[0]
        calls = choice.message.tool_calls or []
    else:
        with client.chat.completions.stream(**body) as chunks:
            choice = chunks.get_final_completion().choices[0]
        calls = choice.message.tool_calls or []
    assert len({call.id for call in calls}) == len(calls)
    told = [(call.function.name, json.loads(call.function.arguments)) for call in calls]
    return choice.message.content or "", told, choice.finish_reason


@pytest.mark.parametrize("stream", [False, True])
def test_required_tools_are_called(client: openai.OpenAI, worker: RunningWorker, stream: bool) -> None:
    """The engine is held to one of the tools, references of its schema included."""
    answer = calls_of(client, stream=stream, tool_choice="required")
    assert answer == ("", [("weather", {"place": "Bern", "days": 1})], "tool_calls")


@pytest.mark.parametrize("stream", [False, True])
def test_a_named_tool_is_called(client: openai.OpenAI, worker: RunningWorker, stream: bool) -> None:
    """The engine is held to its arguments; one without parameters has none. A form of texts holds no call."""
    for asked in ({}, {"response_format": {"type": "json_object"}}):
        assert calls_of(client, stream=stream, tool_choice=NAMED, **asked) == ("", [("now", {})], "tool_calls")


def test_a_call_that_is_cut_off_is_text(client: openai.OpenAI, worker: RunningWorker) -> None:
    """Half a call is none, and nothing of it is lost."""
    text, calls, reason = calls_of(client, stream=False, tool_choice="required", max_tokens=2)
    assert (text[:1], calls, reason) == ("{", [], "length")


@pytest.mark.parametrize(
    ("written", "told"),
    [
        (f"I look.\n{CALL}\n{CALL}", ("I look.", [("weather", {"place": "Bern", "days": 2})] * 2, "tool_calls")),
        (CALL, ("", [("weather", {"place": "Bern", "days": 2})], "tool_calls")),
        ("It rains <tool", ("It rains <tool", [], "stop")),
        ("<tool_call>rain</tool_call>", ("<tool_call>rain</tool_call>", [], "stop")),
        (f"<think>{CALL}</think>\nNo.", (f"<think>{CALL}</think>\nNo.", [], "stop")),
    ],
)
def test_calls_of_the_models_choice_are_read(
    client: openai.OpenAI, gateway: RunningGateway, settings: GatewaySettings, written: str, told: Any
) -> None:
    """Those between marks behind the thought; all else is text, streamed or not."""
    with working(settings, lambda: SimulatedEngine(ENTRY, speed=0, script=AnswerScript([[written]]))):
        wait_for_worker(gateway)
        assert calls_of(client, stream=False) == told
        assert calls_of(client, stream=True) == told


def test_calls_and_results_are_written_as_qwen_s_template_writes_them(
    client: openai.OpenAI, gateway: RunningGateway, settings: GatewaySettings
) -> None:
    """The model sees the tools behind the system's message, its own calls between marks, and results in one message."""
    script = Listening("x")
    call = {"id": "a", "type": "function", "function": {"name": "weather", "arguments": '{"place":"Bern"}'}}
    history = [
        {"role": "system", "content": "Be brief."},
        *MESSAGES,
        {"role": "assistant", "content": None, "tool_calls": [call, {**call, "id": "b"}]},
        {"role": "tool", "tool_call_id": "a", "content": "Rain"},
        {"role": "tool", "tool_call_id": "b", "content": "Sun"},
    ]
    with working(settings, lambda: SimulatedEngine(ENTRY, speed=0, script=script)):
        wait_for_worker(gateway)
        calls_of(client, stream=False, messages=history)
    system, _, assistant, results = script.heard[0]
    signatures = "\n".join(json.dumps(tool) for tool in TOOLS)
    assert system.text.startswith("Be brief.\n\n# Tools\n\n")
    assert f"<tools>\n{signatures}\n</tools>\n\nFor each function call" in system.text
    written = '<tool_call>\n{"name": "weather", "arguments": {"place": "Bern"}}\n</tool_call>'
    assert assistant.text == f"{written}\n{written}"
    told = "<tool_response>\nRain\n</tool_response>\n<tool_response>\nSun\n</tool_response>"
    assert (results.role, results.text) == ("user", told)


@pytest.mark.parametrize(
    ("asked", "param", "told"),
    [
        ({"tool_choice": "any"}, "tool_choice", "say none, auto, required"),
        ({"tool_choice": {"type": "function", "function": {"name": "x"}}}, "tool_choice", "there are weather, now"),
        ({"tools": [], "tool_choice": "required"}, "tool_choice", "there are no tools"),
        ({"tools": [TOOLS[1], TOOLS[1]]}, "tools", "the same name"),
        ({"parallel_tool_calls": False}, "parallel_tool_calls", "say 'required'"),
        ({"response_format": {"type": "json_object"}}, "tool_choice", "leave out response_format"),
        ({"logprobs": True}, "logprobs", "leave out the tools"),
        ({"messages": [*MESSAGES, {"role": "tool", "tool_call_id": "z", "content": "x"}]}, None, "has a call 'z'"),
        ({"model": "gemma-4-26b"}, "tool_choice", "of gemma-4 is not known to write calls as Qwen's; say tool_choice"),
        ({"model": "gpt-4o"}, "tool_choice", "the endpoint is told of no tools; say tool_choice 'required'"),
    ],
)
def test_what_cannot_be_called_is_refused(gateway: RunningGateway, asked: Any, param: str | None, told: str) -> None:
    """The message names what works."""
    body = {"model": MODEL, "messages": MESSAGES, "tools": TOOLS, **asked}
    answer = gateway.client.post("/v1/chat/completions", json=body)
    error = openai_error_of(answer, 400, answer.json()["error"]["code"])
    assert told in error["message"]
    assert param in (None, error["param"])


@pytest.mark.parametrize(
    "asked",
    [
        {"tools": TOOLS, "tool_choice": "none"},
        {"tool_choice": "none", "function_call": "none", "functions": [], "parallel_tool_calls": False},
        {"modalities": ["text"], "length_penalty": 1, "add_generation_prompt": True, "return_token_ids": False},
        {"store": False, "service_tier": "auto", "verbosity": "medium", "skip_special_tokens": False},
    ],
)
def test_values_that_say_what_is_done_anyway_pass(client: openai.OpenAI, worker: RunningWorker, asked: Any) -> None:
    """They change nothing."""
    body = {"model": MODEL, "messages": MESSAGES, "seed": 1}
    plain = client.chat.completions.create(**body)
    answer = client.chat.completions.create(**body, extra_body=asked)
    assert answer.choices == plain.choices


@pytest.mark.parametrize(
    "asked",
    [
        *({"add_generation_prompt": False}, {"length_penalty": 2.0}, {"return_token_ids": True}, {"store": True}),
        *({"include_stop_str_in_output": True}, {"skip_special_tokens": True}, {"verbosity": "low"}, {"echo": True}),
    ],
)
def test_values_that_would_not_be_applied_are_refused(gateway: RunningGateway, asked: Any) -> None:
    """Each by its name."""
    answer = gateway.client.post("/v1/chat/completions", json={"model": MODEL, "messages": MESSAGES, **asked})
    assert openai_error_of(answer, 400, "request_invalid")["param"] == next(iter(asked))
