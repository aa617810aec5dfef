"""Takes what comes of an answer: a whole body, or server-sent events as the values that they bring."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator

import httpx

from gigavqa.workers.engines.remote.answers import RemoteAnswer
from gigavqa.workers.engines.remote.error_replies import MalformedReplyError
from gigavqa.workers.engines.remote.replies import read_json

STREAM_PARAMETERS = {"stream": True, "stream_options": {"include_usage": True}}
"""What a body says that asks for a stream."""

_LONGEST_ANSWER = 64 * 2**20
_LONGEST_EVENT = 2**22
_TAIL_SECONDS = 10.0  # for what it took, which comes behind the end of a streamed answer
_ENDS = re.compile(rb"\r\n|\r|\n")
_BEGINNING = re.compile(rb"\s*(?:data|event|id|retry)?:")


class EventStreamParser:
    """Takes the bytes of a stream, wherever they are cut, and makes of each event a chunk of `answer`."""

    def __init__(self, answer: RemoteAnswer) -> None:
        self._answer = answer
        self._line = b""
        self._after_return = False
        self._data: list[str] = []
        self._kind = ""
        self._size = 0
        self.is_done = False
        """Whether the stream said that nothing follows."""

    def take(self, piece: bytes) -> None:
        """Take what has come. Raises MalformedReplyError for what is no stream of chunks."""
        if self._after_return and piece:
            piece = piece.removeprefix(b"\n")
        self._after_return = piece.endswith(b"\r") or (self._after_return and not piece)
        *lines, self._line = _ENDS.split(self._line + piece)
        self._size += len(piece)
        if self._size > _LONGEST_EVENT:
            raise MalformedReplyError("an event of a stream has no end")
        for line in lines:
            self._take_line(line)

    def end(self) -> None:
        """Take what is left: the last event may lack its end. Raises MalformedReplyError for a stream cut off."""
        self._take_line(self._line)
        self._take_line(b"")
        if not (self.is_done or self._answer.has_ended):
            raise MalformedReplyError("an answer was cut off")

    def _take_line(self, line: bytes) -> None:
        if not line:
            self._dispatch()
            return
        name, _, value = line.partition(b":")
        text = value.removeprefix(b" ").decode("utf-8", "replace")
        if name.removeprefix(b"\xef\xbb\xbf") == b"data":
            self._data.append(text)
        elif name == b"event":
            self._kind = text.strip()

    def _dispatch(self) -> None:
        data, kind, self._data, self._kind, self._size = self._data, self._kind, [], "", 0
        for each in _event_values(data):
            if each.strip() == "[DONE]":
                self.is_done = True
            if not self.is_done:
                self._answer.take_chunk(each, is_error=kind == "error")


def _event_values(lines: list[str]) -> Iterator[str]:
    """Yield the values of an event.

    Its lines together, or each, where a server puts no empty lines between its events.
    """
    if len(lines) < 2:
        yield from filter(str.strip, lines)
        return
    try:
        read_json("\n".join(lines))
    except MalformedReplyError:
        yield from filter(str.strip, lines)
    else:
        yield "\n".join(lines)


async def receive_answer(response: httpx.Response, answer: RemoteAnswer, bound: asyncio.Timeout) -> None:
    """Give an answer what comes, a stream piece by piece. Raises MalformedReplyError."""
    content = bytearray()
    is_called_stream = response.headers.get("content-type", "").startswith("text/event-stream")
    events: EventStreamParser | None = None
    has_ended = False
    async for piece in iterate_body(response):
        if events is None and is_called_stream and not (content or _is_object(piece)):
            events = EventStreamParser(answer)
        if events is None:
            content += piece
            continue
        events.take(piece)
        if not has_ended and (has_ended := answer.has_ended or events.is_done):
            tail = asyncio.get_running_loop().time() + _TAIL_SECONDS
            bound.reschedule(min(tail, bound.when() or tail))
    if events is None and (_is_stream(bytes(content[:100])) or (is_called_stream and not content)):
        events = EventStreamParser(answer)
        events.take(bytes(content))
    if events:
        events.end()
    else:
        answer.take_whole(bytes(content))


async def iterate_body(response: httpx.Response) -> AsyncIterator[bytes]:
    """Yield what comes. Raises MalformedReplyError for more than any answer has."""
    size = 0
    async for piece in response.aiter_bytes():
        size += len(piece)
        if size > _LONGEST_ANSWER:
            raise MalformedReplyError(f"an answer is longer than {_LONGEST_ANSWER} bytes")
        yield piece


async def read_error_body(response: httpx.Response) -> bytes:
    """Read what stands beside a status that says enough, if it can be read.

    Raises MalformedReplyError as `iterate_body` does.
    """
    try:
        return b"".join([piece async for piece in iterate_body(response)])
    except httpx.DecodingError:
        return b""


def _is_object(content: bytes) -> bool:
    # Whatever its header calls it.
    return content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")


def _is_stream(content: bytes) -> bool:
    return _BEGINNING.match(content) is not None
