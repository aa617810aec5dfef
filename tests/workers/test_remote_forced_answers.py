"""Likelihoods from elsewhere: told by servers that tell the tokens of prompts, and refused by all others."""

import json
from typing import Any

import pytest

from gigavqa.workers.engines.engine import AnswerUnweighableError, Message
from gigavqa.workers.engines.remote.forced_answers import PromptReply, read_forced
from tests.workers.examples import ENTRY
from tests.workers.remote_server import Elsewhere, Mood, serving
from tests.workers.test_remote_engine import SAMPLING, ask_about, asking

TOLD = [
    None,
    None,
    None,
    {"7": {"logprob": -0.5, "decoded_token": "in "}},
    {"8": {"logprob": -2, "decoded_token": "1911"}},
]


def completion(tokens: list[int], told: Any = None) -> dict[str, Any]:
    """A whole reply of vLLM's server, with the tokens of its prompt."""
    choice = {"index": 0, "message": {"role": "assistant", "content": "x"}, "finish_reason": "length"}
    usage = {"prompt_tokens": len(tokens), "completion_tokens": 1, "total_tokens": len(tokens) + 1}
    told = {} if told is None else {"prompt_logprobs": told}
    return {"choices": [choice], "usage": usage, "prompt_token_ids": tokens, **told}


def reply(tokens: list[int], told: Any = None) -> PromptReply:
    """The same, read."""
    read = PromptReply(ENTRY, None)
    read.take_whole(json.dumps(completion(tokens, told)).encode())
    return read


def test_the_tokens_behind_the_prompt_are_the_answer() -> None:
    """Each with what the server tells of it."""
    found = read_forced(reply([1, 2, 3]), reply([1, 2, 3, 7, 8], TOLD), "in 1911")
    assert [(one.token, one.logprob) for one in found] == [("in ", -0.5), ("1911", -2.0)]


@pytest.mark.parametrize(
    ("prompt", "answered", "why"),
    [
        (reply([1, 2, 3]), reply([1, 2, 3, 7, 8]), "tells no logprobs of a prompt"),
        (reply([]), reply([1, 2, 3, 7, 8], TOLD), "tells no logprobs of a prompt"),
        (reply([1, 2, 4]), reply([1, 2, 3, 7, 8], TOLD), "writes another prompt"),
        (reply([1, 2, 3, 7]), reply([1, 2, 3, 7, 8], TOLD), "reads it as '1911'"),
        (reply([1, 2, 3, 7, 8]), reply([1, 2, 3, 7, 8], TOLD), "reads it as ''"),
        (reply([1, 2, 3]), reply([1, 2, 3, 7, 9], TOLD), "tells no logprob of a token"),
    ],
)
def test_what_is_not_told_for_sure_is_refused(prompt: PromptReply, answered: PromptReply, why: str) -> None:
    """A server without logprobs of prompts, and templates that write something else around an answer."""
    with pytest.raises(AnswerUnweighableError, match=why):
        read_forced(prompt, answered, "in 1911")


async def test_a_server_is_asked_for_both_prompts() -> None:
    """The chat alone, and then with the answer as its unfinished last message; what is generated is dropped."""
    chat = [*ask_about(), Message("assistant", ("in 1911",))]
    there = Elsewhere(moods=[Mood(body=completion([1, 2, 3])), Mood(body=completion([1, 2, 3, 7, 8], TOLD))])
    with serving(there):
        async with asking(there) as engine:
            turn = await engine.generate(chat, SAMPLING, "one")
    assert turn.likelihood is not None and (turn.likelihood.sum, turn.likelihood.tokens) == (-2.5, 2)
    assert (turn.text, turn.forced, turn.usage.completion_tokens) == ("in 1911", True, 0)
    first, second = there.chats
    assert [len(body["messages"]) for body in (first, second)] == [2, 3]
    assert {body["max_tokens"] for body in (first, second)} == {1}
    assert "prompt_logprobs" not in first
    assert (second["prompt_logprobs"], second["continue_final_message"]) == (0, True)


async def test_a_server_that_cannot_is_not_asked() -> None:
    """Of another kind: it would write on, and bill it."""
    there = Elsewhere(owner="openai")
    with serving(there):
        async with asking(there) as engine:
            with pytest.raises(AnswerUnweighableError, match="a server of the kind 'openai' does not tell"):
                await engine.generate([*ask_about(), Message("assistant", ("A",))], SAMPLING, "one")
    assert not there.chats
