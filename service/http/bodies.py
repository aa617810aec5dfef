"""Bodies: one that comes is read whole, in time, up to a bound, and must be JSON; an answer to HEAD has none."""

import asyncio
import time
from collections.abc import Mapping
from email.message import Message as MimeMessage
from typing import Any, NamedTuple

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gigavqa.service.errors import (
    BodyTimeoutError,
    BodyTooLargeError,
    MediaTypeUnsupportedError,
    ServiceError,
    problem_kind,
)
from gigavqa.service.http.problems import problem_response

_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})


class StreamedPath(NamedTuple):
    """A path whose bodies are read by its route as they arrive: their bound, and what they must be declared as."""

    max_bytes: int
    media_type: str


class BodyLimits:
    """Refuses a body of more than `max_bytes`, one that is not there within `seconds`, and one that is not JSON.

    A body of a `streamed` path is passed on in pieces. It may take another `seconds` for each `max_bytes` that came.
    """

    def __init__(
        self, app: ASGIApp, max_bytes: int, seconds: float, streamed: Mapping[str, StreamedPath] | None = None
    ) -> None:
        self.app = app
        self.max_bytes = max_bytes
        self.seconds = seconds
        self.streamed = streamed or {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] not in _WITH_BODY:
            await self.app(scope, receive, send)
            return
        try:
            _require_plain(Headers(scope=scope))
            if streamed := self.streamed.get(scope["path"]):
                passed = self._passed(Headers(scope=scope), receive, streamed)
                await self.app(scope, passed, send)
                return
            messages = await self._read(Headers(scope=scope), receive)
        except ServiceError as error:
            # What is left of the body is not read, so the connection is of no further use.
            headers = {"Connection": "close"}
            await problem_response(scope, problem_kind(error), str(error), headers=headers)(scope, receive, send)
            return
        await self.app(scope, _replay(messages, receive), send)

    async def _read(self, headers: Headers, receive: Receive) -> list[Message]:
        _require_small(headers, self.max_bytes)
        messages: list[Message] = []
        size = 0
        try:
            async with asyncio.timeout(self.seconds):
                while not messages or messages[-1].get("more_body", False):
                    messages.append(await receive())
                    size += len(messages[-1].get("body", b""))
                    if size > self.max_bytes:
                        raise BodyTooLargeError(f"the body exceeds {self.max_bytes} bytes")
        except TimeoutError as error:
            raise BodyTimeoutError(f"the body was not complete after {self.seconds:g} s") from error
        if size:
            _require_type(headers.get("content-type", ""), "application/json")
        return messages

    def _passed(self, headers: Headers, receive: Receive, streamed: StreamedPath) -> Receive:
        """Return what the route reads the body with. It raises what `_read` raises."""
        _require_small(headers, streamed.max_bytes)
        _require_type(headers.get("content-type", ""), streamed.media_type)
        size, started, more = 0, time.monotonic(), True

        async def next_message() -> Message:
            nonlocal size, more
            if not more:
                return await receive()
            allowed = self.seconds * (1 + size / self.max_bytes)
            try:
                async with asyncio.timeout(max(0.0, started + allowed - time.monotonic())):
                    message = await receive()
            except TimeoutError as error:
                raise BodyTimeoutError(f"after {allowed:g} s, {size} bytes of the body were there") from error
            size += len(message.get("body", b""))
            if size > streamed.max_bytes:
                raise BodyTooLargeError(f"the body exceeds {streamed.max_bytes} bytes")
            more = message.get("more_body", False)
            return message

        return next_message


class HeadRequests:
    """Answers HEAD as GET is answered, without the body; what would make the rest of the body is ended."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return
        started: asyncio.Future[Message] = asyncio.get_running_loop().create_future()

        async def note(message: Message) -> None:
            if message["type"] == "http.response.start" and not started.done():
                started.set_result(message)
            await asyncio.sleep(0)

        got = {**scope, "method": "GET"}
        answering = asyncio.ensure_future(self.app(got, receive, note))
        try:
            watched: set[asyncio.Future[Any]] = {answering, started}
            await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
            scope["route"] = got.get("route")
            if not started.done():
                answering.result()  # raises what kept it from answering
                return
            await send(started.result())
            await send({"type": "http.response.body", "body": b""})
        finally:
            answering.cancel()
            await asyncio.wait({answering})


def _require_small(headers: Headers, max_bytes: int) -> None:
    declared = headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > max_bytes:
        raise BodyTooLargeError(f"the body has {declared} bytes; at most {max_bytes} are accepted")


def _require_plain(headers: Headers) -> None:
    coding = headers.get("content-encoding", "identity").strip().lower()
    if coding not in ("", "identity"):
        raise MediaTypeUnsupportedError(f"the body comes with Content-Encoding '{coding[:100]}'; send it uncompressed")


def _require_type(content_type: str, wanted: str) -> None:
    message = MimeMessage()
    message["content-type"] = content_type
    found, subtype = message.get_content_type(), message.get_content_subtype()
    is_json = wanted == "application/json" and found.startswith("application/") and subtype.endswith("+json")
    if found != wanted and not is_json:
        named = f"'{content_type[:100]}'" if content_type else "no Content-Type"
        raise MediaTypeUnsupportedError(f"the body comes with {named}; bodies are {wanted}")


def _replay(messages: list[Message], receive: Receive) -> Receive:
    remaining = iter(messages)

    async def next_message() -> Message:
        for message in remaining:
            return message
        return await receive()

    return next_message
