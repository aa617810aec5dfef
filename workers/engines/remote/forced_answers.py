"""Tell how likely a server elsewhere holds an answer that it is given: two prompts, of which it tells the tokens.

The first is the chat up to where it would answer, the second goes on with the answer as the assistant's own unfinished
message (`continue_final_message`). Only where the second begins with the very tokens of the first, and what is behind
them reads as the answer, is anything told: chat templates may strip white space, or put an empty thought before it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from gigavqa.contract.responses import TokenLogprob
from gigavqa.workers.engines.engine import AnswerUnweighableError
from gigavqa.workers.engines.remote.answers import RemoteAnswer
from gigavqa.workers.engines.remote.replies import read_json

PROMPT_PARAMETERS: Mapping[str, Any] = {"return_token_ids": True}
ANSWER_PARAMETERS: Mapping[str, Any] = {
    **PROMPT_PARAMETERS,
    "continue_final_message": True,
    "add_generation_prompt": False,
    "prompt_logprobs": 0,
}
"""What vLLM's servers take beside the messages, the first of an answer's prompts and the second."""

_LOWEST_LOGPROB = -9999.0  # JSON has no infinities


class PromptReply(RemoteAnswer):
    """A reply that tells the tokens of its prompt; what is generated behind them is of no use."""

    tokens: Sequence[int] = ()
    logprobs_told: Sequence[Any] = ()

    def take_whole(self, content: bytes) -> None:
        """Take a whole completion. Raises MalformedReplyError."""
        super().take_whole(content)
        found = read_json(content)
        self.tokens = _numbers(found.get("prompt_token_ids"))
        told = found.get("prompt_logprobs")
        self.logprobs_told = told if isinstance(told, list) else ()


class PromptQuestion:
    """A question for the tokens of a prompt, and the last reply to it; `parameters` go with its chat."""

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self.parameters = parameters
        self._reply: PromptReply | None = None

    @property
    def reply(self) -> PromptReply:
        """The reply, once there is one."""
        assert self._reply is not None
        return self._reply

    def begin(self, *args: Any, **kwargs: Any) -> PromptReply:
        """Make what takes the next reply."""
        self._reply = PromptReply(*args, **kwargs)
        return self._reply


def read_forced(prompt: PromptReply, answered: PromptReply, text: str) -> tuple[TokenLogprob, ...]:
    """Return the answer's tokens and their logprobs. Raises AnswerUnweighableError saying what the server lacks."""
    start = len(prompt.tokens)
    if not start or len(answered.logprobs_told) != len(answered.tokens):
        raise AnswerUnweighableError(
            "the server tells no logprobs of a prompt (`prompt_logprobs` and `return_token_ids` of vLLM's servers)"
        )
    if list(answered.tokens[:start]) != list(prompt.tokens):
        raise AnswerUnweighableError(
            "the server's chat template writes another prompt where an answer is given than where it is asked for, so "
            "that the answer would stand behind something else"
        )
    places = zip(answered.tokens[start:], answered.logprobs_told[start:], strict=True)
    found = tuple(_token(number, told) for number, told in places)
    if not found or "".join(one.token for one in found) != text:
        raise AnswerUnweighableError(
            f"answer: the server reads it as {''.join(one.token for one in found)[:100]!r}: its chat template strips "
            "white space, or its tokens do not tell their text"
        )
    return found


def _numbers(given: Any) -> Sequence[int]:
    return given if isinstance(given, list) and all(isinstance(one, int) for one in given) else ()


def _token(number: int, told: Any) -> TokenLogprob:
    one = told.get(str(number)) if isinstance(told, dict) else None
    logprob, token = (one.get("logprob"), one.get("decoded_token")) if isinstance(one, dict) else (None, None)
    if not isinstance(logprob, int | float) or not isinstance(token, str):
        raise AnswerUnweighableError("the server tells no logprob of a token of the answer")
    return TokenLogprob(token=token, logprob=max(float(logprob), _LOWEST_LOGPROB), bytes=tuple(token.encode()))
