"""The input of a response: items, and the messages of a chat that they are."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, Literal

from fastapi.exceptions import RequestValidationError
from pydantic import BeforeValidator, Field, model_validator

from gigavqa.runtime.validation import faults_at
from gigavqa.service.errors import ChatInvalidError
from gigavqa.service.openai.chat_messages import MOST_MESSAGES, RequestModel

_PART_TYPES = {"input_text": "text", "output_text": "text", "refusal": "refusal"}
_ITEMS = {
    "item_reference": "no items are kept here; send the item itself",
    "reasoning": "what a model thought stands in its text; leave the item out",
}


class InputPart(RequestModel):
    """A part of an item: a text, a picture, or a file that is one."""

    type: Literal["input_text", "output_text", "refusal", "input_image", "input_file"]
    text: str | None = None
    refusal: str | None = None
    image_url: str | None = None
    file_id: str | None = None
    file_data: str | None = None

    @model_validator(mode="after")
    def _said(self) -> "InputPart":
        if (name := _PART_TYPES.get(self.type)) and getattr(self, name) is None:
            raise faults_at({name: f"a part of type {self.type} needs the field '{name}'"})
        return self

    @property
    def in_chat(self) -> dict[str, Any]:
        """The same as a part of a chat's message."""
        if self.type == "input_image":
            return {"type": "image_url", "image_url": {"url": self.image_url, "file_id": self.file_id}}
        if self.type == "input_file":
            return {"type": "file", "file": {"file_id": self.file_id, "file_data": self.file_data}}
        return {"type": "text", "text": self.refusal if self.type == "refusal" else self.text}


def _as_parts(given: Any) -> Any:
    return [{"type": "input_text", "text": given}] if isinstance(given, str) else given


Parts = Annotated[tuple[InputPart, ...], BeforeValidator(_as_parts), Field(max_length=MOST_MESSAGES)]


class InputItem(RequestModel):
    """A message, a call of a function by the model, or the output of one."""

    type: Literal["message", "function_call", "function_call_output"] = "message"
    role: Literal["user", "assistant", "system", "developer"] | None = None
    content: Parts = ()
    call_id: str | None = None
    name: str | None = None
    arguments: str = ""
    output: Parts = ()

    @model_validator(mode="before")
    @classmethod
    def _known(cls, given: Any) -> Any:
        if isinstance(given, Mapping) and (why := _ITEMS.get(str(given.get("type")))):
            raise faults_at({"type": why})
        return given

    @model_validator(mode="after")
    def _said(self) -> "InputItem":
        needed = {"message": ("role",), "function_call": ("call_id", "name"), "function_call_output": ("call_id",)}
        if wrong := [name for name in needed[self.type] if getattr(self, name) is None]:
            raise faults_at({name: f"an item of type {self.type} needs the field '{name}'" for name in wrong})
        return self


class ResponsesChat:
    """The chat of a response: the body of its request, and where in the response's own each message stood."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._options = options
        self._messages: list[dict[str, Any]] = []
        self._places: list[Sequence[str | int]] = []

    @property
    def body(self) -> dict[str, Any]:
        """The body of the chat."""
        return {**self._options, "messages": self._messages}

    def add(self, message: dict[str, Any], place: Sequence[str | int]) -> None:
        """Add a message."""
        self._messages.append(message)
        self._places.append(place)

    def add_item(self, item: InputItem, place: Sequence[str | int]) -> None:
        """Add an item; calls of functions belong to the answer before them."""
        if item.type == "message":
            self.add({"role": item.role, "content": [part.in_chat for part in item.content]}, place)
        elif item.type == "function_call_output":
            told = [part.in_chat for part in item.output]
            self.add({"role": "tool", "tool_call_id": item.call_id, "content": told}, place)
        else:
            if not self._messages or self._messages[-1]["role"] != "assistant":
                self.add({"role": "assistant", "content": []}, place)
            call = {"id": item.call_id, "function": {"name": item.name, "arguments": item.arguments}}
            self._messages[-1].setdefault("tool_calls", []).append(call)

    @contextmanager
    def naming_own_fields(self) -> Iterator[None]:
        """Raise what is wrong with the chat as what is wrong with the response's own fields."""
        try:
            yield
        except RequestValidationError as error:
            raise RequestValidationError(
                [{**each, "loc": self._place(each["loc"])} for each in error.errors()]
            ) from error
        except ChatInvalidError as error:
            found = [
                finding.model_copy(update={"pointer": self._pointer(finding.pointer)}) for finding in error.findings
            ]
            raise ChatInvalidError(str(error), found) from error

    def _pointer(self, pointer: str | None) -> str | None:
        parts = [int(part) if part.isdigit() else part for part in (pointer or "").split("/")[1:]]
        return "#" + "".join(f"/{part}" for part in self._place(("body", *parts))[1:]) if parts else pointer

    def _place(self, loc: Sequence[str | int]) -> Sequence[str | int]:
        body, *rest = loc
        names = {"response_format": ("text", "format"), "reasoning_effort": ("reasoning", "effort")}
        if rest[:1] == ["messages"] and len(rest) > 1:
            return (body, *self._places[int(rest[1])], *rest[2:])
        return (body, *names.get(str(rest[0]), rest[:1]), *rest[1:]) if rest else loc
