"""Tool loops: the tools that a chat may call, the form of calls, and the texts for what goes wrong.

A loop is data. Whoever declares one is asked nothing while it is played, and a record of each call comes back.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, NonNegativeInt, PositiveFloat, PositiveInt, field_validator, model_validator

from gigavqa.contract.base import Contract
from gigavqa.retrieval.sources import MAX_HITS
from gigavqa.tiling.views import View, check_sizing

MAX_ROUNDS = 64
_MOST_TOOLS = 32
_Name = Annotated[str, Field(min_length=1, max_length=200)]
_Text = Annotated[str, Field(max_length=30_000)]
_Mark = Annotated[str, Field(min_length=1, max_length=200)]

MessagePart = str | View
"""What a message is made of, in order."""


class ZoomTool(Contract):
    """Crops the image of one of the request's views: a box of four numbers, left, top, right and bottom.

    They count `unit` parts of the full image's sides; `boxes` names the arguments that may hold them, of which the
    first that is there counts. The picture stands between `before` and `after`.
    """

    kind: Literal["zoom"] = "zoom"
    name: _Name
    boxes: tuple[_Name, ...] = Field(default=("bbox_2d", "bbox"), min_length=1, max_length=8)
    unit: PositiveFloat = Field(default=1000, allow_inf_nan=False)
    image: NonNegativeInt = Field(default=0, description="number of the view whose image it is")
    sizing: str = "native"
    before: _Text
    after: _Text

    @field_validator("sizing")
    @classmethod
    def _known_rule(cls, text: str) -> str:
        return check_sizing(text)


class FixedTool(Contract):
    """Has one result, whatever the arguments."""

    kind: Literal["given"] = "given"
    name: _Name
    parts: tuple[MessagePart, ...] = Field(min_length=1, max_length=64)


class SearchTool(Contract):
    """Asks a source for pages, and shows what is made of them.

    `source` is a name, of a corpus below the data root or of a source of the worker's operator; never an address. Where
    `source_version` says something, no other state of it is asked.
    `found` and `nothing` are whole messages, in which `{query}` and, where pages were found, `{result}` are filled in;
    so is `unsummed`, where pages were found and the source's summarizer made nothing of them.
    """

    kind: Literal["search"] = "search"
    name: _Name
    argument: _Name = "query"
    source: str = Field(min_length=1, max_length=400)
    source_version: str = Field(
        default="", max_length=200, description="digest of a corpus, or what the operator calls the source's state"
    )
    top_k: PositiveInt = Field(default=3, le=MAX_HITS)
    found: _Text
    nothing: _Text
    unsummed: _Text = ""


Tool = Annotated[ZoomTool | FixedTool | SearchTool, Field(discriminator="kind")]


class ToolErrors(Contract):
    """Whole messages that answer what cannot be done.

    `arguments`: the call is no object, or what stands for its arguments is not what it must be; `unknown`: there is no
    such tool, `{name}` is what was written; `box` and `query`: these are missing, or no box or query.
    """

    arguments: _Text
    unknown: _Text
    box: _Text
    query: _Text


class JsonCall(Contract):
    """An object with the name of the tool and its arguments, as Qwen's, Hermes' and MiniCPM-V's templates have it."""

    form: Literal["json"] = "json"
    name: _Name = "name"
    arguments: _Name = "arguments"


class NamedCall(Contract):
    """A name, a mark and the arguments as an object, as Kimi's templates have it: `functions.NAME:0 MARK {...}`.

    `prefix` before the name and what follows the last `number_mark` of it are left out.
    """

    form: Literal["named"] = "named"
    mark: _Mark
    prefix: str = Field(default="", max_length=200)
    number_mark: str = Field(default="", max_length=200)


class TaggedCall(Contract):
    """A name, and each argument's key and value between tags, as GLM's and Qwen3.5's templates have it.

    The name stands between `name_opening`, which may be nothing, and `name_closing`, the first key or the call's end.
    Values are texts, without a line break at either end; that of a box is JSON.
    """

    form: Literal["tagged"] = "tagged"
    name_opening: str = Field(default="", max_length=200)
    name_closing: _Mark
    key_opening: _Mark
    key_closing: _Mark
    value_opening: str = Field(default="", max_length=200)
    value_closing: _Mark


class ToolLoop(Contract):
    """Goes on after the chat's last turn, whose answer is the first round, for `max_rounds` answers at most.

    A call is what first stands between `opening` and `closing`, and is written as `call` says. An answer without one
    is the last.
    """

    opening: _Mark = "<tool_call>"
    closing: _Mark = "</tool_call>"
    call: Annotated[JsonCall | NamedCall | TaggedCall, Field(discriminator="form")] = JsonCall()
    tools: tuple[Tool, ...] = Field(min_length=1, max_length=_MOST_TOOLS)
    errors: ToolErrors
    max_rounds: PositiveInt = Field(le=MAX_ROUNDS)

    @model_validator(mode="after")
    def _each_name_once(self) -> Self:
        names = [tool.name for tool in self.tools]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"more than one tool is called {', '.join(twice)}")
        return self


CallGrammar = Literal["qwen3", "glm4.5", "qwen3.5", "kimi"]

CALL_GRAMMARS: Mapping[CallGrammar, Mapping[str, Any]] = {
    "qwen3": {},
    "glm4.5": {
        "call": TaggedCall(
            name_closing="\n",
            key_opening="<arg_key>",
            key_closing="</arg_key>",
            value_opening="<arg_value>",
            value_closing="</arg_value>",
        )
    },
    "qwen3.5": {
        "call": TaggedCall(
            name_opening="<function=",
            name_closing=">",
            key_opening="<parameter=",
            key_closing=">",
            value_closing="</parameter>",
        )
    },
    "kimi": {
        "opening": "<|tool_call_begin|>",
        "closing": "<|tool_call_end|>",
        "call": NamedCall(mark="<|tool_call_argument_begin|>", prefix="functions.", number_mark=":"),
    },
}
"""Fields of a loop by the model whose chat template has calls written so; Hermes and MiniCPM-V write as Qwen3 does."""


CallStatus = Literal["ok", "empty", "malformed", "unknown_tool", "bad_arguments", "bad_box", "not_run"]


class ToolCall(Contract):
    """The record of one call.

    | status | what was written | what came of it |
    |---|---|---|
    | `ok` | a valid call | it was answered, by a search that found nothing, too |
    | `not_run` | a valid call in the last round | nothing: nobody would have seen it |
    | `empty` | no box or query, or one of another length | an error's text |
    | `unknown_tool` | a name that no tool has | an error's text |
    | `bad_arguments` | no object, arguments or a query of another kind | an error's text |
    | `bad_box` | a box that is not of finite numbers, shows nothing, or too long a strip | an error's text |
    | `malformed` | what cannot be read as a call at all | the chat ended: that text is the answer |
    """

    name: str
    arguments: str = Field(description="as written; the whole call where it is malformed")
    status: CallStatus
    result: str = Field(default="", description="text as shown; [IMAGE n] stands for raster n of the response")
    rasters: tuple[int, ...] = Field(default=(), description="numbers of the response's rasters that it shows")
    documents: tuple[str, ...] = Field(default=(), description="ids or addresses of the pages behind it")
    source: str = Field(default="", description="what was searched: its name, version and summarizer")
    cached: bool = Field(default=False, description="whether the job had searched for the same before")
    seconds: float = Field(default=0.0, description="from the call to its result")


StopReason = Literal["answered", "rounds", "context"]
"""Why a loop ended: an answer without a call, no round left, or no room for another round in the model's context."""
