"""Bodies of requests: a chat as OpenAI's messages, with its pictures where the chat has them."""

import json
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any
from uuid import UUID, uuid4

import httpx

from gigavqa.workers.engines.engine import Message, PromptRaster
from gigavqa.workers.engines.remote.dialects import Dialect
from gigavqa.workers.engines.remote.raster_encoding import EncodedRaster

_PIECE = 2**18  # bytes written at a time
_MARK = f"picture-{uuid4().hex}-"
_MARKS = re.compile(f"{_MARK}([0-9a-f]+)".encode())


class RequestBody(httpx.AsyncByteStream):
    """A request's JSON; pictures are shared with other bodies, so that many of them cost their texts alone."""

    def __init__(self, parts: Sequence[bytes]) -> None:
        self._parts = parts
        self.length = sum(map(len, parts))

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for part in self._parts:
            view = memoryview(part)
            for start in range(0, len(part), _PIECE):
                yield bytes(view[start : start + _PIECE])


class BodyWriter:
    """Writes bodies in the dialect of a server. `name` names pictures by the keys of their rasters.

    `detail` is said of each picture where it is given.
    """

    def __init__(self, dialect: Dialect, name: Callable[[str], UUID], detail: str | None) -> None:
        self._dialect = dialect
        self._name = name
        self._detail = detail

    def write(
        self, chat: Sequence[Message], parameters: Mapping[str, Any], pictures: Mapping[str, EncodedRaster]
    ) -> RequestBody:
        """Write a body. Rasters without a picture are named, and not sent."""
        messages = [self._message(message, pictures) for message in chat]
        text = json.dumps({**parameters, "messages": messages}, ensure_ascii=False).encode("utf-8", "replace")
        urls = {self._name(key).hex.encode(): picture.url for key, picture in pictures.items()}
        # Data URLs need no escaping.
        return RequestBody([urls[piece] if number % 2 else piece for number, piece in enumerate(_MARKS.split(text))])

    def _message(self, message: Message, pictures: Mapping[str, EncodedRaster]) -> dict[str, Any]:
        if not message.rasters:
            return {"role": message.role, "content": message.text}
        content = [
            {"type": "text", "text": part} if isinstance(part, str) else self._shown(part, pictures.get(part.key))
            for part in message.parts
        ]
        return {"role": message.role, "content": content}

    def _shown(self, raster: PromptRaster, picture: EncodedRaster | None) -> dict[str, Any]:
        name = self._name(raster.key)
        part: dict[str, Any] = {"type": "image_url", "image_url": None}
        if picture:
            part["image_url"] = {"url": f"{_MARK}{name.hex}", **({"detail": self._detail} if self._detail else {})}
            if self._dialect.identity == "content_hash":
                part["image_url"]["content_hash"] = f"sha256:{picture.digest}"
        if self._dialect.identity == "uuid":
            part["uuid"] = str(name)
        return part
