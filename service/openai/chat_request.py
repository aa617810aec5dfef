"""The request of a chat: OpenAI's fields and vLLM's own, within bounds; what is not spoken is refused by name."""

import hashlib
import secrets
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, FailFast, Field, JsonValue, model_validator

from gigavqa.catalogue.entry import CatalogueEntry, Decoding
from gigavqa.contract.requests import GenerationConstraints, Sampling, StructuredOutput
from gigavqa.runtime.validation import faults_at
from gigavqa.service.openai.chat_messages import MOST_MESSAGES, ChatMessage, RequestModel, as_list
from gigavqa.service.openai.forced_answers import forced_faults, unforced_faults
from gigavqa.service.openai.refused_fields import CHAT_FIELDS, field_faults
from gigavqa.service.openai.tools import MOST_TOOLS, NamedToolChoice, Tool, ToolChoice, calls_schema

_RESERVED_TEMPLATE_ARGUMENTS = frozenset(
    {
        *("chat_template", "tokenize", "conversation", "messages", "tools", "documents", "return_dict"),
        *("add_generation_prompt", "continue_final_message", "padding", "truncation", "return_tensors"),
    }
)


class JsonSchema(RequestModel):
    """A schema by name, as OpenAI has it; name and `strict` change nothing."""

    schema_: dict[str, JsonValue] = Field(alias="schema")


class ResponseFormat(RequestModel):
    """The form that an answer's text must have."""

    type: Literal["text", "json_object", "json_schema"]
    json_schema: JsonSchema | None = None


class StructuredOutputs(RequestModel):
    """The form that an answer's text must have, in vLLM's fields; one of them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    json_: dict[str, JsonValue] | str | None = Field(default=None, alias="json")
    regex: str | None = Field(default=None, max_length=10_000)
    choice: tuple[str, ...] | None = Field(default=None, min_length=1, max_length=1000)
    grammar: str | None = Field(default=None, max_length=100_000)
    json_object: Literal[True] | None = None

    @model_validator(mode="after")
    def _one(self) -> "StructuredOutputs":
        if len(self.model_dump(exclude_none=True)) != 1:
            raise ValueError("say one of json, regex, choice, grammar and json_object")
        return self


class StreamOptions(RequestModel):
    """The options of a stream."""

    include_usage: bool = False
    continuous_usage_stats: bool = False


Texts = Annotated[tuple[Annotated[str, Field(min_length=1, max_length=1000)], ...], BeforeValidator(as_list)]
_Penalty = Annotated[float | None, Field(ge=-2, le=2)]


class ChatCompletionRequest(BaseModel):
    """The body of a chat. Fields left out take the model's own decoding from the catalogue."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = Field(max_length=1000)
    messages: Annotated[tuple[ChatMessage, ...], FailFast()] = Field(min_length=1, max_length=MOST_MESSAGES)
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    n: int | None = Field(default=1, ge=1, le=128)
    max_tokens: int | None = Field(default=None, ge=1, le=1_000_000)
    max_completion_tokens: int | None = Field(default=None, ge=1, le=1_000_000)
    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, gt=0, le=1)
    top_k: int | None = Field(default=None, ge=-1, le=1_000_000)
    min_p: float | None = Field(default=None, ge=0, le=1)
    repetition_penalty: float | None = Field(default=None, gt=0, le=2)
    presence_penalty: _Penalty = None
    frequency_penalty: _Penalty = None
    seed: int | None = Field(default=None, ge=-(2**63), lt=2**63)
    stop: Annotated[Texts, Field(max_length=16)] = ()
    stop_token_ids: tuple[Annotated[int, Field(ge=0)], ...] | None = Field(default=None, max_length=64)
    bad_words: Annotated[Texts, Field(max_length=64)] = ()
    min_tokens: int | None = Field(default=None, ge=0, le=1_000_000)
    ignore_eos: bool | None = None
    logprobs: bool | None = None
    top_logprobs: int | None = Field(default=None, ge=0, le=20)
    logit_bias: dict[Annotated[int, Field(ge=0)], Annotated[float, Field(ge=-100, le=100)]] | None = Field(
        default=None, max_length=1024
    )
    response_format: ResponseFormat | None = None
    structured_outputs: StructuredOutputs | None = None
    chat_template_kwargs: dict[str, bool | int | float | str | None] | None = Field(default=None, max_length=16)
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None = None
    tools: Annotated[tuple[Tool, ...], BeforeValidator(as_list), Field(max_length=MOST_TOOLS)] = ()
    tool_choice: ToolChoice = None
    parallel_tool_calls: bool | None = None
    prompt_logprobs: Literal[0] | None = Field(
        default=None,
        description="with a last message of the assistant's: tells how likely that text is as the answer, token by "
        "token, and generates nothing",
    )
    continue_final_message: bool | None = None
    add_generation_prompt: bool | None = None

    @model_validator(mode="before")
    @classmethod
    def _spoken(cls, given: Any) -> Any:
        """Refuse by name what is not spoken; leave out what changes nothing, or is the service's own to say."""
        if not isinstance(given, Mapping):
            raise ValueError("a chat is an object with `model` and `messages`")
        if wrong := field_faults(given, cls.model_fields, CHAT_FIELDS):
            raise faults_at(wrong)
        if long := {
            str(name)[:100]: f"'{str(name)[:100]}' has {len(value)} entries; at most {MOST_MESSAGES} are read"
            for name, value in given.items()
            if isinstance(value, list | Mapping) and len(value) > MOST_MESSAGES
        }:
            raise faults_at(long)
        return {name: value for name, value in given.items() if name in cls.model_fields}

    @model_validator(mode="after")
    def _agrees(self) -> "ChatCompletionRequest":
        wrong = forced_faults(self) if self.is_forced else unforced_faults(self)
        if self.top_logprobs is not None and not self.logprobs:
            wrong["top_logprobs"] = "top_logprobs needs logprobs: true"
        if self.response_format and self.response_format.type == "json_schema" and not self.response_format.json_schema:
            wrong["response_format"] = "response_format of type json_schema needs the field 'json_schema'"
        if taken := sorted(_RESERVED_TEMPLATE_ARGUMENTS.intersection(self.chat_template_kwargs or ())):
            wrong["chat_template_kwargs"] = f"chat_template_kwargs may not say {', '.join(taken)}"
        if wrong := wrong | self._tool_faults():
            raise faults_at(wrong)
        return self

    def _tool_faults(self) -> dict[str, str]:
        names, choice = [tool.function.name for tool in self.tools], self.tool_choice
        # Calls that are asked for leave no text which a response_format could hold.
        is_formed = self.structured_outputs or (
            self.tool_form == "auto" and self.response_format and self.response_format.type != "text"
        )
        wrong = {}
        if len(set(names)) < len(names):
            wrong["tools"] = "two tools have the same name"
        if not names and choice not in (None, "none", "auto"):
            wrong["tool_choice"] = "tool_choice asks for a call, and there are no tools"
        elif isinstance(choice, NamedToolChoice) and choice.function.name not in names:
            wrong["tool_choice"] = f"there is no tool '{choice.function.name}'; there are {', '.join(names)}"
        elif self.tool_form is not None and is_formed:
            wrong["tool_choice"] = (
                "an answer is held either to a form or to calls of tools; say tool_choice 'none', or leave out "
                "response_format and structured_outputs"
            )
        if self.tool_form == "auto" and self.parallel_tool_calls is False:
            wrong["parallel_tool_calls"] = (
                "with tool_choice 'auto' the model chooses how many calls it writes; say 'required', or name a tool"
            )
        if self.tool_form is not None and self.logprobs:
            wrong["logprobs"] = "logprobs are not told of answers that may be calls; leave out the tools"
        return wrong

    @property
    def is_forced(self) -> bool:
        """Whether the last message is the answer, whose likelihood is asked."""
        return self.messages[-1].role == "assistant" and self.prompt_logprobs is not None

    @property
    def tool_form(self) -> ToolChoice:
        """How calls are chosen; None where nothing is to be called."""
        return None if not self.tools or self.tool_choice == "none" else self.tool_choice or "auto"

    @property
    def includes_usage(self) -> bool:
        """Whether a stream ends with the usage."""
        return self.stream_options is not None and self.stream_options.include_usage

    def samplings(self, entry: CatalogueEntry, default_seed: int | None = None) -> list[Sampling]:
        """Return the sampling parameters of each of the `n` answers: what is asked for over the model's own decoding.

        Draws are of a seed, so that an answer that is played again after a crash is the same; where none is asked for
        it is the default, or a random one.
        """
        asked = {name: value for name in Decoding.model_fields if (value := getattr(self, name)) is not None}
        asked |= {"max_tokens": self.max_completion_tokens} if self.max_completion_tokens else {}
        decoding = {**entry.decoding.model_dump(), **asked}
        constraints = self._constraints()
        seed = self.seed if self.seed is not None else default_seed
        seed = secrets.randbits(62) if seed is None else seed
        return [
            Sampling(**decoding, seed=_answer_seed(seed, number), steering=constraints) for number in range(self.n or 1)
        ]

    def _constraints(self) -> GenerationConstraints | None:
        plain = ("min_tokens", "ignore_eos", "min_p", "presence_penalty", "frequency_penalty")
        asked: dict[str, Any] = {name: value for name in plain if (value := getattr(self, name)) is not None}
        asked |= {"stop": self.stop, "bad_words": self.bad_words, "stop_token_ids": self.stop_token_ids or ()}
        asked |= {"logit_bias": self.logit_bias or {}, "structure": self._structure(), "template": self._template()}
        constraints = GenerationConstraints(**asked, logprobs=(self.top_logprobs or 0) if self.logprobs else None)
        return None if constraints == GenerationConstraints() else constraints

    def _structure(self) -> StructuredOutput | None:
        if self.tool_form is not None:
            return calls_schema(self.tools, self.tool_form, several=self.parallel_tool_calls is not False)
        wanted = self.response_format
        if wanted and wanted.json_schema and wanted.type == "json_schema":
            return StructuredOutput(json_schema=wanted.json_schema.schema_)
        if wanted and wanted.type == "json_object":
            return StructuredOutput(json_object=True)
        if self.structured_outputs:
            said = self.structured_outputs.model_dump(exclude_none=True)
            return StructuredOutput(
                **{"json_schema" if name == "json_" else name: value for name, value in said.items()}
            )
        return None

    def _template(self) -> dict[str, JsonValue]:
        asked: dict[str, JsonValue] = {}
        if self.reasoning_effort is not None:
            asked = {"reasoning_effort": self.reasoning_effort, "enable_thinking": self.reasoning_effort != "none"}
        return {**asked, **(self.chat_template_kwargs or {})}


def _answer_seed(seed: int, number: int) -> int:
    """Return the seed of one of several answers; the first has the one that was asked for."""
    if number == 0:
        return seed
    drawn = hashlib.blake2b(f"{seed}:{number}".encode(), digest_size=7).digest()
    return int.from_bytes(drawn, "big")
