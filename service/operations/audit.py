"""The audit log: one JSON line for each request that would change something, and for each that was refused."""

import json
import logging
import os
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gigavqa.runtime.private_files import open_log
from gigavqa.service.errors import JobOfAnotherError
from gigavqa.service.http.auth import caller_of
from gigavqa.service.http.guard import SAFE_METHODS
from gigavqa.service.http.problems import REFUSED_FOR, request_id_of
from gigavqa.service.operations.instrumentation import GatewayInstrumentation
from gigavqa.service.settings import GatewaySettings
from gigavqa.store.api_keys import redact_keys
from gigavqa.store.listen_settings import requires_keys

_REFUSALS = frozenset(
    {
        HTTPStatus.UNAUTHORIZED,
        HTTPStatus.FORBIDDEN,
        HTTPStatus.MISDIRECTED_REQUEST,
        HTTPStatus.TOO_MANY_REQUESTS,
    }
)
_MOST_CHARACTERS = 200  # decision 0017
_STDERR = "stderr"

log = logging.getLogger(__name__)


class AuditLog:
    """Writes the audit log. A line has the key's public part, never the key, and is one line whatever was sent."""

    def __init__(self, app: ASGIApp, settings: GatewaySettings, instrumentation: GatewayInstrumentation) -> None:
        self.app = app
        self._write = _writer(settings)
        self._failures = instrumentation.audit_failures

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._write is None:
            await self.app(scope, receive, send)
            return
        started: list[Message] = []

        async def note(message: Message) -> None:
            if message["type"] == "http.response.start":
                started.append(message)
            await send(message)

        try:
            await self.app(scope, receive, note)
        finally:
            self._tell(scope, started[0] if started else {"status": 500, "headers": []})

    def _tell(self, scope: Scope, answer: Mapping[str, Any]) -> None:
        reason = scope.get(REFUSED_FOR)
        refused = answer["status"] in _REFUSALS or reason == JobOfAnotherError.__name__
        if self._write is None or (scope["method"] in SAFE_METHODS and not refused):
            return
        # Nothing but ASCII leaves json: no text of a client's ends a line or steers a terminal.
        line = json.dumps(_audit_entry(scope, answer, reason)) + "\n"
        try:
            self._write(line.encode())
        except OSError as error:
            self._failures.inc()
            log.error("the audit log could not be written (%s): %s", error, line.rstrip())


def _audit_entry(scope: Scope, answer: Mapping[str, Any], reason: str | None) -> dict[str, Any]:
    key, route = caller_of(scope).key, getattr(scope.get("route"), "path", None)
    return {
        "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "request_id": request_id_of(scope),
        "client": (scope.get("client") or ("",))[0],
        "key": key.id if key else None,
        "owner": key.owner if key else None,
        "role": key.role if key else None,
        "method": scope["method"][:_MOST_CHARACTERS],
        "route": route,
        "path": redact_keys(scope["path"])[:_MOST_CHARACTERS],
        "made": _created_location(answer),
        "status": int(answer["status"]),
        "refused_for": reason,
    }


def _created_location(answer: Mapping[str, Any]) -> str | None:
    """Return where what was made or found is: a submission's job."""
    location = Headers(raw=list(answer["headers"])).get("location", "")
    return location[:_MOST_CHARACTERS] if location and answer["status"] < HTTPStatus.MULTIPLE_CHOICES else None


def _writer(settings: GatewaySettings) -> Callable[[bytes], object] | None:
    target = settings.audit_log or (_STDERR if requires_keys(settings) else None)
    if target is None:
        return None
    if target == _STDERR:
        return lambda line: os.write(sys.stderr.fileno(), line)
    return _AppendedFile(Path(target).expanduser().absolute()).write


class _AppendedFile:
    """A file that lines are put behind, each whole; it is opened anew for each, so that it may be moved away."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, line: bytes) -> None:
        with open_log(self._path) as file:
            file.write(line)
