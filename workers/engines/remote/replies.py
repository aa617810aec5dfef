"""The edge: what a server sent as JSON becomes values of our own, or an error that says what is wrong with it.

Nothing behind it sees a server's JSON. A whole completion and a chunk of a stream are the same but for a name: both are
a Piece of the first answer.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from gigavqa.contract.responses import TokenLogprob
from gigavqa.workers.engines.remote.error_replies import ErrorReply, MalformedReplyError, error_from_json
from gigavqa.workers.engines.remote.redaction import redact

_MOST_TOKENS = 10**9  # no context is as large; what is beyond is no count
_LOWEST_LOGPROB = -9999.0  # what OpenAI writes for it; JSON has no infinities
_MOST_DIGITS = 4000
_LONGEST_NAME = 200
_THOUGHT_FIELDS = ("reasoning", "reasoning_content")


@dataclass(frozen=True)
class ReplyTokenCounts:
    """Tokens as a server counted them; `image` are those of all pictures of the prompt. None where it does not say."""

    prompt: int | None = None
    completion: int | None = None
    cached: int | None = None
    image: int | None = None
    reasoning: int | None = None


@dataclass(frozen=True)
class AnswerChunk:
    """The part of the first answer that one value of a server's holds. Texts are as they were sent.

    `is_message` tells whether there is a message at all, `says` whether it holds a text, be it empty; `refusal` is what
    the server says is one, and `calls` whether it says that the model called a tool. `names` are those of the model and
    of what runs it.
    """

    thought: str = ""
    text: str = ""
    is_message: bool = False
    says: bool = False
    refusal: str = ""
    calls: bool = False
    reason: str | None = None
    logprobs: tuple[TokenLogprob, ...] = ()
    names: tuple[str, ...] = ()
    error: ErrorReply | None = None


@dataclass(frozen=True)
class RemoteModelCard:
    """A model that a server lists, whose it says it is, and the tokens of its context where it tells."""

    name: str
    owner: str | None = None
    context: int | None = None


def read_model_cards(content: bytes) -> list[RemoteModelCard] | None:
    """Read a list of models; None for what is none."""
    try:
        found = read_json(content)
    except MalformedReplyError:
        return None
    data = found.get("data") if isinstance(found, dict) else None
    if not isinstance(data, list):
        return None
    return [_card(each) for each in data if isinstance(each, dict) and isinstance(each.get("id"), str)]


def bare_model_name(name: str) -> str:
    """Return the name of a model without what Google's lists put before it."""
    return name.removeprefix("models/")


def _card(told: Mapping[str, Any]) -> RemoteModelCard:
    owner = told.get("owned_by")
    return RemoteModelCard(
        name=bare_model_name(told["id"]),
        owner=owner if isinstance(owner, str) else None,
        context=_count(told.get("max_model_len")) or None,
    )


def read_json(content: bytes | str) -> Any:
    """Parse what a server sent. Raises MalformedReplyError."""
    try:
        return json.loads(content, parse_int=_parse_int)
    except (ValueError, RecursionError):
        raise MalformedReplyError("an answer is no JSON") from None


def _parse_int(digits: str) -> int | float:
    """Python reads no integer of thousands of digits; nothing here is one that a decimal would not do for."""
    return int(digits) if len(digits) <= _MOST_DIGITS else float(digits)


def read_token_counts(found: Any) -> ReplyTokenCounts | None:
    """Read what a completion or a chunk says that it took, whatever else is wrong with it."""
    told = found.get("usage") if isinstance(found, dict) else None
    if not isinstance(told, dict):
        return None
    prompt, completion = _mapping(told.get("prompt_tokens_details")), _mapping(told.get("completion_tokens_details"))
    return ReplyTokenCounts(
        prompt=_count(told.get("prompt_tokens")),
        completion=_count(told.get("completion_tokens")),
        cached=_count(prompt.get("cached_tokens")),
        image=_count(_mapping(prompt.get("multimodal_tokens")).get("image")),  # vLLM's
        reasoning=_count(completion.get("reasoning_tokens")),
    )


def read_chunk(
    found: Any, name: Literal["message", "delta"], key: str | None, *, wants_logprobs: bool = False
) -> AnswerChunk:
    """Read a completion, whose answer is a `message`, or a chunk of one, a `delta`. Raises MalformedReplyError."""
    if not isinstance(found, dict):
        return AnswerChunk(error=error_from_json(found, key))
    told = filter(None, map(found.get, ("model", "system_fingerprint")))
    names = tuple(redact(each, key)[:_LONGEST_NAME] for each in told if isinstance(each, str))
    choice = _first_choice(found.get("choices"), name)
    error = found.get("error") or (choice or {}).get("error")
    if error or (choice is None and name == "message"):
        return AnswerChunk(names=names, error=error_from_json({"error": error} if error else found, key))
    if choice is None:
        return AnswerChunk(names=names)
    message = choice.get(name)
    if message is not None and not isinstance(message, dict):
        raise MalformedReplyError(f"an answer's {name} is no object")
    thought, text, refusal = _message_texts(message or {})
    return AnswerChunk(
        thought=thought,
        text=text,
        is_message=isinstance(message, dict),
        says=bool(thought or text or refusal) or isinstance((message or {}).get("content"), str),
        refusal=refusal,
        calls=bool((message or {}).get("tool_calls") or (message or {}).get("function_call")),
        reason=_reason(choice.get("finish_reason")),
        logprobs=_logprobs(choice.get("logprobs"), key) if wants_logprobs else (),
        names=names,
    )


def _first_choice(choices: Any, name: str) -> Mapping[str, Any] | None:
    """Return the choice of index 0, wherever it stands; None where there is none. Raises MalformedReplyError."""
    if not choices:
        return None
    if not isinstance(choices, list) or not all(isinstance(each, dict) for each in choices):
        raise MalformedReplyError("an answer's choices are no list of objects")
    if len(choices) == 1 and (name == "message" or choices[0].get("index") is None):
        return choices[0]  # type: ignore[no-any-return]
    return next((each for each in choices if each.get("index") == 0), None)


def _message_texts(message: Mapping[str, Any]) -> tuple[str, str, str]:
    """Thought, text and refusal of a message. Raises MalformedReplyError."""
    content, thought = message.get("content"), next(filter(None, map(message.get, _THOUGHT_FIELDS)), None)
    thought, refusal = _text(thought, "thought"), _text(message.get("refusal"), "refusal")
    if not isinstance(content, list):
        return thought, _text(content, "content"), refusal
    text = ""
    for part in content:
        if isinstance(part, str):
            text += part
        elif not isinstance(part, dict):
            raise MalformedReplyError("a part of an answer is neither a text nor an object")
        elif (kind := str(part.get("type"))) in ("thinking", "reasoning"):
            thought += _thought_text(part.get("thinking") or part.get("text"))
        elif kind == "refusal":
            refusal += _text(part.get("refusal"), "refusal")
        else:  # parts without a text are none of an answer in words
            text += _text(part.get("text"), "part")
    return thought, text, refusal


def _thought_text(value: Any) -> str:
    """Return a thought, which may be a list of parts itself."""
    if isinstance(value, list):
        return "".join(_text(each.get("text") if isinstance(each, dict) else each, "thought") for each in value)
    return _text(value, "thought")


def _text(value: Any, what: str) -> str:
    if value is not None and not isinstance(value, str):
        raise MalformedReplyError(f"the {what} of an answer is no text")
    return value or ""


def _reason(value: Any) -> str | None:
    return str(value)[:_LONGEST_NAME] if value else None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(value: Any) -> int | None:
    """Return a count of tokens, also where it is written as a decimal or a text; None for what is none."""
    if isinstance(value, str) and value.isdecimal() and len(value) < 20:
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS
    return value if is_count else None


def _logprobs(told: Any, key: str | None) -> tuple[TokenLogprob, ...]:
    """Return how likely each token was; nothing where one of them cannot be read: the others would not fit the text."""
    tokens = _mapping(told).get("content")
    try:
        return _token_logprobs(tokens, key) if tokens else ()
    except (TypeError, ValueError, AttributeError, KeyError, OverflowError, MalformedReplyError):
        return ()


def _token_logprobs(tokens: Sequence[Any], key: str | None) -> tuple[TokenLogprob, ...]:
    return tuple(_token_logprob(each, key) for each in tokens)


def _token_logprob(told: Mapping[str, Any], key: str | None) -> TokenLogprob:
    others, letters, logprob = told.get("top_logprobs"), told.get("bytes"), float(told["logprob"])
    return TokenLogprob(
        token=redact(_text(told.get("token"), "token"), key),
        logprob=logprob if math.isfinite(logprob) else _LOWEST_LOGPROB,
        bytes=tuple(bytes(letters)) if letters is not None else None,
        top_logprobs=None if others is None else _token_logprobs(others, key),
    )
