"""Chat completions and their chunks, as OpenAI tells them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, Field, JsonValue
from sse_starlette import ServerSentEvent

from gigavqa.contract.base import is_none
from gigavqa.contract.responses import Failure, Response, TokenLogprob
from gigavqa.service.errors import AnswerFailedError, ChatInvalidError, ContextTooSmallError, ServiceError
from gigavqa.service.openai.forced_answers import AnswerLikelihood
from gigavqa.service.openai.pending_chats import FinishedAnswer, TextDelta
from gigavqa.service.openai.stream_events import stream_event
from gigavqa.service.openai.tool_calls import GrowingAnswer, ToolCall, number_calls, read_answer
from gigavqa.service.openai.uploads import as_sent
from gigavqa.tiling.errors import ImageUnreadableError

FinishReason = Literal["stop", "length", "content_filter", "tool_calls"]
_REASONS: Mapping[str, FinishReason] = {"stop": "stop", "length": "length", "content_filter": "content_filter"}


class AnswerMessage(BaseModel):
    """The model's message; never null, marks of thoughts and boxes included."""

    role: Literal["assistant"] = "assistant"
    content: str
    refusal: None = None
    tool_calls: list[ToolCall] | None = Field(default=None, exclude_if=is_none)


class Logprobs(BaseModel):
    """The log-probabilities of tokens."""

    content: list[TokenLogprob]
    refusal: None = None


class Choice(BaseModel):
    """One answer."""

    index: int
    message: AnswerMessage
    logprobs: Logprobs | None = None
    likelihood: AnswerLikelihood | None = Field(
        default=None, exclude_if=is_none, description="of an answer that the request gave"
    )
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


class CompletionWriter:
    """Writes the whole completion of a chat, with the fields that its chunks share."""

    def __init__(self, key: str, created: int, model: str) -> None:
        self.key = key
        self.head: dict[str, Any] = {"id": f"chatcmpl-{key}", "created": created, "model": model}

    def whole(self, responses: Mapping[int, Response]) -> Completion:
        """Return the whole completion. Raises AnswerFailedError."""
        return Completion(
            **self.head,
            choices=[self._choice(number, responses[number]) for number in sorted(responses)],
            usage=usage_of(responses.values()),
            system_fingerprint=_fingerprint(responses[0]),
        )

    def _choice(self, number: int, response: Response) -> Choice:
        answer, logprobs = read_answer(response), response.turns[-1].logprobs
        calls = number_calls(answer.calls, f"{self.key}_{number}")
        return Choice(
            index=number,
            message=AnswerMessage(content=answer.text, tool_calls=calls or None),
            logprobs=None if logprobs is None else Logprobs(content=list(logprobs)),
            likelihood=AnswerLikelihood.of(response.turns[-1]),
            finish_reason="tool_calls" if calls else _finish_reason(response),
        )


class ChunkWriter(CompletionWriter):
    """Writes a chat as it grows, as a stream of chunks. `form` is how the request has calls written."""

    def __init__(self, key: str, created: int, model: str, *, with_usage: bool, form: JsonValue) -> None:
        super().__init__(key, created, model)
        self._with_usage = with_usage
        self._form = form
        self._growing: dict[int, GrowingAnswer] = {}
        self._ended: list[Response] = []

    def take(self, event: TextDelta | FinishedAnswer) -> Iterable[ServerSentEvent]:
        """Return the chunks that tell what is new. Raises AnswerFailedError."""
        number = event.number
        if number not in self._growing:
            self._growing[number] = GrowingAnswer(self._form)
            yield self._chunk(number, {"role": "assistant", "content": ""})
        if isinstance(event, TextDelta):
            if (text := self._growing[number].grow(event.text)) or event.logprobs:
                yield self._chunk(number, {"content": text}, logprobs=event.logprobs)
            return
        answer = self._growing[number].end(event.response)
        if answer.text:
            yield self._chunk(number, {"content": answer.text})
        calls = number_calls(answer.calls, f"{self.key}_{number}")
        for index, call in enumerate(calls):
            yield self._chunk(number, {"tool_calls": [{"index": index, **call.model_dump()}]})
        yield self._chunk(number, {}, finish_reason="tool_calls" if calls else _finish_reason(event.response))
        self._ended.append(event.response)

    def end(self) -> Iterable[ServerSentEvent]:
        """Return the usage, where it is asked for, and what ends the stream."""
        if self._with_usage:
            yield self._event([], usage_of(self._ended).model_dump())
        yield stream_event("[DONE]")

    def fail(self, error: Mapping[str, Any]) -> Iterable[ServerSentEvent]:
        """Return the error, and what ends the stream."""
        return [stream_event({"error": error}), stream_event("[DONE]")]

    def _chunk(
        self,
        number: int,
        delta: Mapping[str, Any],
        finish_reason: FinishReason | None = None,
        logprobs: Sequence[TokenLogprob] = (),
    ) -> ServerSentEvent:
        told = {"content": [each.model_dump(mode="json") for each in logprobs], "refusal": None} if logprobs else None
        return self._event([{"index": number, "delta": delta, "logprobs": told, "finish_reason": finish_reason}])

    def _event(self, choices: Sequence[Mapping[str, Any]], usage: Mapping[str, Any] | None = None) -> ServerSentEvent:
        head = {"object": "chat.completion.chunk", **self.head, "choices": choices}
        return stream_event({**head, "usage": usage} if self._with_usage else head)


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
    if failure.type == ImageUnreadableError.__name__:
        told = as_sent(failure.message)
        return ChatInvalidError(f"{told}; its pixels cannot be read: save the picture anew, or send another")
    if failure.retryable:
        return AnswerFailedError(f"{failure.type}: {failure.message}; asking again may help")
    return ChatInvalidError(f"{failure.type}: {as_sent(failure.message)}")


def _finish_reason(response: Response) -> FinishReason:
    return _REASONS[response.turns[-1].finish_reason]


def _fingerprint(response: Response) -> str | None:
    """Return what answered: its name, version and weights."""
    engine = response.engine
    if engine is None:
        return None
    return "-".join(filter(None, (engine.name, engine.version, engine.model_revision)))
