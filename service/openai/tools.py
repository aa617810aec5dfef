"""Tools of a chat: what a client declares, how the model is told of them, and what its answer is held to.

The words are those of Qwen's chat templates (Qwen3-VL, chat_template.json), so that its models see what they were
trained on; other models read them as text.
"""

import json
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue

from gigavqa.contract.requests import StructuredOutput

MOST_TOOLS = 128
FORM = "tool_choice"
"""What requests and responses of chats with tools name by it among their details: how calls are written."""

_NAME = r"^[a-zA-Z0-9_-]{1,64}$"
_DECLARED = (
    "# Tools\n\nYou may call one or more functions to assist with the user query.\n\n"
    "You are provided with function signatures within <tools></tools> XML tags:\n<tools>\n{tools}\n</tools>\n\n"
)
_AUTO = (
    "For each function call, return a json object with function name and arguments within <tool_call></tool_call> XML "
    'tags:\n<tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>'
)
_REQUIRED = (
    "Answer with function calls alone, as one json object:\n"
    '{"tool_calls": [{"name": <function-name>, "arguments": <args-json-object>}]}'
)
_NAMED = "Answer with a call of the function {name} alone: write the json object of its arguments."


class Function(BaseModel):
    """A function that a model may ask the client to call; parameters are a JSON schema."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str = Field(pattern=_NAME)
    description: str | None = Field(default=None, max_length=100_000)
    parameters: dict[str, JsonValue] | None = None
    strict: bool | None = None


class Tool(BaseModel):
    """A tool; functions are the only ones."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    type: Literal["function"]
    function: Function


class FunctionName(BaseModel):
    """The name of a function."""

    name: str = Field(pattern=_NAME)


class NamedToolChoice(BaseModel):
    """The one function that is to be called."""

    type: Literal["function"] = "function"
    function: FunctionName


def _known_choice(given: Any) -> Any:
    if given in (None, "none", "auto", "required") or (isinstance(given, dict) and given.get("type") == "function"):
        return given
    raise ValueError("say none, auto, required, or {type: function, function: {name}}")


ToolChoice = Annotated[
    Literal["none", "auto", "required"] | NamedToolChoice | None,
    BeforeValidator(_known_choice),
]


def declare_tools(tools: Sequence[Tool], choice: ToolChoice) -> str:
    """Return the words that tell a model of its tools."""
    written = "\n".join(json.dumps(tool.model_dump(exclude_none=True), ensure_ascii=False) for tool in tools)
    if isinstance(choice, NamedToolChoice):
        asked = _NAMED.format(name=choice.function.name)
    else:
        asked = _REQUIRED if choice == "required" else _AUTO
    return _DECLARED.format(tools=written) + asked


def call_form(choice: ToolChoice) -> JsonValue:
    """Return how calls are written, as requests name it: auto, required, or the name of a function."""
    return {"name": choice.function.name} if isinstance(choice, NamedToolChoice) else choice


def calls_schema(tools: Sequence[Tool], choice: ToolChoice, *, several: bool) -> StructuredOutput | None:
    """Return what holds an answer to calls; None where the model may write what it likes."""
    if isinstance(choice, NamedToolChoice):
        called = next(tool for tool in tools if tool.function.name == choice.function.name)
        return StructuredOutput(json_schema=_parameters(called.function))
    if choice != "required":
        return None
    calls: dict[str, JsonValue] = {"type": "array", "minItems": 1, "items": {"anyOf": [*map(_call_schema, tools)]}}
    return StructuredOutput(
        json_schema={
            **_object({"tool_calls": calls if several else {**calls, "maxItems": 1}}),
            "$defs": {
                tool.function.name: _moved(_parameters(tool.function), f"#/$defs/{tool.function.name}")
                for tool in tools
            },
        }
    )


def _call_schema(tool: Tool) -> JsonValue:
    name = tool.function.name
    return _object({"name": {"const": name}, "arguments": {"$ref": f"#/$defs/{name}"}})


def _object(properties: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


def _parameters(function: Function) -> dict[str, JsonValue]:
    return function.parameters or _object({})


def _moved(schema: JsonValue, root: str) -> JsonValue:
    """Return a schema whose references, which begin at its own root, begin at another place of a larger one."""
    if isinstance(schema, dict):
        return {
            name: root + value[1:]
            if name == "$ref" and isinstance(value, str) and value.startswith("#")
            else _moved(value, root)
            for name, value in schema.items()
        }
    return [_moved(each, root) for each in schema] if isinstance(schema, list) else schema
