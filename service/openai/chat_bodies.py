"""Bodies of chats: read as they arrive, with large pictures written down and taken out of the JSON on the way.

Of a body of 200 MB no more is in memory than a piece of it and the JSON without its pictures.
"""

import asyncio
import re
import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from pydantic_core import from_json
from starlette.exceptions import HTTPException

from gigavqa.service.errors import BodyTooLargeError, ChatInvalidError, ProblemFinding
from gigavqa.service.http.fair_semaphore import FairSemaphore
from gigavqa.service.openai.uploads import PendingUpload, Uploads

_DATA_URL = re.compile(
    rb'(?<!\\)"(data:(?:[\w.+-]{1,60}\\?/[\w.+-]{1,60})?(?:;[\w.+-]{1,40}=[\w.+-]{1,40}){0,3};base64,)'
)
"""A string that is a data URL: no quote within a string stands without a backslash, and none that opens one with it."""
_HEAD_BYTES = 400
_LIGHT_BYTES = 1 << 18


@dataclass
class ChatJson:
    """The JSON of a chat. `pictures` are the names of those taken out, by the text that stands for each."""

    body: Any
    pictures: dict[str, str] = field(default_factory=dict)


class ChatBodyReader:
    """Reads bodies of chats. Heavy ones are read beside the event loop, one at a time, owners in turn."""

    def __init__(self, uploads: Uploads, max_json_bytes: int) -> None:
        self._uploads = uploads
        self._max_json_bytes = max_json_bytes
        self._turns = FairSemaphore(1, 1)

    async def read(self, pieces: AsyncIterator[bytes], owner: str | None, field: str = "messages") -> ChatJson:
        """Read a body whole, whose pictures stand in a field.

        Raises ChatInvalidError, BodyTooLargeError, HTTPException for what is no JSON, OSError.
        """
        reader = DataUrlExtractor(self._uploads, self._max_json_bytes, field)
        try:
            async for piece in pieces:
                reader.feed(piece)
            return ChatJson(await self._parsed(reader.close(), owner), reader.pictures)
        except ValueError as error:
            raise HTTPException(HTTPStatus.BAD_REQUEST, f"the body is not JSON: {error}") from error
        finally:
            reader.drop()

    async def _parsed(self, json: bytes, owner: str | None) -> Any:
        if len(json) <= _LIGHT_BYTES:
            return from_json(json, allow_inf_nan=False)
        async with self._turns.of(owner):
            return await asyncio.to_thread(from_json, json, allow_inf_nan=False)


class DataUrlExtractor:
    """Takes data URLs out of JSON that comes in pieces, and keeps each as an upload."""

    def __init__(self, uploads: Uploads, max_json_bytes: int, field: str = "messages") -> None:
        self.pictures: dict[str, str] = {}
        self._uploads = uploads
        self._max_bytes = max_json_bytes
        self._field = field
        self._mark = secrets.token_hex(16)  # nobody can write it who has not seen it
        self._piece = b""
        self._at = 0
        self._json = bytearray()
        self._arriving: PendingUpload | None = None

    def feed(self, piece: bytes) -> None:
        """Take the next piece."""
        kept = max(0, self._at - 1)  # whether a backslash stands before what comes
        self._piece, self._at = self._piece[kept:] + piece, self._at - kept
        while self._find() if self._arriving is None else self._take():
            pass

    def close(self) -> bytes:
        """Return the JSON, without its pictures."""
        self._pass_on(len(self._piece))
        return bytes(self._json)

    def drop(self) -> None:
        """Forget a picture that did not arrive whole."""
        if self._arriving:
            self._arriving.drop()

    def _find(self) -> bool:
        """Pass on everything up to the next picture; returns whether there is one."""
        found = _DATA_URL.search(self._piece, self._at)
        if found is None:
            self._pass_on(max(self._at, len(self._piece) - _HEAD_BYTES))  # what is there does not tell
            return False
        self._pass_on(found.start(1))
        self._at = found.end()
        self._arriving = self._uploads.arriving()
        return True

    def _take(self) -> bool:
        """Take the bytes of a picture; returns whether it has ended."""
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
            raise ChatInvalidError(detail, [ProblemFinding(detail=detail, pointer=f"#/{self._field}")]) from error
        return end >= 0

    def _keep(self) -> None:
        assert self._arriving is not None
        stands_for = f"{self._mark}{len(self.pictures)}"
        self.pictures[stands_for] = self._uploads.keep(self._arriving)
        self._arriving = None
        self._write(stands_for.encode())

    def _pass_on(self, until: int) -> None:
        self._write(self._piece[self._at : until])
        self._at = until

    def _write(self, text: bytes) -> None:
        self._json += text
        if len(self._json) > self._max_bytes:
            raise BodyTooLargeError(f"the body has more than {self._max_bytes} bytes without its pictures")
