"""Problem documents: every error of the gateway leaves it as `application/problem+json` (RFC 9457)."""

import json
import logging
import math
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field
from redis.exceptions import RedisError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import Scope

from gigavqa.evaluation.errors import DatasetInvalidError
from gigavqa.runtime.plurals import count_noun
from gigavqa.runtime.validation import describe_rule
from gigavqa.service.errors import (
    BODY_MALFORMED,
    INTERNAL,
    MAX_FINDINGS,
    PROBLEM_KINDS,
    REQUEST_INVALID,
    ProblemFinding,
    ProblemKind,
    ServiceError,
    problem_kind,
)
from gigavqa.service.http.absent_paths import advice_on
from gigavqa.service.http.openai_errors import OpenAIErrorResponse, is_openai_path, openai_error, openai_status

MEDIA_TYPE = "application/problem+json"
REQUEST_ID = "X-Request-Id"
REFUSED_FOR = "gigavqa.refused_for"
"""Where a request's scope names the class of the error that it was refused with."""

_CLIENT_LEFT = 499
_MOST_CHARACTERS = 2000
_UNAVAILABLE = HTTPStatus.SERVICE_UNAVAILABLE
_SERVER_RETRY_SECONDS = 5.0

log = logging.getLogger(__name__)


class ProblemDocument(BaseModel):
    """A problem document. `errors` names every single thing that is wrong."""

    model_config = ConfigDict(frozen=True)

    type: str = Field(examples=["urn:gigavqa:problem:job-not-found"])
    title: str
    status: int
    detail: str
    instance: str = Field(description="path of the request")
    request_id: str = Field(description="also in X-Request-Id, and in the log")
    errors: tuple[ProblemFinding, ...] = ()


class ProblemResponse(Response):
    """A problem document as a response."""

    media_type = MEDIA_TYPE


async def _handle_disconnect(request: Request, error: Exception) -> Response:
    """Nobody reads it; the number is nginx's, and tells logs and counters that the client left."""
    return Response(status_code=_CLIENT_LEFT)


def install_handlers(app: FastAPI) -> None:
    """Turn every error that a route can end in into its problem document."""
    for error_class in PROBLEM_KINDS:
        app.add_exception_handler(error_class, _handle_known)
    app.add_exception_handler(RedisError, _handle_known)
    app.add_exception_handler(RequestValidationError, _handle_validation)
    app.add_exception_handler(HTTPException, _handle_http)
    app.add_exception_handler(ClientDisconnect, _handle_disconnect)
    app.add_exception_handler(Exception, _handle_known)


def request_id_of(scope: Scope) -> str:
    """Return the id that the request came with or was given; empty before the telemetry middleware has seen it."""
    return str(scope.get("gigavqa.request_id", ""))


def problem_response(
    scope: Scope,
    kind: ProblemKind,
    detail: str,
    findings: Sequence[ProblemFinding] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Write the problem document of one request; where OpenAI's clients call, their error object instead."""
    request_id = request_id_of(scope)
    if is_openai_path(scope["path"]):
        headers = {**(headers or {}), REQUEST_ID: request_id}
        return OpenAIErrorResponse(_encode(openai_error(kind, detail, findings)), openai_status(kind), headers)
    problem = ProblemDocument(
        type=kind.type,
        title=kind.title,
        status=kind.status,
        detail=detail,
        instance=scope["path"],
        request_id=request_id,
        errors=tuple(findings),
    )
    # A failure of the gateway itself is answered outside the middleware that adds the id to every other answer.
    headers = {**(headers or {}), REQUEST_ID: request_id}
    return ProblemResponse(_encode(problem.model_dump(exclude_none=True)), kind.status, headers)


def _encode(document: Mapping[str, Any]) -> bytes:
    # Half a pair of surrogates, which JSON can smuggle into a text, has no bytes.
    return json.dumps(_truncate(document), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _truncate(said: Any) -> Any:
    """Return the same with every text within a bound.

    Errors repeat what clients wrote, which may be as long as a body.
    """
    if isinstance(said, str):
        return said if len(said) <= _MOST_CHARACTERS else f"{said[:_MOST_CHARACTERS]}..."
    if isinstance(said, Mapping):
        return {name: _truncate(value) for name, value in said.items()}
    return [*map(_truncate, said)] if isinstance(said, list | tuple) else said


def findings_of(error: Exception) -> tuple[ProblemFinding, ...]:
    """Return every single thing that an error names."""
    if isinstance(error, ServiceError):
        return error.findings
    if isinstance(error, DatasetInvalidError):
        return tuple(
            ProblemFinding(detail=problem.message, file=problem.file, line=problem.line, sample=problem.record)
            for problem in error.problems[:MAX_FINDINGS]
        )
    return ()


def error_response(scope: Scope, error: Exception, headers: Mapping[str, str] | None = None) -> Response:
    """Write the problem document of an error by the table; `scope` keeps the error's name, for the audit log."""
    scope[REFUSED_FOR] = type(error).__name__
    kind = problem_kind(error)
    if kind is INTERNAL:
        log.error("request %s failed", request_id_of(scope), exc_info=error)
        detail = f"{type(error).__name__}; look for the request's id in the gateway's log"
        return problem_response(scope, INTERNAL, detail)
    retry_after = getattr(error, "retry_after", _SERVER_RETRY_SECONDS if kind.status == _UNAVAILABLE else None)
    return problem_response(
        scope, kind, _detail(error), findings_of(error), {**(headers or {}), **_retry_headers(kind, retry_after)}
    )


def _retry_headers(kind: ProblemKind, retry_after: float | None) -> dict[str, str]:
    if retry_after is not None:
        return {"Retry-After": str(max(1, math.ceil(retry_after)))}
    # Clients of OpenAI's ask any 503 again, unless they are told that it will not help.
    return {"x-should-retry": "false"} if kind.status == _UNAVAILABLE else {}


async def _handle_known(request: Request, error: Exception) -> Response:
    return error_response(request.scope, error)


def _detail(error: Exception) -> str:
    if not isinstance(error, DatasetInvalidError) or len(error.problems) == 1:
        return str(error)
    listed = "" if len(error.problems) <= MAX_FINDINGS else f"; the first {MAX_FINDINGS} are listed"
    return f"{len(error.problems)} things are wrong with the data set's records{listed}"


async def _handle_validation(request: Request, error: Exception) -> Response:
    items = cast(RequestValidationError, error).errors()
    if items and items[0]["type"] == "json_invalid":
        detail = f"{items[0]['ctx']['error']}, at character {items[0]['loc'][1]}"
        return problem_response(request.scope, BODY_MALFORMED, detail)
    findings = validation_findings(cast(RequestValidationError, error))
    listed = "" if len(items) <= MAX_FINDINGS else f"; the first {MAX_FINDINGS} are listed"
    detail = f"{count_noun(len(items), 'field')} of the request cannot be accepted{listed}"
    return problem_response(request.scope, REQUEST_INVALID, detail, findings)


def validation_findings(error: RequestValidationError) -> list[ProblemFinding]:
    """Return every field that is wrong, up to a bound."""
    return [_finding(item) for item in error.errors()[:MAX_FINDINGS]]


def _finding(item: Mapping[str, Any]) -> ProblemFinding:
    place, *path = item["loc"]
    if place == "body":
        pointer = "#" + "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in path)
        return ProblemFinding(detail=describe_rule(item), pointer=pointer)
    return ProblemFinding(detail=describe_rule(item), parameter=".".join(map(str, path)))


async def _handle_http(request: Request, error: Exception) -> Response:
    http = cast(HTTPException, error)
    status = HTTPStatus(http.status_code)
    kind = ProblemKind(status, status.phrase.lower().replace(" ", "-"), status.phrase)
    kind = BODY_MALFORMED if status is HTTPStatus.BAD_REQUEST else kind  # digits without end, depth without end
    advice = advice_on(request.url.path) if status is HTTPStatus.NOT_FOUND else ""
    detail = f"{request.method} {request.url.path}: {http.detail}{advice and f'; {advice}'}"
    headers = {"Allow": _allowed_methods(request)} if status is HTTPStatus.METHOD_NOT_ALLOWED else http.headers
    return problem_response(request.scope, kind, detail, headers=headers)


def _allowed_methods(request: Request) -> str:
    # The framework names the methods of the first route of a path; a path has a route for each method.
    matching = (route for route in request.app.routes if route.matches(request.scope)[0] is not Match.NONE)
    methods = {method for route in matching for method in getattr(route, "methods", ())}
    return ", ".join(sorted(methods | ({"HEAD"} if "GET" in methods else set())))
