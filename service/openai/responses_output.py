"""Responses as OpenAI's Responses API tells them: whole, and as the events of a stream."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, Field, JsonValue
from sse_starlette import ServerSentEvent

from gigavqa.contract.responses import Response, TokenLogprob
from gigavqa.service.openai.chat_service import PreparedChat
from gigavqa.service.openai.completions import usage_of
from gigavqa.service.openai.pending_chats import FinishedAnswer, TextDelta
from gigavqa.service.openai.responses_request import ResponsesRequest
from gigavqa.service.openai.stream_events import stream_event
from gigavqa.service.openai.tool_calls import Answer, GrowingAnswer, number_calls, read_answer
from gigavqa.service.openai.tools import FORM

Status = Literal["in_progress", "completed", "incomplete", "failed"]
_REASONS = {"length": "max_output_tokens", "content_filter": "content_filter"}


class ResponseUsage(BaseModel):
    """Tokens of the input and of the output; texts hold what was thought, so that no other tokens were."""

    input_tokens: int
    input_tokens_details: dict[str, int | None]
    output_tokens: int
    output_tokens_details: dict[str, int]
    total_tokens: int


class ResponseObject(BaseModel):
    """A response. `output` has a message, calls of functions, or both; nothing of it is kept."""

    id: str = Field(examples=["resp_5f0c"])
    object: Literal["response"] = "response"
    created_at: int
    status: Status
    error: dict[str, str | None] | None = None
    incomplete_details: dict[str, str] | None = None
    instructions: str | None = None
    max_output_tokens: int | None = None
    model: str
    output: list[dict[str, Any]]
    parallel_tool_calls: bool = True
    previous_response_id: None = None
    reasoning: dict[str, str | None] = {}
    store: Literal[False] = False
    temperature: float
    top_p: float
    text: dict[str, JsonValue]
    tool_choice: JsonValue = "auto"
    tools: list[dict[str, JsonValue]] = []
    truncation: Literal["disabled"] = "disabled"
    usage: ResponseUsage | None = None
    metadata: dict[str, str] = {}


class ResponseWriter:
    """Writes the response of one chat."""

    def __init__(self, chat: PreparedChat, asked: ResponsesRequest) -> None:
        sampling, extra = chat.request.sampling, asked.model_extra or {}
        form = asked.text.format if asked.text else None
        self.key = chat.key
        self._begun = ResponseObject(
            id=f"resp_{chat.key}",
            created_at=chat.created,
            status="in_progress",
            instructions=asked.instructions,
            max_output_tokens=asked.max_output_tokens,
            model=chat.model,
            output=[],
            parallel_tool_calls=extra.get("parallel_tool_calls") is not False,
            reasoning={"effort": asked.reasoning.effort if asked.reasoning else None, "summary": None},
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            text={"format": form.model_dump(by_alias=True, exclude_none=True) if form else {"type": "text"}},
            tool_choice=asked.tool_choice or "auto",
            tools=[tool.model_dump() for tool in asked.tools],
        )

    def begun(self) -> ResponseObject:
        """Return the response before anything of it is there."""
        return self._begun

    def failed(self, error: Mapping[str, str | None]) -> ResponseObject:
        """Return the response that ended by an error."""
        told = {"code": error["code"], "message": error["message"]}
        return self._begun.model_copy(update={"status": "failed", "error": told})

    def whole(self, responses: Mapping[int, Response]) -> ResponseObject:
        """Return the response. Raises AnswerFailedError."""
        response = responses[0]
        turn, answer, usage = response.turns[-1], read_answer(response), usage_of([response])
        reason = _REASONS.get(turn.finish_reason)
        output = [] if answer.calls and not answer.text else [self.message(answer.text, turn.logprobs or (), reason)]
        return self._begun.model_copy(
            update={
                "status": "incomplete" if reason else "completed",
                "incomplete_details": {"reason": reason} if reason else None,
                "output": [*output, *self.calls(answer)],
                "usage": ResponseUsage(
                    input_tokens=usage.prompt_tokens,
                    input_tokens_details=usage.prompt_tokens_details.model_dump(),
                    output_tokens=usage.completion_tokens,
                    output_tokens_details={"reasoning_tokens": turn.usage.reasoning_tokens or 0},
                    total_tokens=usage.total_tokens,
                ),
            }
        )

    def message(self, text: str, logprobs: Sequence[TokenLogprob] = (), reason: str | None = None) -> dict[str, Any]:
        """Return the item that holds the text."""
        status = "incomplete" if reason else "completed"
        content = [output_text(text, logprobs)]
        return {"id": f"msg_{self.key}", "type": "message", "role": "assistant", "status": status, "content": content}

    def calls(self, answer: Answer) -> list[dict[str, Any]]:
        """Return an item for each call."""
        return [
            {
                "id": f"fc_{self.key}_{number}",
                "type": "function_call",
                "status": "completed",
                "call_id": call.id,
                **call.function.model_dump(),
            }
            for number, call in enumerate(number_calls(answer.calls, f"{self.key}_0"))
        ]


class ResponseEventWriter:
    """Writes a response as it grows, as the events of a stream in OpenAI's order."""

    def __init__(self, chat: PreparedChat, asked: ResponsesRequest) -> None:
        self._writer = ResponseWriter(chat, asked)
        self._growing = GrowingAnswer(chat.request.details.get(FORM))
        self._item = {"item_id": f"msg_{chat.key}", "output_index": 0, "content_index": 0}
        self._number = 0
        self._has_message = False
        self._ended: ResponseObject | None = None

    def take(self, event: TextDelta | FinishedAnswer) -> Iterable[ServerSentEvent]:
        """Return the events that tell what is new. Raises AnswerFailedError."""
        if not self._number:
            yield self._event("created", response=self._writer.begun().model_dump())
            yield self._event("in_progress", response=self._writer.begun().model_dump())
        if isinstance(event, TextDelta):
            text = self._growing.grow(event.text)
            if text or event.logprobs:
                yield from self._delta(text, event.logprobs)
            return
        rest = self._growing.end(event.response)
        self._ended = self._writer.whole({0: event.response})
        if rest.text or (self._ended.output[0]["type"] == "message" and not self._has_message):
            yield from self._delta(rest.text)
        for index, item in enumerate(self._ended.output):
            yield from self._end_message(item) if item["type"] == "message" else self._call(index, item)

    def end(self) -> Iterable[ServerSentEvent]:
        """Return the event of the whole response."""
        if self._ended:
            yield self._event(self._ended.status, response=self._ended.model_dump())

    def fail(self, error: Mapping[str, str | None]) -> Iterable[ServerSentEvent]:
        """Return the event of a response that failed."""
        yield self._event("failed", response=self._writer.failed(error).model_dump())

    def _delta(self, text: str, logprobs: Sequence[TokenLogprob] = ()) -> Iterable[ServerSentEvent]:
        if not self._has_message:
            self._has_message = True
            item = {**self._writer.message(""), "status": "in_progress", "content": []}
            yield self._event("output_item.added", output_index=0, item=item)
            yield self._event("content_part.added", **self._item, part=output_text(""))
        if text or logprobs:
            told = output_text(text, logprobs)["logprobs"]
            yield self._event("output_text.delta", **self._item, delta=text, logprobs=told)

    def _end_message(self, item: dict[str, Any]) -> Iterable[ServerSentEvent]:
        (part,) = item["content"]
        yield self._event("output_text.done", **self._item, text=part["text"], logprobs=part["logprobs"])
        yield self._event("content_part.done", **self._item, part=part)
        yield self._event("output_item.done", output_index=0, item=item)

    def _call(self, index: int, item: dict[str, Any]) -> Iterable[ServerSentEvent]:
        place, arguments = {"item_id": item["id"], "output_index": index}, item["arguments"]
        begun = {**item, "status": "in_progress", "arguments": ""}
        yield self._event("output_item.added", output_index=index, item=begun)
        yield self._event("function_call_arguments.delta", **place, delta=arguments)
        yield self._event("function_call_arguments.done", **place, name=item["name"], arguments=arguments)
        yield self._event("output_item.done", output_index=index, item=item)

    def _event(self, name: str, /, **fields: Any) -> ServerSentEvent:
        told = {"type": f"response.{name}", "sequence_number": self._number, **fields}
        self._number += 1
        return stream_event(told, f"response.{name}")


def output_text(text: str, logprobs: Sequence[TokenLogprob] = ()) -> dict[str, Any]:
    """Return the part of a message that holds its text."""
    told = [{"top_logprobs": [], **each.model_dump(mode="json")} for each in logprobs]
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": told}
