"""Bodies of chats: read as they arrive, with large pictures written down and taken out of the JSON on the way.

Of a body of 200 MB no more is in memory than a piece of it and the JSON without its pictures.
"""

import re
import secrets
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from pydantic_core import from_json
from starlette.exceptions import HTTPException

from service.errors import BodyTooLargeError, ChatInvalidError, Finding
from service.openai.uploads import Arriving, Uploads

_SCHEME = b"data:"
_HEAD = re.compile(rb"data:(?:[\w.+-]{1,60}\\?/[\w.+-]{1,60})?(?:;[\w.+-]{1,40}=[\w.+-]{1,40}){0,3};base64,")
_HEAD_BYTES = 400
_REST_OF_A_STRING = re.compile(rb'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL)


@dataclass
class ChatJson:
    """The JSON of a chat. `pictures` are the names of those taken out, by the text that stands for each."""

    body: Any
    pictures: dict[str, str] = field(default_factory=dict)


async def read_chat(pieces: AsyncIterator[bytes], uploads: Uploads, max_json_bytes: int) -> ChatJson:
    """Read a body whole. Raises ChatInvalidError, BodyTooLargeError, HTTPException for what is no JSON, OSError."""
    reader = PictureReader(uploads, max_json_bytes)
    try:
        async for piece in pieces:
            reader.feed(piece)
        return ChatJson(from_json(reader.close(), allow_inf_nan=False), reader.pictures)
    except ValueError as error:
        raise HTTPException(HTTPStatus.BAD_REQUEST, f"the body is not JSON: {error}") from error
    finally:
        reader.drop()


class PictureReader:
    """Takes data URLs out of JSON that comes in pieces, and keeps each as an upload."""

    def __init__(self, uploads: Uploads, max_json_bytes: int) -> None:
        self.pictures: dict[str, str] = {}
        self._uploads = uploads
        self._max_bytes = max_json_bytes
        self._mark = secrets.token_hex(16)  # nobody can write it who has not seen it
        self._piece = b""
        self._at = 0
        self._json = bytearray()
        self._state: Callable[[], bool] = self._between
        self._arriving: Arriving | None = None

    def feed(self, piece: bytes) -> None:
        """Take the next piece."""
        self._piece, self._at = self._piece[self._at :] + piece, 0
        while self._at < len(self._piece) and self._state():
            pass

    def close(self) -> bytes:
        """The JSON, without its pictures."""
        self._pass_on(len(self._piece))
        return bytes(self._json)

    def drop(self) -> None:
        """Forget a picture that did not arrive whole."""
        if self._arriving:
            self._arriving.drop()

    def _between(self) -> bool:
        """Outside of strings: pass on everything up to the next one."""
        at = self._piece.find(b'"', self._at)
        self._pass_on(at + 1 or len(self._piece))
        if at >= 0:
            self._state = self._beginning
        return at >= 0

    def _beginning(self) -> bool:
        """At the first character of a string: a data URL, or any other."""
        head = self._piece[self._at : self._at + _HEAD_BYTES]
        if head.startswith(_SCHEME[: len(head)]) and len(head) < _HEAD_BYTES and b'"' not in head and b"," not in head:
            return False  # what is there does not tell
        if found := _HEAD.match(head):
            self._at += found.end()
            self._arriving = self._uploads.arriving()
            self._state = self._picture
        else:
            self._state = self._string
        return True

    def _string(self) -> bool:
        """In a string: pass on everything up to its end."""
        found = _REST_OF_A_STRING.match(self._piece, self._at)
        end = found.end() if found else self._at
        ends = self._piece[end : end + 1] == b'"'
        self._pass_on(end + ends)  # a backslash at the end belongs to what comes
        if ends:
            self._state = self._between
        return ends

    def _picture(self) -> bool:
        """In the bytes of a picture."""
        end = self._piece.find(b'"', self._at)
        until = end if end >= 0 else len(self._piece) - self._piece.endswith(b"\\")
        data, self._at = self._piece[self._at : until], until
        try:
            assert self._arriving is not None
            self._arriving.write_base64(data.replace(b"\\/", b"/") if b"\\" in data else data)
            if end >= 0:
                self._keep()
        except ValueError as error:
            detail = f"data URL {len(self.pictures) + 1} {error}"
            raise ChatInvalidError(detail, [Finding(detail=detail, pointer="#/messages")]) from error
        return end >= 0

    def _keep(self) -> None:
        assert self._arriving is not None
        stands_for = f"{self._mark}{len(self.pictures)}"
        self.pictures[stands_for] = self._uploads.keep(self._arriving)
        self._arriving = None
        self._write(stands_for.encode())
        self._state = self._string

    def _pass_on(self, until: int) -> None:
        self._write(self._piece[self._at : until])
        self._at = until

    def _write(self, text: bytes) -> None:
        self._json += text
        if len(self._json) > self._max_bytes:
            raise BodyTooLargeError(f"the body has more than {self._max_bytes} bytes without its pictures")
