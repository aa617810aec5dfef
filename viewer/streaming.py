"""Send answers piece by piece, so that what a slow client has not taken is known, and does not stay for ever."""

import asyncio
from collections.abc import Mapping

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

_PIECE = 256 * 1024
_STALL_SECONDS = 60.0


class UnsentBytes:
    """Bytes of answers that clients have not taken yet."""

    def __init__(self) -> None:
        self.bytes = 0


class ChunkedResponse(Response):
    """An answer that is sent in pieces; a client that takes none for a minute gets no more."""

    def __init__(self, content: bytes, headers: Mapping[str, str], media_type: str, held: UnsentBytes) -> None:
        super().__init__(content, 200, headers, media_type)
        self._held = held

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        content = memoryview(self.body)
        self._held.bytes += len(content)
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            for end in range(_PIECE, len(content) + _PIECE, _PIECE):
                piece = {"body": bytes(content[end - _PIECE : end]), "more_body": end < len(content)}
                async with asyncio.timeout(_STALL_SECONDS):
                    await send({"type": "http.response.body", **piece})
        finally:
            self._held.bytes -= len(content)
