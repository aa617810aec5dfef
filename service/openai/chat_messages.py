"""Messages of chats, as OpenAI has them: texts, pictures, calls of tools and their results."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, FailFast, Field, model_validator

from gigavqa.service.openai.tool_calls import ToolCall

MOST_MESSAGES = 2000
_MOST_PARTS = 2000


def as_list(given: Any) -> Any:
    """Return a field that may be one text, or nothing, as a list."""
    return [] if given is None else [given] if isinstance(given, str) else given


def _text_or_parts(given: Any) -> Any:
    if given is None:
        return []
    if isinstance(given, list) and len(given) > _MOST_PARTS:  # each thing that is wrong would be an error of its own
        raise ValueError(f"'content' has {len(given)} entries; at most {_MOST_PARTS} are read")
    return [{"type": "text", "text": given}] if isinstance(given, str) else given


class RequestModel(BaseModel):
    """Base of what stands in a body; fields that are not read change nothing."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class ImageUrl(RequestModel):
    """The place of a picture: an address, or an uploaded file. `detail` is known, and changes nothing."""

    url: str | None = None
    file_id: str | None = None


class FileReference(RequestModel):
    """A file of a message: uploaded before, or in the message."""

    file_id: str | None = None
    file_data: str | None = None


def _as_image_url(given: Any) -> Any:
    return {"url": given} if isinstance(given, str) else given


class ContentPart(RequestModel):
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


class ChatMessage(RequestModel):
    """A message of a chat; `tool` tells the result of one of the calls that an earlier message has."""

    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: Annotated[
        tuple[ContentPart, ...], FailFast(), BeforeValidator(_text_or_parts), Field(max_length=_MOST_PARTS)
    ] = ()
    tool_calls: Annotated[tuple[ToolCall, ...], BeforeValidator(as_list), Field(max_length=_MOST_PARTS)] = ()
    tool_call_id: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _no_functions(cls, given: Any) -> Any:
        if isinstance(given, Mapping) and (given.get("role") == "function" or given.get("function_call")):
            raise ValueError("functions are not read any more; say tool_calls, and results by role 'tool'")
        return given
