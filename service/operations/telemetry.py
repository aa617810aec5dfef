"""Telemetry of every request: an id, a count, and a line in the log."""

import logging
import re
import time
from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Receive, Scope, Send

from gigavqa.runtime.logs import log_context
from gigavqa.service.http.auth import caller_of
from gigavqa.service.http.problems import REQUEST_ID, request_id_of
from gigavqa.service.http.request_context import job_of_request
from gigavqa.service.operations.instrumentation import GatewayInstrumentation
from gigavqa.store.api_keys import redact_keys
from gigavqa.store.listen_settings import security_headers

if TYPE_CHECKING:
    from gigavqa.service.operations.traces import RequestTraces

_ACCEPTED_ID = re.compile(r"[\x21-\x7e]{1,128}")
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

access_log = logging.getLogger("service.access")


class Telemetry:
    """Accepts or makes `X-Request-Id`, returns it, counts the request, and logs one line about it.

    With `traces`, there is a span of a request that began a job or a chat.
    """

    def __init__(self, app: ASGIApp, instrumentation: GatewayInstrumentation, traces: "RequestTraces | None") -> None:
        self.app = app
        self.instrumentation = instrumentation
        self.traces = traces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        scope["gigavqa.request_id"] = _request_id(scope)
        answer, began_ns = _ObservedResponse(scope, send, time.perf_counter()), time.time_ns()
        with log_context(request_id=request_id_of(scope)):
            try:
                await self.app(scope, receive, answer.send)
            finally:
                self._observe(scope, answer, began_ns)

    def _observe(self, scope: Scope, answer: "_ObservedResponse", began_ns: int) -> None:
        # Methods are the client's own words: each would make a time series.
        method, route = scope["method"] if scope["method"] in _METHODS else "other", _route(scope)
        self.instrumentation.requests.labels(method, route, str(answer.status)).inc()
        self.instrumentation.latency.labels(method, route).observe(answer.seconds)
        access_log.info(
            "%s %s %d %.1f ms request_id=%s key=%s job=%s",
            method, _printable(scope["path"]), answer.status, 1000 * answer.seconds, request_id_of(scope),
            _key_id(scope), _job_id(scope) or "-", extra={"fields": _log_fields(scope, method, route, answer)},
        )  # fmt: skip
        if self.traces and (job_id := job_of_request(scope)):
            self.traces.tell(scope, job_id, route, answer.status, began_ns)


class _ObservedResponse:
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
            headers = MutableHeaders(scope=message)
            headers[REQUEST_ID] = request_id_of(self._scope)
            headers.update(security_headers(headers))
        await self._send(message)


def _log_fields(scope: Scope, method: str, route: str, answer: _ObservedResponse) -> dict[str, Any]:
    job_id = _job_id(scope)
    return {
        "method": method,
        "route": route,
        "status": answer.status,
        "milliseconds": round(1000 * answer.seconds, 1),
        "key": _key_id(scope),
        **({"job_id": job_id} if job_id else {}),
    }


def _job_id(scope: Scope) -> str:
    # In a path it is what a client wrote, which may be a key.
    return _printable(scope.get("path_params", {}).get("job_id") or job_of_request(scope) or "")


def _key_id(scope: Scope) -> str:
    key = caller_of(scope).key
    return key.id if key else "-"


def _request_id(scope: Scope) -> str:
    given = Headers(scope=scope).get(REQUEST_ID, "")
    return given if _ACCEPTED_ID.fullmatch(given) else uuid4().hex


def _printable(path: str) -> str:
    # A path is decoded, so it can hold line ends and what steers a terminal.
    return redact_keys(path).encode("unicode_escape").decode().replace(" ", "\\x20")


def _route(scope: Scope) -> str:
    # The template, not the path: job ids would make a time series each.
    return str(getattr(scope.get("route"), "path", None) or "unmatched")
