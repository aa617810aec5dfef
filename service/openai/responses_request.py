"""The request of OpenAI's Responses API, read as the chat that it is. Nothing is stored: each holds its whole chat."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, model_validator

from gigavqa.runtime.validation import faults_at
from gigavqa.service.openai.chat_messages import MOST_MESSAGES, RequestModel, as_list
from gigavqa.service.openai.refused_fields import SHARED_FIELDS, RefusedField, field_faults
from gigavqa.service.openai.responses_input import InputItem, ResponsesChat
from gigavqa.service.openai.tools import MOST_TOOLS

_STORED = "is not taken: nothing is kept after the answer; send the whole chat as `input`"
_FIELDS = {
    **SHARED_FIELDS,
    **dict.fromkeys(("previous_response_id", "conversation", "context_management"), RefusedField(_STORED)),
    "prompt": RefusedField("is not taken: no prompts are kept here; send its text"),
    "background": RefusedField("is not spoken; ask without it, or by a batch", (False,)),
    "truncation": RefusedField("is not spoken: a chat that is too long is refused", ("disabled",)),
    "max_tool_calls": RefusedField("is not spoken: the only tools are the client's own functions"),
    "messages": RefusedField("is one of /v1/chat/completions; say `input`"),
    "max_tokens": RefusedField("is one of /v1/chat/completions; say max_output_tokens"),
    "max_completion_tokens": RefusedField("is one of /v1/chat/completions; say max_output_tokens"),
    "response_format": RefusedField("is one of /v1/chat/completions; say text: {format}"),
    "logprobs": RefusedField("is one of /v1/chat/completions; say include: [message.output_text.logprobs]", (False,)),
    "n": RefusedField("is one of /v1/chat/completions; a response is one answer", (1,)),
}
_CHAT_FIELDS = frozenset(
    {
        *("model", "stream", "temperature", "top_p", "top_k", "min_p", "repetition_penalty", "presence_penalty"),
        *("frequency_penalty", "seed", "stop", "stop_token_ids", "bad_words", "min_tokens", "ignore_eos"),
        *("logit_bias", "top_logprobs", "structured_outputs", "chat_template_kwargs", "parallel_tool_calls"),
    }
)
"""Fields that mean the same in a chat, and are checked there."""

_LOGPROBS = "message.output_text.logprobs"


class TextFormat(RequestModel):
    """The form that an answer's text must have."""

    type: Literal["text", "json_object", "json_schema"] = "text"
    schema_: dict[str, JsonValue] | None = Field(default=None, alias="schema")


class TextOptions(BaseModel):
    """The form of the answer's text."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: TextFormat = TextFormat()
    verbosity: Literal["medium"] | None = None


class ReasoningOptions(BaseModel):
    """How much is thought; no summaries of it are made."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    effort: str | None = None
    summary: None = None
    generate_summary: None = None


class ResponseStreamOptions(BaseModel):
    """The options of a stream; nothing is put into it to hide lengths."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    include_obfuscation: Literal[False] | None = None


class FunctionTool(RequestModel):
    """A function that a model may ask the client to call."""

    type: Literal["function"]
    name: str
    description: str | None = None
    parameters: dict[str, JsonValue] | None = None
    strict: bool | None = None


def _as_items(given: Any) -> Any:
    return [{"role": "user", "content": given}] if isinstance(given, str) else given


class ResponsesRequest(BaseModel):
    """The body of a response. Fields of chats that mean the same here are taken, too: `seed`, `top_k` and others."""

    model_config = ConfigDict(frozen=True, extra="allow")

    model: str = Field(max_length=1000)
    input: Annotated[tuple[InputItem, ...], BeforeValidator(_as_items), Field(min_length=1, max_length=MOST_MESSAGES)]
    instructions: str | None = None
    max_output_tokens: int | None = Field(default=None, ge=1, le=1_000_000)
    stream: bool | None = False
    stream_options: ResponseStreamOptions | None = None
    text: TextOptions | None = None
    reasoning: ReasoningOptions | None = None
    include: Annotated[
        tuple[Literal["message.output_text.logprobs", "reasoning.encrypted_content"], ...], BeforeValidator(as_list)
    ] = ()
    tools: Annotated[tuple[FunctionTool, ...], BeforeValidator(as_list), Field(max_length=MOST_TOOLS)] = ()
    tool_choice: JsonValue = None

    @model_validator(mode="before")
    @classmethod
    def _spoken(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            raise ValueError("a response is asked for by an object with `model` and `input`")
        if wrong := field_faults(given, {*cls.model_fields, *_CHAT_FIELDS}, _FIELDS):
            raise faults_at(wrong)
        return {name: value for name, value in given.items() if name in {*cls.model_fields, *_CHAT_FIELDS}}

    def chat(self) -> "ResponsesChat":
        """Return the body of the chat that is asked."""
        said = ResponsesChat(self._options())
        if self.instructions is not None:
            said.add({"role": "system", "content": self.instructions}, ("instructions",))
        for number, item in enumerate(self.input):
            said.add_item(item, ("input", number))
        return said

    def _options(self) -> dict[str, Any]:
        options = {**(self.model_extra or {}), "model": self.model, "stream": self.stream}
        options |= {"max_completion_tokens": self.max_output_tokens, "logprobs": _LOGPROBS in self.include or None}
        if self.reasoning:
            options["reasoning_effort"] = self.reasoning.effort
        if self.text and self.text.format.type != "text":
            form, schema = self.text.format.type, self.text.format.schema_
            options["response_format"] = {"type": form, "json_schema": None if schema is None else {"schema": schema}}
        options["tools"] = [
            {"type": tool.type, "function": tool.model_dump(exclude={"type"}, exclude_none=True)} for tool in self.tools
        ]
        choice = self.tool_choice
        if isinstance(choice, dict) and "name" in choice:
            choice = {"type": choice.get("type"), "function": {"name": choice["name"]}}
        options["tool_choice"] = choice
        return options
