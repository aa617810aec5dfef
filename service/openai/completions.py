"""Chat completions and their chunks, as OpenAI tells them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, Field

from gigavqa.contract.responses import Failure, Response, TokenLogprob
from gigavqa.service.errors import AnswerFailedError, ChatInvalidError, ContextTooSmallError, ServiceError
from gigavqa.service.openai.pending_chats import TextDelta

FinishReason = Literal["stop", "length", "content_filter"]
_REASONS: Mapping[str, FinishReason] = {"stop": "stop", "length": "length", "content_filter": "content_filter"}


class AnswerMessage(BaseModel):
    """The model's message; never null, marks of thoughts and boxes included."""

    role: Literal["assistant"] = "assistant"
    content: str
    refusal: None = None


class Logprobs(BaseModel):
    """The log-probabilities of tokens."""

    content: list[TokenLogprob]
    refusal: None = None


class Choice(BaseModel):
    """One answer."""

    index: int
    message: AnswerMessage
    logprobs: Logprobs | None = None
    finish_reason: FinishReason


class PromptDetails(BaseModel):
    """The kinds of the prompt's tokens; `image_tokens` as the engine counted them."""

    cached_tokens: int
    image_tokens: int | None = None


class CompletionUsage(BaseModel):
    """Tokens of the prompt, once, and of all answers together."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: PromptDetails


class Completion(BaseModel):
    """A chat that was answered."""

    id: str = Field(examples=["chatcmpl-5f0c"])
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[Choice]
    usage: CompletionUsage
    system_fingerprint: str | None = None


class ChunkWriter:
    """Make the chunks of a chat and the whole completion, with the fields that all of them share."""

    def __init__(self, chat_id: str, created: int, model: str, *, with_usage: bool) -> None:
        self.id = f"chatcmpl-{chat_id.partition('_')[2]}"
        self._created = created
        self._model = model
        self._with_usage = with_usage

    def whole(self, responses: Mapping[int, Response]) -> Completion:
        """Return the whole completion."""
        choices = [_choice(number, responses[number]) for number in sorted(responses)]
        return Completion(
            id=self.id,
            created=self._created,
            model=self._model,
            choices=choices,
            usage=usage_of(responses.values()),
            system_fingerprint=_fingerprint(responses[0]),
        )

    def first(self, number: int) -> dict[str, Any]:
        """Return the chunk that begins an answer."""
        return self._chunk([_chunk_choice(number, {"role": "assistant", "content": ""})])

    def piece(self, delta: TextDelta) -> dict[str, Any]:
        """Return a chunk of text."""
        return self._chunk([_chunk_choice(delta.number, {"content": delta.text}, delta.logprobs)])

    def last(self, number: int, response: Response) -> dict[str, Any]:
        """Return the chunk that ends an answer."""
        return self._chunk([{**_chunk_choice(number, {}), "finish_reason": _finish_reason(response)}])

    def usage(self, responses: Iterable[Response]) -> dict[str, Any]:
        """Return the chunk behind all answers."""
        return {**self._chunk([]), "usage": usage_of(responses).model_dump()}

    def _chunk(self, choices: list[dict[str, Any]]) -> dict[str, Any]:
        chunk: dict[str, Any] = {
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self._created,
            "model": self._model,
            "choices": choices,
        }
        return {**chunk, "usage": None} if self._with_usage else chunk


def usage_of(responses: Iterable[Response]) -> CompletionUsage:
    """Sum up the tokens of answers to one prompt."""
    usages = [turn.usage for response in responses for turn in response.turns[-1:]]
    prompt = usages[0].prompt_tokens if usages else 0
    written = sum(usage.completion_tokens for usage in usages)
    details = PromptDetails(
        cached_tokens=usages[0].cached_tokens if usages else 0,
        image_tokens=sum(usages[0].visual_tokens) if usages and usages[0].visual_tokens else None,
    )
    return CompletionUsage(
        prompt_tokens=prompt,
        completion_tokens=written,
        total_tokens=prompt + written,
        prompt_tokens_details=details,
    )


def failure_error(failure: Failure) -> ServiceError:
    """Return the error that a failure is to whoever asked, one that is asked again by clients where that may help."""
    if failure.type in ("ContextExceededError", "ChatOverflowError"):
        return ContextTooSmallError(failure.message)
    if failure.retryable:
        return AnswerFailedError(f"{failure.type}: {failure.message}; asking again may help")
    return ChatInvalidError(f"{failure.type}: {failure.message}")


def _choice(number: int, response: Response) -> Choice:
    answer = response.turns[-1]
    return Choice(
        index=number,
        message=AnswerMessage(content=answer.text),
        logprobs=None if answer.logprobs is None else Logprobs(content=list(answer.logprobs)),
        finish_reason=_finish_reason(response),
    )


def _finish_reason(response: Response) -> FinishReason:
    return _REASONS[response.turns[-1].finish_reason]


def _chunk_choice(number: int, delta: dict[str, Any], logprobs: Sequence[TokenLogprob] = ()) -> dict[str, Any]:
    told = {"content": [each.model_dump(mode="json") for each in logprobs], "refusal": None} if logprobs else None
    return {"index": number, "delta": delta, "logprobs": told, "finish_reason": None}


def _fingerprint(response: Response) -> str | None:
    """Return what answered: its name, version and weights."""
    engine = response.engine
    if engine is None:
        return None
    return "-".join(filter(None, (engine.name, engine.version, engine.model_revision)))
