"""The Responses API through OpenAI's own client, unchanged, on a worker with the simulated engine."""

from typing import Any, Literal

import openai
import pytest
from pydantic import BaseModel

from tests.service.gateways import MODEL, RunningGateway, openai_error_of
from tests.service.openai.pictures import data_url, png
from tests.service.openai.workers import RunningWorker

QUESTION = "Which one?\nA. One\nB. Two"
TOOL: Any = {
    "type": "function",
    "name": "look",
    "parameters": {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
    "strict": False,
}


class Finding(BaseModel):
    """What a structured answer says."""

    letter: Literal["A", "B"]
    sure: bool


def test_a_response_is_an_answer(client: openai.OpenAI, worker: RunningWorker) -> None:
    """It says what a chat with the same seed says, with usage, and that nothing is stored."""
    response = client.responses.create(model=MODEL, input=QUESTION, store=False, extra_body={"seed": 1})
    chat = client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": QUESTION}], seed=1)
    assert response.output_text == chat.choices[0].message.content
    assert (response.status, response.object, response.store) == ("completed", "response", False)
    assert response.usage is not None
    assert chat.usage is not None
    assert response.usage.input_tokens == chat.usage.prompt_tokens
    assert response.usage.output_tokens == chat.usage.completion_tokens
    assert response.usage.input_tokens_details.cached_tokens == 0


def test_a_response_looks_at_pictures(client: openai.OpenAI, worker: RunningWorker) -> None:
    """Sent in the body or named; instructions and earlier output stand before."""
    shown: list[Any] = [
        {"type": "input_image", "image_url": data_url(png(1)), "detail": "auto"},
        {"type": "input_text", "text": QUESTION},
    ]
    first = client.responses.create(model=MODEL, instructions="Be brief.", input=[{"role": "user", "content": shown}])
    history = [{"role": "user", "content": shown}, *first.output, {"role": "user", "content": "Why?"}]
    second = client.responses.create(model=MODEL, instructions="Be brief.", input=history)
    assert second.usage.input_tokens > first.usage.input_tokens
    assert worker.encoder_runs == 1


def test_a_response_keeps_to_a_schema(client: openai.OpenAI, worker: RunningWorker) -> None:
    """The client's own parsing gets an object."""
    parsed = client.responses.parse(model=MODEL, input=QUESTION, text_format=Finding)
    assert parsed.output_parsed == Finding(letter="A", sure=False)


def test_a_response_streams_openai_s_events_in_their_order(client: openai.OpenAI, worker: RunningWorker) -> None:
    """The events count up, and the deltas make the text."""
    events = list(client.responses.create(model=MODEL, input=QUESTION, stream=True))
    kinds = [event.type.removeprefix("response.") for event in events]
    deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
    begin = ["created", "in_progress", "output_item.added", "content_part.added"]
    end = ["output_text.done", "content_part.done", "output_item.done", "completed"]
    assert kinds == begin + ["output_text.delta"] * len(deltas) + end
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert "".join(deltas) == events[-1].response.output_text


def test_the_client_s_own_stream_reads_it(client: openai.OpenAI, worker: RunningWorker) -> None:
    """With a form, too."""
    with client.responses.stream(model=MODEL, input=QUESTION, text_format=Finding) as stream:
        response = stream.until_done().get_final_response()
    assert response.output_parsed == Finding(letter="A", sure=False)


@pytest.mark.parametrize("stream", [False, True])
def test_a_response_calls_functions(client: openai.OpenAI, worker: RunningWorker, stream: bool) -> None:
    """The call comes back with its output, and is answered."""
    body: dict[str, Any] = {"model": MODEL, "tools": [TOOL]}
    if stream:
        with client.responses.stream(**body, input=QUESTION, tool_choice="required") as events:
            first = events.until_done().get_final_response()
    else:
        first = client.responses.create(**body, input=QUESTION, tool_choice={"type": "function", "name": "look"})
    (call,) = first.output
    assert (call.type, call.name, call.arguments) == ("function_call", "look", '{"x": 0}')
    output = {"type": "function_call_output", "call_id": call.call_id, "output": "Nothing"}
    told = [{"role": "user", "content": QUESTION}, call.model_dump(exclude={"parsed_arguments"}), output]
    assert client.responses.create(**body, input=told).output_text.startswith("The answer is")


def test_a_response_that_is_cut_off_is_incomplete(client: openai.OpenAI, worker: RunningWorker) -> None:
    """It says why, streamed or not."""
    whole = client.responses.create(model=MODEL, input=QUESTION, max_output_tokens=2)
    *_, last = client.responses.create(model=MODEL, input=QUESTION, max_output_tokens=2, stream=True)
    assert last.type == "response.incomplete"
    for response in (whole, last.response):
        assert (response.status, response.incomplete_details.reason) == ("incomplete", "max_output_tokens")


@pytest.mark.parametrize(
    ("asked", "param", "told"),
    [
        ({"store": True}, "store", "nothing is kept"),
        ({"previous_response_id": "resp_1"}, "previous_response_id", "send the whole chat as `input`"),
        ({"conversation": "conv_1"}, "conversation", "send the whole chat as `input`"),
        ({"background": True}, "background", "by a batch"),
        ({"truncation": "auto"}, "truncation", "too long is refused"),
        ({"max_tokens": 3}, "max_tokens", "say max_output_tokens"),
        ({"temperture": 1}, "temperture", "did you mean 'temperature'"),
        ({"temperature": 3}, "temperature", "less than or equal to 2"),
        ({"tools": [{"type": "web_search"}]}, "tools[0].type", "function"),
        ({"input": [{"type": "item_reference", "id": "msg_1"}]}, "input[0].type", "send the item itself"),
        ({"input": []}, "input", "at least 1"),
        ({"text": {"format": {"type": "json_schema"}}}, "text.format", "needs the field"),
    ],
)
def test_what_is_wrong_is_named(gateway: RunningGateway, asked: Any, param: str, told: str) -> None:
    """By the response's own field, and with what to do."""
    answer = gateway.client.post("/v1/responses", json={"model": MODEL, "input": QUESTION, **asked})
    error = openai_error_of(answer, 400, "request_invalid")
    assert (error["param"], told in error["message"]) == (param, True), error


def test_a_picture_that_is_not_there_is_named(gateway: RunningGateway, worker: RunningWorker) -> None:
    """By the place where the response showed it."""
    shown = [{"type": "input_text", "text": "x"}, {"type": "input_image", "image_url": "gigavqa:nowhere/x.png"}]
    asked = {"model": MODEL, "instructions": "Be brief.", "input": [{"role": "user", "content": shown}]}
    error = openai_error_of(gateway.client.post("/v1/responses", json=asked), 400, "chat_invalid")
    assert error["param"] == "input[0].content[1].image_url"
