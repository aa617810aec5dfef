"""The OpenAPI document: tags, problem documents of every operation, and what routes declare examples with."""

from collections.abc import Sequence
from http import HTTPStatus
from importlib.metadata import version
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel

from gigavqa.contract.errors import KeyInvalidError
from gigavqa.service.errors import (
    BODY_MALFORMED,
    INTERNAL,
    PROBLEM_KINDS,
    REQUEST_INVALID,
    ForeignOriginError,
    HostUntrustedError,
    ProblemKind,
    RateExceededError,
    RoleMissingError,
)
from gigavqa.service.http.examples import JOB_ID
from gigavqa.service.http.openai_errors import OpenAIError, openai_error, openai_status
from gigavqa.service.http.problems import MEDIA_TYPE, ProblemDocument

VERSION = version("gigavqa")
DESCRIPTION = (
    "Inference service for visual question answering over gigapixel images. Submit an evaluation job, follow its "
    "events, read every raw response, and have the report computed from them. Every error is a problem document "
    "(RFC 9457); every answer carries `X-Request-Id`."
)
TAGS = [
    {"name": "jobs", "description": "Evaluation jobs: a data set x models x a plan x repeats."},
    {"name": "results", "description": "Raw responses, progress and reports of a job."},
    {"name": "models", "description": "The catalogue: what can be asked, and who serves it now."},
    {"name": "datasets", "description": "The data sets below the data root."},
    {"name": "openai", "description": "What OpenAI's clients call: chats, files and batches, with OpenAI's errors."},
    {"name": "operations", "description": "Probes and instrumentation."},
]
_SCHEMAS = "#/components/schemas"
_SECURITY = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "A key, where the gateway asks for one: gvq_..."},
    "header": {"type": "apiKey", "in": "header", "name": "X-API-Key", "description": "The same, by another header"},
}
_BODIES: dict[str, type[BaseModel]] = {}

Responses = dict[int | str, dict[str, Any]]


def problem_responses(*errors: type[Exception], body: bool = False) -> Responses:
    """Declare the problems that an operation can end in, besides those that all can; `body` when it reads one."""
    known = [PROBLEM_KINDS[error] for error in (*errors, *_common_errors(errors))]
    kinds = dict.fromkeys([*known, *([BODY_MALFORMED] if body else []), REQUEST_INVALID, INTERNAL])
    by_status: dict[int, list[ProblemKind]] = {}
    for kind in kinds:
        by_status.setdefault(kind.status, []).append(kind)
    return {status: _problem_entry(alike) for status, alike in by_status.items()}


def _common_errors(errors: Sequence[type[Exception]]) -> Sequence[type[Exception]]:
    """Return what every operation can be refused with, and each that changes something."""
    changing = (RoleMissingError,) if ForeignOriginError in errors else ()
    return (*changing, HostUntrustedError, KeyInvalidError, RateExceededError)


def openai_error_responses(*errors: type[Exception], body: bool = False) -> Responses:
    """Declare the same of an operation that OpenAI's clients call: their error objects."""
    known = [PROBLEM_KINDS[error] for error in (*errors, *_common_errors(errors))]
    kinds = dict.fromkeys([*known, *([BODY_MALFORMED] if body else []), REQUEST_INVALID, INTERNAL])
    by_status: dict[int, list[ProblemKind]] = {}
    for kind in kinds:
        by_status.setdefault(openai_status(kind), []).append(kind)
    declared: Responses = {status: _openai_error_entry(alike) for status, alike in by_status.items()}
    return declared | {"default": _openai_error_entry([])}


def example(value: Any, media_type: str = "application/json", description: str = "Success") -> dict[str, Any]:
    """Declare what a successful answer looks like."""
    return {"description": description, "content": {media_type: {"example": value}}}


def json_body(model: type[BaseModel]) -> dict[str, Any]:
    """Declare the body of a route that reads it by itself."""
    _BODIES[model.__name__] = model
    reference = {"$ref": f"{_SCHEMAS}/{model.__name__}"}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": reference}}}}


def install_openapi(app: FastAPI) -> None:
    """Make the application's document the one that also defines problem documents."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app)
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]  # FastAPI's own way to extend the document


def _document(app: FastAPI) -> dict[str, Any]:
    schema = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes, tags=app.openapi_tags
    )
    components = schema.setdefault("components", {})
    components["securitySchemes"] = _SECURITY
    # The last one says that none may be enough: where keys are not asked for.
    schema["security"] = [*({name: []} for name in _SECURITY), {}]
    schemas = components.setdefault("schemas", {})
    problem = ProblemDocument.model_json_schema(ref_template=f"{_SCHEMAS}/{{model}}")
    schemas.update(problem.pop("$defs"), Problem=problem)
    schemas["OpenAIError"] = OpenAIError.model_json_schema(ref_template=f"{_SCHEMAS}/{{model}}")
    schemas.update(schemas["OpenAIError"].pop("$defs"))
    for name, model in _BODIES.items():
        body = model.model_json_schema(ref_template=f"{_SCHEMAS}/{{model}}")
        schemas.update(body.pop("$defs", {}), **{name: body})
    return schema


def _openai_error_entry(kinds: list[ProblemKind]) -> dict[str, Any]:
    examples = {kind.slug: {"summary": kind.title, "value": openai_error(kind, kind.title)} for kind in kinds}
    content: dict[str, Any] = {"schema": {"$ref": f"{_SCHEMAS}/OpenAIError"}}
    return {
        "description": "; or ".join(kind.title for kind in kinds) or "Any other error",
        "content": {"application/json": {**content, "examples": examples} if examples else content},
    }


def _problem_entry(kinds: list[ProblemKind]) -> dict[str, Any]:
    examples = {kind.slug: {"summary": kind.title, "value": _example(kind)} for kind in kinds}
    return {
        "description": "; or ".join(kind.title for kind in kinds),
        "content": {MEDIA_TYPE: {"schema": {"$ref": f"{_SCHEMAS}/Problem"}, "examples": examples}},
    }


def _example(kind: ProblemKind) -> dict[str, Any]:
    problem = ProblemDocument(
        type=kind.type,
        title=kind.title,
        status=HTTPStatus(kind.status),
        detail=kind.title,
        instance=f"/v1/jobs/{JOB_ID}",
        request_id="7d0f2c0e9b6a4a3f8f3f5f6e1c2d3b4a",
    )
    return problem.model_dump(exclude_none=True)
