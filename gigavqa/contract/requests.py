"""Requests as they are queued: chats of turns and views, how their answers are generated, and bundles of them."""

from typing import Literal, Self

from pydantic import Field, JsonValue, PositiveInt, model_validator

from gigavqa.catalogue.entry import Decoding
from gigavqa.contract.base import Contract, is_empty, is_none
from gigavqa.contract.tool_loops import MessagePart, ToolLoop, ZoomTool
from gigavqa.tiling.views import View

Condition = Literal["V0", "V0F", "V1", "V2", "V3", "V4", "V5", "V6"]
"""V0 nothing, V0F nothing and an answer is required (decision 0001), V1 thumbnails, V2 the images, V3 local evidence,
V4 the images and the evidence, V5 the images without those that hold evidence, V6 these alone."""
ClosingKind = Literal["choice", "number", "boolean", "json"]
SCHEMA_VERSION: Literal[2] = 2
"""Version of the form in which bundles and responses are kept; `schema_versions` reads those before."""


class StructuredOutput(Contract):
    """The form that an answer's text must have; exactly one is given, and the engine allows only tokens that keep to
    it.

    `in_object` is the schema of an object that says the same, for servers that keep to schemas alone.
    """

    json_schema: dict[str, JsonValue] | str | None = None
    json_object: Literal[True] | None = None
    regex: str | None = None
    choice: tuple[str, ...] | None = None
    grammar: str | None = None
    in_object: dict[str, JsonValue] | None = Field(default=None, exclude_if=is_none)


class GenerationConstraints(Contract):
    """Constraints of generation beyond sampling; names as OpenAI and vLLM have them.

    `logprobs` counts the likeliest tokens told beside each that is written; None tells none. `template` goes to the
    model's chat template.
    """

    stop: tuple[str, ...] = ()
    stop_token_ids: tuple[int, ...] = ()
    bad_words: tuple[str, ...] = ()
    min_tokens: int = 0
    ignore_eos: bool = False
    min_p: float = 0.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    logit_bias: dict[int, float] = Field(default_factory=dict)
    logprobs: int | None = None
    structure: StructuredOutput | None = None
    template: dict[str, JsonValue] = Field(default_factory=dict)


class Sampling(Decoding):
    """Sampling parameters of one request; `seed` makes its draws repeatable."""

    seed: int | None = None
    steering: GenerationConstraints | None = Field(default=None, exclude_if=is_none)


class Turn(Contract):
    """One question of a chat: texts and views in the order in which the model gets them.

    `given` is an answer put into the history in place of the model's own. `forced` is the answer that the model is
    held to: how likely it was is told, and nothing is generated.
    """

    parts: tuple[MessagePart, ...] = Field(min_length=1)
    given: str | None = None
    forced: str | None = Field(
        default=None, min_length=1, exclude_if=is_none, description="the answer whose likelihood is asked, word by word"
    )
    asks: str | None = Field(default=None, description="what it asks for, by the benchmark's name; None: the question")

    @property
    def text(self) -> str:
        """All that it says, without what it shows."""
        return "".join(part for part in self.parts if isinstance(part, str))

    @property
    def views(self) -> tuple[View, ...]:
        """Every view of its parts."""
        return tuple(part for part in self.parts if isinstance(part, View))


class Closing(Contract):
    """One more turn behind a chat's answer: words that ask for the answer alone, and what the engine holds it to."""

    kind: ClosingKind
    text: str = Field(min_length=1)
    structure: StructuredOutput
    max_tokens: PositiveInt
    prompt_version: str


class PriorMessage(Contract):
    """A message that stood in a chat before its first turn: texts and views in their order."""

    role: Literal["system", "user", "assistant"]
    parts: tuple[MessagePart, ...] = Field(min_length=1)


class RequestLabels(Contract):
    """The labels of a request and of its response: sample, model, cell, repeat and versions.

    Requests and responses are Labels, so that both write them flat into their JSON; `labels` takes them alone.
    """

    request_id: str = Field(description="unique within the job; a function of sample, cell, model and repeat")
    sample_id: str
    model: str
    protocol: str
    condition: Condition
    repeat: int = 0
    prompt_version: str | None = Field(
        default=None, description="version of the prompt texts, as the protocol names it"
    )
    details: dict[str, JsonValue] = Field(
        default_factory=dict, description="what else the benchmark tells of how it asked, by its own names"
    )

    @property
    def labels(self) -> "RequestLabels":
        """The labels alone."""
        # They were checked as those of the request or the response.
        return RequestLabels.model_construct(**{name: getattr(self, name) for name in RequestLabels.model_fields})


class InferenceRequest(RequestLabels):
    """One chat to play for one sample under one (model, protocol, condition, repeat)."""

    system: str | None = None
    before: tuple[PriorMessage, ...] = Field(
        default=(), exclude_if=is_empty, description="what the chat held before its first turn, behind `system`"
    )
    turns: tuple[Turn, ...] = Field(min_length=1)
    loop: ToolLoop | None = Field(
        default=None, exclude_if=is_none, description="what may be asked of the worker from the last turn on"
    )
    closing: Closing | None = Field(
        default=None, exclude_if=is_none, description="one more turn behind the answer, which stands beside it"
    )
    sampling: Sampling
    listener: str | None = Field(
        default=None, exclude_if=is_none, description="channel on which its text is told as it grows"
    )

    @property
    def id(self) -> str:
        """Name of the request within its job."""
        return self.request_id

    @property
    def views(self) -> tuple[View, ...]:
        """The views of all messages, in order."""
        earlier = tuple(part for said in self.before for part in said.parts if isinstance(part, View))
        return earlier + tuple(view for turn in self.turns for view in turn.views)

    @model_validator(mode="after")
    def _can_be_forced(self) -> Self:
        if any(turn.forced is not None for turn in self.turns[:-1]):
            raise ValueError("only the last turn's answer can be forced")
        if self.turns[-1].forced is not None and (self.loop or self.closing or self.turns[-1].given is not None):
            raise ValueError("behind an answer that is forced nothing is asked, and none is given in its place")
        return self

    @model_validator(mode="after")
    def _can_loop(self) -> Self:
        if self.loop is None:
            return self
        if self.turns[-1].given is not None:
            raise ValueError("a loop goes on from the answer to the last turn, which is given")
        zooms = [tool for tool in self.loop.tools if isinstance(tool, ZoomTool)]
        if unseen := [tool.name for tool in zooms if tool.image >= len(self.views)]:
            raise ValueError(f"{', '.join(unseen)}: the chat has {len(self.views)} view(s)")
        return self


class VersionedModel(Contract):
    """Base of what is kept, in the state store or in files: it begins with the version of its form.

    `gigavqa.contract.schema_versions` reads every version that there was.
    """

    version: Literal[2] = SCHEMA_VERSION


class Bundle(VersionedModel):
    """The requests of one job that share (model, image): what is queued, leased and acknowledged."""

    id: str
    job_id: str
    model: str
    image: str
    priority: Literal["interactive", "batch"] = "batch"
    cache_salt: str = Field(default="", exclude_if=is_empty, description="who shares prefixes of prompts; '': all")
    requests: tuple[InferenceRequest, ...] = Field(min_length=1)
