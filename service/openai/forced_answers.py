"""Chats whose last message is the answer, of which its likelihood is asked: what of a request goes with that.

As on vLLM's servers a chat says so by `prompt_logprobs` with `continue_final_message`; told are the answer's tokens
alone, and nothing is generated. The answer stands where the model would begin to write, whatever its chat template does
with messages that were said before.
"""

from typing import TYPE_CHECKING

from pydantic import BaseModel

from gigavqa.contract.responses import TurnResponse

if TYPE_CHECKING:
    from gigavqa.service.openai.chat_request import ChatCompletionRequest

_GENERATION_FIELDS = (
    *("stop", "stop_token_ids", "bad_words", "min_tokens", "ignore_eos", "logit_bias"),
    *("response_format", "structured_outputs", "tools", "logprobs"),
)
"""Fields that say how an answer is to be generated, or what else is told of it."""


class AnswerLikelihood(BaseModel):
    """How likely the model holds a given answer: the natural logarithm of its probability, in all and a token."""

    logprob: float
    mean_logprob: float
    tokens: int

    @classmethod
    def of(cls, turn: TurnResponse) -> "AnswerLikelihood | None":
        """Return that of an answer that was given; None of any other."""
        found = turn.likelihood
        return cls(logprob=found.sum, mean_logprob=found.mean, tokens=found.tokens) if found else None


def forced_faults(asked: "ChatCompletionRequest") -> dict[str, str]:
    """Return what is wrong with a request that gives the answer, by field."""
    wrong = {
        name: f"'{name}' says how an answer is generated, and here it is given; leave it out"
        for name in _GENERATION_FIELDS
        if getattr(asked, name)
    }
    checks = {
        "messages": _answer_fault(asked),
        "stream": "a likelihood is told at once; leave out stream" if asked.stream else "",
        "n": "a likelihood has no chance in it; leave out n" if (asked.n or 1) > 1 else "",
        "max_tokens": "nothing is generated behind a given answer; say 1, or leave it out"
        if (asked.max_completion_tokens or asked.max_tokens or 1) > 1
        else "",
        "continue_final_message": "a given answer is the final message's; say true, or leave it out"
        if asked.continue_final_message is False
        else "",
        "add_generation_prompt": "a given answer stands behind the prompt already; say false, or leave it out"
        if asked.add_generation_prompt
        else "",
    }
    return wrong | {name: fault for name, fault in checks.items() if fault}


def _answer_fault(asked: "ChatCompletionRequest") -> str:
    answer = asked.messages[-1]
    if len(asked.messages) < 2 or asked.messages[-2].role not in ("user", "tool"):
        return "the answer stands behind no message of the user's, or of a tool's"
    if answer.tool_calls:
        return "the answer calls tools; write the call as text"
    if any(part.type != "text" for part in answer.content):
        return "the answer shows a picture; its likelihood is that of a text"
    if not "".join(part.text or "" for part in answer.content):
        return "the answer is empty; the likelihood of nothing is no number"
    return ""


def unforced_faults(asked: "ChatCompletionRequest") -> dict[str, str]:
    """Return what is wrong with a request that asks for an answer, as far as it speaks of a given one, by field."""
    wrong = {}
    if (last := asked.messages[-1].role) not in ("user", "tool"):
        advice = "; with prompt_logprobs: 0 its likelihood is told" if last == "assistant" else ""
        wrong["messages"] = f"the last message is the {last}'s; what is answered is the user's, or a tool's{advice}"
    elif asked.prompt_logprobs is not None:
        wrong["prompt_logprobs"] = (
            "prompt_logprobs tells how likely a given answer is, and the last message is not the assistant's"
        )
    if asked.continue_final_message:
        wrong["continue_final_message"] = (
            "continue_final_message is not spoken: no text is written on; with prompt_logprobs: 0 it is weighed"
        )
    if asked.add_generation_prompt is False:
        wrong["add_generation_prompt"] = "add_generation_prompt is not taken: a chat is always answered"
    return wrong
