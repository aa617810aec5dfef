"""The request of a chat: OpenAI's fields and vLLM's own, within bounds; what is not spoken is refused by name."""

import hashlib
import secrets
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, FailFast, Field, JsonValue, model_validator

from gigavqa.catalogue.entry import CatalogueEntry, Decoding
from gigavqa.contract.requests import GenerationConstraints, Sampling, StructuredOutput
from gigavqa.runtime.suggestions import did_you_mean

_MOST_MESSAGES = 2000
_MOST_PARTS = 2000
_TOOLS_UNSUPPORTED = "tools are not spoken yet; write what they are into the text, and read calls from the answer"
_REPLACED_FIELDS = {
    "guided_json": "structured_outputs: {json}, or response_format",
    "guided_regex": "structured_outputs: {regex}",
    "guided_choice": "structured_outputs: {choice}",
    "guided_grammar": "structured_outputs: {grammar}",
    "guided_decoding_backend": "nothing: the engine chooses",
    "guided_whitespace_pattern": "nothing: the engine chooses",
}
_UNSUPPORTED_FIELDS = {
    **dict.fromkeys(("tools", "tool_choice", "functions", "function_call", "parallel_tool_calls"), _TOOLS_UNSUPPORTED),
    **{name: f"is not read any more by the engine; say {new}" for name, new in _REPLACED_FIELDS.items()},
    "mm_processor_kwargs": "is not taken: pictures are made at the very size at which the model changes nothing",
    "media_io_kwargs": "is not taken: pictures are read by the service",
    "audio": "is not spoken: chats are of texts and pictures",
    "modalities": "is not spoken: answers are texts",
    "prediction": "is not spoken",
    "web_search_options": "is not spoken",
    "chat_template": "is not taken: templates are the model's own; chat_template_kwargs go to it",
    "add_generation_prompt": "is not taken: a chat is always answered",
    "continue_final_message": "is not spoken: the last message is the user's",
    "echo": "is not spoken",
    "documents": "is not spoken",
    "prompt_logprobs": "is not spoken; logprobs are those of the answer",
    "use_beam_search": "is not spoken",
    "length_penalty": "is not spoken: it is one of beam search",
    "allowed_token_ids": "is not spoken; say logit_bias",
    "truncate_prompt_tokens": "is not spoken: a chat that is too long is refused",
}
_SERVICE_FIELDS = frozenset({"request_id", "cache_salt", "session_id", "priority"})
"""Fields by which others could meddle with caches and order; the service sets them itself."""
_IGNORED_FIELDS = frozenset(
    {
        *("user", "store", "metadata", "service_tier", "safety_identifier", "prompt_cache_key"),
        *("prompt_cache_retention", "verbosity", "include_reasoning", "skip_special_tokens", "stream_interval"),
        *("spaces_between_special_tokens", "include_stop_str_in_output", "return_token_ids"),
    }
)
_RESERVED_TEMPLATE_ARGUMENTS = frozenset(
    {
        *("chat_template", "tokenize", "conversation", "messages", "tools", "documents", "return_dict"),
        *("add_generation_prompt", "continue_final_message", "padding", "truncation", "return_tensors"),
    }
)


def _as_list(given: Any) -> Any:
    return [] if given is None else [given] if isinstance(given, str) else given


def _require_few(name: str, given: Any) -> None:
    """Bound what is looked at one by one, before it is: each thing that is wrong would be an error of its own."""
    if isinstance(given, list | Mapping) and len(given) > _MOST_MESSAGES:
        raise ValueError(f"'{name[:100]}' has {len(given)} entries; at most {_MOST_MESSAGES} are read")


def _text_or_parts(given: Any) -> Any:
    if given is None:
        return []
    _require_few("content", given)
    return [{"type": "text", "text": given}] if isinstance(given, str) else given


class _RequestModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class ImageUrl(_RequestModel):
    """The place of a picture: an address, or an uploaded file. `detail` is known, and changes nothing."""

    url: str | None = None
    file_id: str | None = None


class FileReference(_RequestModel):
    """A file of a message: uploaded before, or in the message."""

    file_id: str | None = None
    file_data: str | None = None


def _as_image_url(given: Any) -> Any:
    return {"url": given} if isinstance(given, str) else given


class ContentPart(_RequestModel):
    """A part of a message: a text, or a picture."""

    type: Literal["text", "image_url", "file"]
    text: Annotated[str | None, Field(max_length=8 << 20)] = None
    image_url: Annotated[ImageUrl | None, BeforeValidator(_as_image_url)] = None
    file: FileReference | None = None

    @model_validator(mode="after")
    def _said(self) -> "ContentPart":
        if getattr(self, self.type) is None:
            raise ValueError(f"a part of type {self.type} needs the field '{self.type}'")
        return self


class ChatMessage(_RequestModel):
    """A message of a chat."""

    role: Literal["system", "developer", "user", "assistant"]
    content: Annotated[
        tuple[ContentPart, ...], FailFast(), BeforeValidator(_text_or_parts), Field(max_length=_MOST_PARTS)
    ] = ()

    @model_validator(mode="before")
    @classmethod
    def _no_tools(cls, given: Any) -> Any:
        if isinstance(given, Mapping) and (
            given.get("role") in ("tool", "function") or given.get("tool_calls") or given.get("function_call")
        ):
            raise ValueError(_TOOLS_UNSUPPORTED)
        return given


class JsonSchema(_RequestModel):
    """A schema by name, as OpenAI has it; name and `strict` change nothing."""

    schema_: dict[str, JsonValue] = Field(alias="schema")


class ResponseFormat(_RequestModel):
    """The form that an answer's text must have."""

    type: Literal["text", "json_object", "json_schema"]
    json_schema: JsonSchema | None = None


class StructuredOutputs(_RequestModel):
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


class StreamOptions(_RequestModel):
    """The options of a stream."""

    include_usage: bool = False
    continuous_usage_stats: bool = False


Texts = Annotated[tuple[Annotated[str, Field(min_length=1, max_length=1000)], ...], BeforeValidator(_as_list)]
_Penalty = Annotated[float | None, Field(ge=-2, le=2)]


class ChatCompletionRequest(BaseModel):
    """The body of a chat. Fields left out take the model's own decoding from the catalogue."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = Field(max_length=1000)
    messages: Annotated[tuple[ChatMessage, ...], FailFast()] = Field(min_length=1, max_length=_MOST_MESSAGES)
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

    @model_validator(mode="before")
    @classmethod
    def _spoken(cls, given: Any) -> Any:
        """Refuse by name what is not spoken; leave out what changes nothing, or is the service's own to say."""
        if not isinstance(given, Mapping):
            raise ValueError("a chat is an object with `model` and `messages`")
        if wrong := [
            f"'{name}' {_UNSUPPORTED_FIELDS[name]}"
            for name in _UNSUPPORTED_FIELDS
            if given.get(name) not in (None, [], False)
        ]:
            raise ValueError("; ".join(wrong))
        for name, value in given.items():
            _require_few(str(name), value)
        known = {
            name: value
            for name, value in given.items()
            if name not in _SERVICE_FIELDS | _IGNORED_FIELDS | set(_UNSUPPORTED_FIELDS)
        }
        if unknown := sorted(set(known) - set(cls.model_fields)):
            raise ValueError("; ".join(f"there is no '{n}'{did_you_mean(n, cls.model_fields)}" for n in unknown[:10]))
        return known

    @model_validator(mode="after")
    def _agrees(self) -> "ChatCompletionRequest":
        if self.messages[-1].role != "user":
            raise ValueError(f"the last message is the {self.messages[-1].role}'s; what is answered is the user's")
        if self.top_logprobs is not None and not self.logprobs:
            raise ValueError("top_logprobs needs logprobs: true")
        if self.response_format and self.response_format.type == "json_schema" and not self.response_format.json_schema:
            raise ValueError("response_format of type json_schema needs the field 'json_schema'")
        if taken := sorted(_RESERVED_TEMPLATE_ARGUMENTS.intersection(self.chat_template_kwargs or ())):
            raise ValueError(f"chat_template_kwargs may not say {', '.join(taken)}")
        return self

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
