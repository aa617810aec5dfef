"""Calls of tools: read from what a model wrote, and written into the history of a chat."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, Field, JsonValue
from pydantic_core import from_json

from gigavqa.catalogue.families.family import THINK_MARKS, TOOL_CALL_MARKS
from gigavqa.contract.responses import Response
from gigavqa.service.errors import AnswerFailedError
from gigavqa.service.openai.tools import FORM
from gigavqa.tiling.views import View

_OPENING, _CLOSING = TOOL_CALL_MARKS
_BLOCK = re.compile(f"{_OPENING}(.*?){_CLOSING}", re.DOTALL)


class CalledFunction(BaseModel):
    """A function by name, and its arguments as JSON in a text."""

    name: str = Field(max_length=1000)
    arguments: str = Field(max_length=8 << 20)


class ToolCall(BaseModel):
    """A call of a function, with an id that its result names."""

    id: str = Field(max_length=1000)
    type: Literal["function"] = "function"
    function: CalledFunction


@dataclass(frozen=True)
class Answer:
    """An answer, told apart: text, and calls of functions."""

    text: str
    calls: Sequence[CalledFunction] = ()


def read_answer(response: Response) -> Answer:
    """Read the calls of an answer as its request had them written. Raises AnswerFailedError.

    One that was cut off has none: what is there of it is text.
    """
    turn, form = response.turns[-1], response.details.get(FORM)
    if form is None or turn.finish_reason != "stop":
        return Answer(turn.text)
    if form == "auto":
        return read_marked_calls(turn.text)
    try:
        return Answer("", [*_held_calls(turn.text, form)])
    except (ValueError, TypeError, KeyError) as error:
        raise AnswerFailedError(
            "the engine was to hold the answer to calls of tools, and wrote something else; ask a model whose engine "
            "keeps to JSON schemas"
        ) from error


def read_marked_calls(text: str) -> Answer:
    """Read calls between marks behind the thought, as Qwen's models write them; without a whole one, all is text.

    As vLLM 0.32 does (tool_parsers/hermes_tool_parser.py), a call that is no JSON leaves the text as it is.
    """
    opening, closing = THINK_MARKS
    thought, mark, said = text.rpartition(closing)
    if opening in said or not (blocks := [*_BLOCK.finditer(said)]):
        return Answer(text)
    try:
        calls = [_call(from_json(block[1].strip())) for block in blocks]
    except (ValueError, TypeError, KeyError):
        return Answer(text)
    before, *between = _BLOCK.split(said)[::2]
    outside = [f"{thought}{mark}{before}".rstrip(), *filter(None, map(str.strip, between))]
    return Answer("\n".join(outside), calls)


class GrowingAnswer:
    """Tells the text of an answer as it grows, as far as no call can stand in it."""

    def __init__(self, form: JsonValue) -> None:
        self._form = form
        self._written = ""
        self._told = 0

    def grow(self, text: str) -> str:
        """Take what is new, and return what can be told."""
        if self._form is None:
            self._told += len(text)
            return text
        self._written += text
        return self._rest(_sure_text(self._written) if self._form == "auto" else "")

    def end(self, response: Response) -> Answer:
        """Return what was not told of the answer, and its calls. Raises AnswerFailedError."""
        answer = read_answer(response)
        return Answer(self._rest(answer.text), answer.calls)

    def _rest(self, text: str) -> str:
        told, self._told = self._told, max(self._told, len(text))
        return text[told:]


def _sure_text(text: str) -> str:
    """Return the beginning of a growing answer that is text whatever follows: what stands before a mark of a call."""
    before, mark, _ = text.partition(_OPENING)
    if not mark:
        begun = next((n for n in range(len(_OPENING) - 1, 0, -1) if before.endswith(_OPENING[:n])), 0)
        before = before[: len(before) - begun]
    return before.rstrip()


def number_calls(calls: Sequence[CalledFunction], key: str) -> list[ToolCall]:
    """Return calls with ids, of which `key` tells them from those of other answers."""
    return [ToolCall(id=f"call_{key}_{number}", function=call) for number, call in enumerate(calls)]


def write_calls(text: str, calls: Sequence[ToolCall]) -> str:
    """Return an earlier answer of a chat, with its calls between marks. Raises ValueError where arguments are no JSON
    object.
    """
    return "\n".join(filter(None, [text, *map(_block, calls)]))


def write_result(parts: Sequence[str | View]) -> list[str | View]:
    """Return what a model is shown of the result of a call: its texts and views, between marks."""
    return ["<tool_response>\n", *parts, "\n</tool_response>"]


def _block(call: ToolCall) -> str:
    arguments = from_json(call.function.arguments or "{}")
    if not isinstance(arguments, dict):
        raise ValueError("arguments are no object")
    return f"{_OPENING}\n{_dump({'name': call.function.name, 'arguments': arguments})}\n{_CLOSING}"


def _held_calls(text: str, form: JsonValue) -> Sequence[CalledFunction]:
    written = from_json(text)
    if isinstance(form, Mapping):
        return [_call({"name": form["name"], "arguments": written})]
    return [_call(each) for each in written["tool_calls"]]


def _call(written: Any) -> CalledFunction:
    name, arguments = written["name"], written["arguments"]
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise TypeError("no call of a function")
    return CalledFunction(name=name, arguments=_dump(arguments))


def _dump(arguments: Mapping[str, Any]) -> str:
    return json.dumps(arguments, ensure_ascii=False)
