"""Bodies of requests: a chat as OpenAI's messages, with its pictures where the chat has them."""

import json
import re
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from typing import Any
from uuid import uuid4

import httpx

from workers.engines.engine import Message, PromptRaster
from workers.engines.remote.dialects import Dialect
from workers.engines.remote.pictures import Picture

_PIECE = 2**18  # bytes written at a time
_MARK = f"picture-{uuid4().hex}-"
_MARKS = re.compile(f"{_MARK}([0-9a-f]+)".encode())


class Body(httpx.AsyncByteStream):
    """A request's JSON; pictures are shared with other bodies, so that many of them cost their texts alone."""

    def __init__(self, parts: Sequence[bytes]) -> None:
        self._parts = parts
        self.length = sum(map(len, parts))

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for part in self._parts:
            view = memoryview(part)
            for start in range(0, len(part), _PIECE):
                yield bytes(view[start : start + _PIECE])


class Writer:
    """Writes bodies in the dialect of a server; `detail` is said of each picture where it is given."""

    def __init__(self, dialect: Dialect, detail: str | None) -> None:
        self._dialect = dialect
        self._detail = detail

    def write(
        self,
        chat: Sequence[Message],
        parameters: Mapping[str, Any],
        pictures: Mapping[str, Picture],
        left_out: Collection[str],
    ) -> Body:
        """Write a body. The pictures of the rasters in `left_out` are named and not sent."""
        messages = [self._message(message, pictures, left_out) for message in chat]
        text = json.dumps({**parameters, "messages": messages}, ensure_ascii=False).encode("utf-8", "replace")
        return Body(list(_filled(text, pictures)))

    def _message(self, message: Message, pictures: Mapping[str, Picture], left_out: Collection[str]) -> dict[str, Any]:
        if not message.rasters:
            return {"role": message.role, "content": message.text}
        content = [
            {"type": "text", "text": part} if isinstance(part, str) else self._picture(part, pictures, left_out)
            for part in message.parts
        ]
        return {"role": message.role, "content": content}

    def _picture(
        self, raster: PromptRaster, pictures: Mapping[str, Picture], left_out: Collection[str]
    ) -> dict[str, Any]:
        picture = pictures[raster.key]
        image: dict[str, Any] = {"url": f"{_MARK}{picture.uuid.hex}"}
        if self._detail:
            image["detail"] = self._detail
        if self._dialect.identity == "content_hash":
            image["content_hash"] = f"sha256:{picture.digest}"
        part: dict[str, Any] = {"type": "image_url", "image_url": None if raster.key in left_out else image}
        if self._dialect.identity == "uuid":
            part["uuid"] = str(picture.uuid)
        return part


def _filled(text: bytes, pictures: Mapping[str, Picture]) -> Iterator[bytes]:
    """The JSON with data URLs, which need no escaping, in place of their marks."""
    urls = {picture.uuid.hex.encode(): picture.url for picture in pictures.values()}
    for number, piece in enumerate(_MARKS.split(text)):
        yield urls[piece] if number % 2 else piece
