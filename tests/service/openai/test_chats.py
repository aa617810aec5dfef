"""Chat completions through OpenAI's own client, on a worker with the simulated engine."""

import openai
import pytest

from tests.service.gateways import MODEL, RunningGateway
from tests.service.openai.workers import RunningWorker

QUESTION = "Which one?\nA. One\nB. Two\nC. Three"
MESSAGES = [{"role": "user", "content": QUESTION}]


def test_a_chat_is_answered(client: openai.OpenAI, worker: RunningWorker, gateway: RunningGateway) -> None:
    """The client gets a completion whose fields are all there, and the list of jobs stays empty."""
    answer = client.chat.completions.create(model=MODEL, messages=MESSAGES, seed=1)
    assert answer.id.startswith("chatcmpl-")
    assert (answer.object, answer.model) == ("chat.completion", MODEL)
    (choice,) = answer.choices
    assert choice.message.role == "assistant"
    assert (choice.message.content or "").startswith("The answer is ")
    assert choice.finish_reason == "stop"
    assert answer.usage is not None
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens > 5
    assert gateway.client.get("/v1/jobs").json()["data"] == []


def test_the_pieces_of_a_stream_are_the_whole(client: openai.OpenAI, worker: RunningWorker) -> None:
    """A role first, then text, then why it ended, and the usage behind all of it where it was asked for."""
    whole = client.chat.completions.create(model=MODEL, messages=MESSAGES, seed=1)
    chunks = list(
        client.chat.completions.create(
            model=MODEL, messages=MESSAGES, seed=1, stream=True, stream_options={"include_usage": True}
        )
    )
    *told, last = chunks
    assert last.choices == []
    assert last.usage is not None and last.usage.completion_tokens == whole.usage.completion_tokens
    assert all(len(chunk.choices) == 1 and chunk.usage is None for chunk in told)
    assert told[0].choices[0].delta.role == "assistant"
    assert "".join(chunk.choices[0].delta.content or "" for chunk in told) == whole.choices[0].message.content
    assert [chunk.choices[0].finish_reason for chunk in told] == [None] * (len(told) - 1) + ["stop"]


def test_several_answers_have_seeds_of_their_own(client: openai.OpenAI, worker: RunningWorker) -> None:
    """Eight answers to one seed are the same eight every time, and not all alike."""
    asked = [client.chat.completions.create(model=MODEL, messages=MESSAGES, seed=3, n=8) for _ in range(2)]
    texts = [[choice.message.content for choice in answer.choices] for answer in asked]
    assert texts[0] == texts[1]
    assert len(set(texts[0])) > 1
    assert [choice.index for choice in asked[0].choices] == list(range(8))


def test_a_model_that_there_is_not_is_not_found(client: openai.OpenAI, worker: RunningWorker) -> None:
    """The client raises what it raises for OpenAI's own servers."""
    with pytest.raises(openai.NotFoundError) as raised:
        client.chat.completions.create(model="nothing", messages=MESSAGES)
    assert raised.value.code == "model_not_found"
    assert "'nothing' is not in the catalogue" in raised.value.message
