"""A chat that ends with the answer is told how likely it is, and what does not go with that is refused by its field."""

import math
from typing import Any

import httpx
import openai
import pytest

from tests.service.gateways import MODEL, RunningGateway, openai_error_of
from tests.service.openai.workers import RunningWorker

QUESTION = {"role": "user", "content": "When was it founded?"}
ANSWER = {"role": "assistant", "content": "in 1911, it says"}
WEIGHED = {"messages": [QUESTION, ANSWER], "prompt_logprobs": 0}


def post(gateway: RunningGateway, **body: Any) -> httpx.Response:
    """Ask as a client that knows nothing of OpenAI."""
    return gateway.client.post("/v1/chat/completions", json={"model": MODEL, **body})


def test_a_given_answer_is_weighed(gateway: RunningGateway, worker: RunningWorker) -> None:
    """The message is the answer, each of its tokens has a logprob, and nothing was generated."""
    told = post(gateway, **WEIGHED, continue_final_message=True, add_generation_prompt=False, max_tokens=1).json()
    (choice,) = told["choices"]
    assert (choice["message"]["content"], choice["finish_reason"]) == (ANSWER["content"], "stop")
    logprobs = [one["logprob"] for one in choice["logprobs"]["content"]]
    likelihood = choice["likelihood"]
    assert "".join(one["token"] for one in choice["logprobs"]["content"]) == ANSWER["content"]
    assert likelihood["tokens"] == len(logprobs)
    assert likelihood["logprob"] == pytest.approx(math.fsum(logprobs))
    assert likelihood["mean_logprob"] == pytest.approx(math.fsum(logprobs) / len(logprobs))
    assert told["usage"]["completion_tokens"] == 0


def test_openai_s_client_reads_it(client: openai.OpenAI, worker: RunningWorker) -> None:
    """Its own fields, and ours beside them."""
    answer = client.chat.completions.create(
        model=MODEL, messages=WEIGHED["messages"], extra_body={"prompt_logprobs": 0}
    )
    assert answer.choices[0].logprobs is not None
    assert answer.choices[0].model_extra is not None and answer.choices[0].model_extra["likelihood"]["logprob"] < 0


@pytest.mark.parametrize(
    ("body", "param", "told"),
    [
        ({"messages": [QUESTION, {"role": "assistant", "content": ""}]}, "messages", "the answer is empty"),
        ({"messages": [ANSWER]}, "messages", "behind no message of the user's"),
        ({"messages": [QUESTION]}, "prompt_logprobs", "the last message is not the assistant's"),
        ({"prompt_logprobs": 5}, "prompt_logprobs", "0"),
        ({"prompt_logprobs": None}, "messages", "with prompt_logprobs: 0 its likelihood is told"),
        ({"stream": True}, "stream", "leave out stream"),
        ({"n": 2}, "n", "leave out n"),
        ({"max_tokens": 9}, "max_tokens", "nothing is generated"),
        ({"stop": ["x"]}, "stop", "here it is given"),
        ({"logit_bias": {"3": 1}}, "logit_bias", "here it is given"),
        ({"response_format": {"type": "json_object"}}, "response_format", "here it is given"),
        ({"add_generation_prompt": True}, "add_generation_prompt", "say false"),
        ({"continue_final_message": False}, "continue_final_message", "say true"),
    ],
)
def test_what_does_not_go_with_it_is_named(
    gateway: RunningGateway, worker: RunningWorker, body: dict[str, Any], param: str, told: str
) -> None:
    """Each is a 400 that names the field."""
    error = openai_error_of(post(gateway, **{**WEIGHED, **body}), 400, "request_invalid")
    assert told in error["message"]
    assert error["param"] == param


def test_what_the_engine_cannot_weigh_is_refused(gateway: RunningGateway, worker: RunningWorker) -> None:
    """With its own reason: white space alone has no token in the simulated engine."""
    blank = [QUESTION, {"role": "assistant", "content": "  "}]
    answer = post(gateway, **{**WEIGHED, "messages": blank})
    assert answer.status_code == 400
    assert "AnswerUnweighableError" in answer.json()["error"]["message"]
