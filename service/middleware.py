"""What happens to every request: an id, a count, a line in the log, and a bound on its body."""

import logging
import re
import time
from collections.abc import MutableMapping
from typing import Any
from uuid import uuid4

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.errors import BodyTooLargeError, kind_of
from service.instrumentation import Instrumentation
from service.problems import REQUEST_ID, problem_response, request_id_of

_ACCEPTED_ID = re.compile(r"[\x21-\x7e]{1,128}")
_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})

access_log = logging.getLogger("service.access")


class Telemetry:
    """Accepts or makes `X-Request-Id`, returns it, counts the request, and logs one line about it."""

    def __init__(self, app: ASGIApp, instrumentation: Instrumentation) -> None:
        self.app = app
        self.instrumentation = instrumentation

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        scope["gigavqa.request_id"] = _request_id(scope)
        answer = _Answer(scope, send, time.perf_counter())
        try:
            await self.app(scope, receive, answer.send)
        finally:
            self._observe(scope, answer)

    def _observe(self, scope: Scope, answer: "_Answer") -> None:
        method, route = scope["method"], _route(scope)
        self.instrumentation.requests.labels(method, route, str(answer.status)).inc()
        self.instrumentation.latency.labels(method, route).observe(answer.seconds)
        access_log.info(
            "%s %s %d %.1f ms request_id=%s",
            method, scope["path"], answer.status, 1000 * answer.seconds, request_id_of(scope),
        )  # fmt: skip


class _Answer:
    """Passes an answer on, notes its status and the seconds to its first byte, and adds the request's id."""

    def __init__(self, scope: Scope, send: Send, started: float) -> None:
        self.status = 500
        self._scope = scope
        self._send = send
        self._started = started
        self._first_byte: float | None = None

    @property
    def seconds(self) -> float:
        """Seconds to the first byte; until now when there was none."""
        return (self._first_byte or time.perf_counter()) - self._started

    async def send(self, message: MutableMapping[str, Any]) -> None:
        """Pass one ASGI message on."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self._first_byte = time.perf_counter()
            MutableHeaders(scope=message)[REQUEST_ID] = request_id_of(self._scope)
        await self._send(message)


class BodyLimit:
    """Reads a body whole, up to `max_bytes`, before the application sees it; refuses a larger one."""

    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        self.app = app
        self.max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http" or scope["method"] not in _WITH_BODY:
            await self.app(scope, receive, send)
            return
        try:
            messages = await self._read(Headers(scope=scope), receive)
        except BodyTooLargeError as error:
            await problem_response(scope, kind_of(error), str(error))(scope, receive, send)
            return
        await self.app(scope, _replay(messages, receive), send)

    async def _read(self, headers: Headers, receive: Receive) -> list[Message]:
        declared = headers.get("content-length", "")
        size = 0
        if declared.isdecimal() and int(declared) > self.max_bytes:
            raise BodyTooLargeError(f"the body has {declared} bytes; at most {self.max_bytes} are accepted")
        messages: list[Message] = []
        while not messages or messages[-1].get("more_body", False):
            messages.append(await receive())
            size += len(messages[-1].get("body", b""))
            if size > self.max_bytes:
                raise BodyTooLargeError(f"the body exceeds {self.max_bytes} bytes")
        return messages


def _replay(messages: list[Message], receive: Receive) -> Receive:
    remaining = iter(messages)

    async def next_message() -> Message:
        for message in remaining:
            return message
        return await receive()

    return next_message


def _request_id(scope: Scope) -> str:
    given = Headers(scope=scope).get(REQUEST_ID, "")
    return given if _ACCEPTED_ID.fullmatch(given) else uuid4().hex


def _route(scope: Scope) -> str:
    # The template, not the path: job ids would make a time series each.
    return str(getattr(scope.get("route"), "path", None) or "unmatched")
