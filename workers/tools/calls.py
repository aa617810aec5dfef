"""Finds the call in what a model wrote, and reads it as its loop declares. Pure, and in linear time."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from gigavqa.contract.tool_loops import (
    CallStatus,
    FixedTool,
    JsonCall,
    NamedCall,
    SearchTool,
    TaggedCall,
    Tool,
    ToolErrors,
    ToolLoop,
    ZoomTool,
)

CallBox = tuple[float, float, float, float]

_MOST_NAME = 200
_SIDES = 4
_WHITE_SPACE = re.compile(r"[ \t\n\r]*")
_PLACEHOLDER = re.compile(r"\{(query|result|name)\}")


@dataclass(frozen=True)
class Call:
    """A call as it was written; `status` is `ok` until it turns out otherwise.

    `tool` is whom it calls, if there is one; `box` or `query` is what it asks for. `error` is the message that answers
    what cannot be done.
    """

    name: str
    arguments: str
    status: CallStatus
    tool: Tool | None = None
    box: CallBox | None = None
    query: str = ""
    error: str = ""


class _RawCall(NamedTuple):
    """A call before it is known what it means: `values` are its arguments, `written` as they stood."""

    name: str
    values: Any
    written: str


class _MalformedCallError(Exception):
    """The text between the marks is no call."""


class _NotACallError(Exception):
    """The text between the marks can be read, and is not of a call's shape."""


def find_call(text: str, loop: ToolLoop) -> Call | None:
    """Return the first call of an answer; None where there is none, or it is not closed."""
    begin = text.find(loop.opening)
    end = text.find(loop.closing, begin + len(loop.opening)) if begin >= 0 else -1
    if end < 0:
        return None
    content = _storable(text[begin + len(loop.opening) : end].strip())
    try:
        return _interpret_call(_read_call(content, loop), loop)
    except _MalformedCallError:
        return Call("", content, "malformed")
    except _NotACallError:
        return Call("", content, "bad_arguments", error=loop.errors.arguments)


def with_bad_box(call: Call, errors: ToolErrors) -> Call:
    """Return the call, of whose box nothing can be shown."""
    return replace(call, status="bad_box", error=errors.box)


def fill_template(template: str, **values: str) -> str:
    """Put values into their places, `{query}` and such; what stands in a value is no place."""
    return _PLACEHOLDER.sub(lambda place: values.get(place[1], place[0]), template)


def _interpret_call(read: _RawCall, loop: ToolLoop) -> Call:
    tool = next((tool for tool in loop.tools if tool.name == read.name), None)
    call = Call(read.name, read.written, "ok", tool)
    if tool is None:
        return replace(call, status="unknown_tool", error=fill_template(loop.errors.unknown, name=read.name))
    if isinstance(tool, FixedTool):
        return call
    if not isinstance(read.values, dict):
        return replace(call, status="bad_arguments", error=loop.errors.arguments)
    if isinstance(tool, ZoomTool):
        return _with_box(call, _box_argument(read.values, tool, loop), loop.errors)
    return _with_query(call, read.values.get(tool.argument), tool, loop.errors)


def _box_argument(values: Mapping[str, Any], tool: ZoomTool, loop: ToolLoop) -> Any:
    """Return the first of the arguments that may hold the box."""
    found = next((values[name] for name in tool.boxes if name in values), None)
    if isinstance(loop.call, TaggedCall) and isinstance(found, str):
        try:
            return _from_json(found)
        except _MalformedCallError:
            return found
    return found


def _with_box(call: Call, given: Any, errors: ToolErrors) -> Call:
    if given is None or (isinstance(given, str | list | dict) and len(given) != _SIDES):
        return replace(call, status="empty", error=errors.box)
    if not isinstance(given, list) or not all(map(_is_number, given)):
        return with_bad_box(call, errors)
    left, top, right, bottom = given
    return replace(call, box=(left, top, right, bottom))


def _is_number(value: Any) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))


def _with_query(call: Call, given: Any, tool: SearchTool, errors: ToolErrors) -> Call:
    if not given:
        return replace(call, status="empty", error=errors.query)
    if not isinstance(given, str):
        return replace(call, status="bad_arguments", error=errors.arguments)
    return replace(call, query=_storable(given))


def _read_call(content: str, loop: ToolLoop) -> _RawCall:
    match loop.call:
        case JsonCall():
            read = _read_json(content, loop.call)
        case NamedCall():
            read = _read_named(content, loop.call)
        case TaggedCall():
            read = _read_tagged(content, loop.call)
    return read._replace(name=_storable(read.name[:_MOST_NAME]))


def _read_json(content: str, form: JsonCall) -> _RawCall:
    value = _from_json(content)
    if not value:
        raise _MalformedCallError
    if not isinstance(value, dict):
        raise _NotACallError
    written = _members(content)
    name = value.get(form.name, "")
    return _RawCall(
        name if isinstance(name, str) else written[form.name],
        value.get(form.arguments, {}),
        written.get(form.arguments, ""),
    )


def _read_named(content: str, form: NamedCall) -> _RawCall:
    name, mark, written = content.partition(form.mark)
    name, written = name.strip().removeprefix(form.prefix), written.strip()
    if form.number_mark:
        name = name.rpartition(form.number_mark)[0] or name
    if not mark:
        raise _MalformedCallError
    return _RawCall(name, _from_json(written), written)


def _read_tagged(content: str, form: TaggedCall) -> _RawCall:
    at = content.find(form.name_opening)
    if at < 0:
        raise _MalformedCallError
    at += len(form.name_opening)
    ends = [end for mark in (form.name_closing, form.key_opening) if (end := content.find(mark, at)) >= 0]
    end = min(ends, default=len(content))
    name = content[at:end].strip()
    if not name:
        raise _MalformedCallError
    return _RawCall(name, _tagged_arguments(content, end, form), content[end:].removeprefix(form.name_closing).strip())


def _tagged_arguments(content: str, at: int, form: TaggedCall) -> dict[str, str]:
    """Return the arguments from `at` on, each key with its value."""
    values: dict[str, str] = {}
    while (begin := content.find(form.key_opening, at)) >= 0:
        key, at = _read_until(content, begin + len(form.key_opening), form.key_closing)
        _, at = _read_until(content, at, form.value_opening)
        value, at = _read_until(content, at, form.value_closing)
        values[key.strip()] = value.removeprefix("\n").removesuffix("\n")
    return values


def _read_until(content: str, at: int, mark: str) -> tuple[str, int]:
    """Return what stands from `at` up to a mark, and where the mark ends."""
    end = content.find(mark, at)
    if end < 0:
        raise _MalformedCallError
    return content[at:end], end + len(mark)


def _from_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits are values that nobody can make
        raise _MalformedCallError from error


def _members(text: str) -> dict[str, str]:
    """Return what stands in an object that is known to be one, by name and as it is written.

    The last of a name counts.
    """
    decode = json.JSONDecoder().raw_decode
    members: dict[str, str] = {}
    at = _skip_white_space(text, text.index("{") + 1)
    while text[at] != "}":
        name, at = decode(text, at)
        begin = _skip_white_space(text, _skip_white_space(text, at) + 1)
        _, at = decode(text, begin)
        members[name] = text[begin:at]
        at = _skip_white_space(text, at)
        if text[at] == ",":
            at = _skip_white_space(text, at + 1)
    return members


def _skip_white_space(text: str, at: int) -> int:
    found = _WHITE_SPACE.match(text, at)
    return found.end() if found else at


def _storable(text: str) -> str:
    """Return the text, with halves of characters replaced, which JSON can name and UTF-8 cannot write."""
    return text.encode("utf-8", "replace").decode()
